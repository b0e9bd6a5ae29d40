'use strict'

const process = require('node:process')
const { NoKeyError } = require('../errors.js')
const { ciphersOf } = require('../options/cipher.js')
const { IdGenerator } = require('../id-generator.js')
const { LENGTHS } = require('./formats.js')
const { table } = require('./help.js')
const { layoutFlags, layoutOf, present } = require('./layout.js')

const DECIMALS = { signed: /-?[0-9]+$/, unsigned: /[0-9]+$/ }
const CIPHERS = ciphersOf(64)
const FORMATS = [...Object.keys(LENGTHS), ...Object.keys(DECIMALS)]

/** Clocks of different machines may differ by this much. */
const A_DAY_MS = 86_400_000

const IN_FUTURE = 'made in the future: is it masked (--mask), or encrypted (--kind encrypted), or of another key?'

module.exports = {
  summary: 'show what an ID is made of',
  usage: 'inspect <id> [flags]',
  about: `Shows kind, time, machine ID, sequence and database number of an ID. Any well-formed ID can be taken apart:
nothing in it proves that it was ever minted. --mask and --kind encrypted need the key in MINTID_KEY; from .env:

  node --env-file=.env node_modules/mintid/js/cli/main.js inspect <id> --mask

A negative number needs two dashes before it: mintid inspect --format signed -- -5`,
  words: ['id'],
  flags: {
    prefix: { type: 'string', value: 'text', about: 'the prefix; by default what stands before the number' },
    mask: { type: 'boolean', about: 'the ID is masked' },
    cipher: { type: 'string', value: 'name', choices: CIPHERS, about: 'what it is masked or encrypted with' },
    format: { type: 'string', value: 'name', choices: FORMATS, about: 'spelling' },
    kind: { type: 'string', value: 'kind', choices: ['counter', 'sortable', 'encrypted'], about: 'how it was counted' },
    base: { type: 'string', value: 'kind', choices: ['counter', 'sortable'], about: 'what kind encrypted encrypted' },
    ...layoutFlags
  },

  run(flags, [id]) {
    const { format = 'base58', prefix = prefixOf(id, format), kind, base, mask, cipher } = flags
    const key = mask || kind === 'encrypted' ? keyFromEnvironment() : undefined
    const ids = new IdGenerator(present({ coordinator: 'none', key, layout: layoutOf(flags) }))
    const parts = ids.type(prefix, present({ format, kind, base, mask, cipher })).inspect(id)
    const isInFuture = parts.timestamp.getTime() > Date.now() + A_DAY_MS
    return {
      json: { id, prefix, ...parts, db: String(parts.db) },
      lines: [describe(prefix, parts)],
      warnings: isInFuture ? [IN_FUTURE] : []
    }
  }
}

function describe(prefix, { kind, timestamp, exact, machineId, sequence, db }) {
  const moment = timestamp.toISOString()
  return table([
    ['prefix', prefix || '(none)'],
    ['kind', kind],
    ['made', exact ? moment : `at or after ${moment} (about when its lease began)`],
    ['machine ID', machineId],
    ['sequence', sequence],
    ['database', db]
  ])
}

/** What stands before the number, if it could be a prefix. */
function prefixOf(id, format) {
  const prefix = format in DECIMALS ? id.replace(DECIMALS[format], '') : id.slice(0, -LENGTHS[format])
  return /^[\w.~-]{0,64}$/.test(prefix) ? prefix : ''
}

function keyFromEnvironment() {
  const key = process.env.MINTID_KEY
  if (key) return key
  throw new NoKeyError('MINTID_KEY is not set; see mintid inspect --help for how to take it from .env', { bits: 64 })
}
