'use strict'

const crypto = require('node:crypto')
const { createRequire } = require('node:module')
const path = require('node:path')
const { pathToFileURL } = require('node:url')

/** What people use today, called as their READMEs say. `scope` makes what `call` names of the `package`. */
const PEERS = [
  { name: 'crypto.randomUUID', call: 'crypto.randomUUID()', scope: () => ({ crypto }) },
  { name: 'crypto.randomUUIDv7', call: 'randomUUIDv7()', scope: randomUUIDv7 },
  { name: 'nanoid', package: 'nanoid', call: 'nanoid()', scope: ({ nanoid }) => ({ nanoid }) },
  { name: 'hyperid', package: 'hyperid', call: 'hyperid()', scope: (hyperid) => ({ hyperid: hyperid() }) },
  { name: 'uuid v4', package: 'uuid', call: 'v4()', scope: ({ v4 }) => ({ v4 }) },
  { name: 'uuid v7', package: 'uuid', call: 'v7()', scope: ({ v7 }) => ({ v7 }) },
  { name: 'uuidv7', package: 'uuidv7', call: 'uuidv7()', scope: ({ uuidv7 }) => ({ uuidv7 }) },
  { name: '@napi-rs/uuid v4', package: '@napi-rs/uuid', call: 'v4()', scope: ({ v4 }) => ({ v4 }) },
  {
    name: 'typeid-js',
    package: 'typeid-js',
    call: `typeidUnboxed('usr')`,
    scope: ({ typeidUnboxed }) => ({ typeidUnboxed })
  },
  {
    name: 'ulid, monotonic',
    package: 'ulid',
    call: 'ulid()',
    scope: ({ monotonicFactory }) => ({ ulid: monotonicFactory() })
  },
  {
    name: '@sapphire/snowflake',
    package: '@sapphire/snowflake',
    gives: 'bigint',
    call: 'snowflake.generate()',
    scope: ({ Snowflake }) => ({ snowflake: new Snowflake(new Date('2025-01-01')) })
  },
  {
    name: 'nodejs-snowflake',
    package: 'nodejs-snowflake',
    gives: 'bigint',
    call: 'snowflake.getUniqueID()',
    scope: ({ Snowflake }) => ({ snowflake: new Snowflake() })
  }
]

/**
 * @param {string} directory from where the packages are looked for
 * @returns {Promise<{ contenders: object[], missing: { name: string, reason: string }[] }>} contenders as `measure`
 * takes them, and what could not be loaded
 */
async function peers(directory) {
  const contenders = []
  const missing = []
  for (const peer of PEERS) {
    const { name, gives = 'text', call, scope } = peer
    try {
      const made = scope(peer.package === undefined ? undefined : await load(peer.package, directory))
      if (Object.values(made).includes(undefined)) throw new Error('another version than the one that is known here')
      contenders.push({ name, gives, call, scope: made })
    } catch (error) {
      missing.push({ name, reason: error.message.split('\n')[0].slice(0, 80) })
    }
  }
  return { contenders, missing }
}

/** A package as the files of a directory see it, whether it is written in CommonJS or not. */
async function load(name, directory) {
  const file = createRequire(path.join(directory, 'here.js')).resolve(name)
  const module = await import(pathToFileURL(file).href)
  return module.default ?? module
}

function randomUUIDv7() {
  if (crypto.randomUUIDv7 === undefined) throw new Error('not in this version of the runtime')
  return { randomUUIDv7: crypto.randomUUIDv7 }
}

module.exports = { peers }
