'use strict'

const crypto = require('node:crypto')

/** What people use today, called as their READMEs say. */
const PEERS = [
  { name: 'crypto.randomUUID', call: 'crypto.randomUUID()', load: () => ({ crypto }) },
  { name: 'crypto.randomUUIDv7', call: 'randomUUIDv7()', load: randomUUIDv7 },
  { name: 'nanoid', call: 'nanoid()', load: () => pick('nanoid', 'nanoid') },
  { name: 'hyperid', call: 'hyperid()', load: () => ({ hyperid: require('hyperid')() }) },
  { name: 'uuid v4', call: 'v4()', load: () => pick('uuid', 'v4') },
  { name: 'uuid v7', call: 'v7()', load: () => pick('uuid', 'v7') },
  { name: 'uuidv7', call: 'uuidv7()', load: () => pick('uuidv7', 'uuidv7') },
  { name: '@napi-rs/uuid v4', call: 'v4()', load: () => pick('@napi-rs/uuid', 'v4') },
  { name: 'typeid-js', call: `typeidUnboxed('usr')`, load: () => pick('typeid-js', 'typeidUnboxed') },
  {
    name: 'ulid, monotonic',
    call: 'ulid()',
    load: async () => ({ ulid: (await import('ulid')).monotonicFactory() })
  },
  {
    name: '@sapphire/snowflake',
    gives: 'bigint',
    call: 'snowflake.generate()',
    load: () => ({ snowflake: new (require('@sapphire/snowflake').Snowflake)(new Date('2025-01-01')) })
  },
  {
    name: 'nodejs-snowflake',
    gives: 'bigint',
    call: 'snowflake.getUniqueID()',
    load: () => ({ snowflake: new (require('nodejs-snowflake').Snowflake)() })
  }
]

/**
 * @returns {Promise<{ contenders: object[], missing: { name: string, reason: string }[] }>} contenders as `measure`
 * takes them, and what this runtime could not load
 */
async function peers() {
  const contenders = []
  const missing = []
  for (const { name, gives = 'text', call, load } of PEERS) {
    try {
      contenders.push({ name, gives, call, scope: await load() })
    } catch (error) {
      missing.push({ name, reason: error.message.split('\n')[0].slice(0, 80) })
    }
  }
  return { contenders, missing }
}

async function pick(name, member) {
  return { [member]: (await import(name))[member] }
}

function randomUUIDv7() {
  if (crypto.randomUUIDv7 === undefined) throw new Error('not in this version of the runtime')
  return { randomUUIDv7: crypto.randomUUIDv7 }
}

module.exports = { peers }
