'use strict'

// Every combination of bits, kind, cipher, format, dbFormat, prefix and layout that is accepted, through a real column of
// PostgreSQL and back; what is refused names an option.

const assert = require('node:assert/strict')
const { Buffer } = require('node:buffer')
const { test } = require('node:test')
const { ConfigError, IdGenerator } = require('mintid')
const { Registry } = require('../support/registry.js')
const { sql, temporarySchema } = require('../support/psql.js')

const EACH = 3
const FORMATS = ['base58', 'url64', 'hex', 'hex32', 'base62', 'decimal', 'signed', 'unsigned', 'raw']
const KINDS = [
  { kind: 'counter' },
  { kind: 'sortable' },
  { kind: 'encrypted' },
  { kind: 'encrypted', base: 'sortable' }
]
const PARTITIONED = { partition: 3, time: 41, machine: 9, sequence: 10 }
const MASKS = [{}, ...['speck', 'aes', 'blowfish', 'des3'].map((cipher) => ({ mask: true, cipher }))]
const PREFIXES = [
  ['', {}],
  ['usr_', {}],
  ['usr_', { persistPrefix: true }]
]

/** What a column of each dbFormat is, how its values are written for COPY, and how node-postgres reads them. */
const COLUMNS = {
  signed: { type: 'bigint', write: String, read: String },
  unsigned: { type: 'numeric(20)', write: String, read: String },
  raw: {
    type: 'bytea',
    write: (bytes) => `\\\\x${bytes.toString('hex')}`,
    read: (text) => Buffer.from(text.slice(2), 'hex')
  }
}
const TEXT = { type: 'text collate "C"', write: String, read: String }

function* combinations() {
  for (const bits of [64, 96, 128]) {
    for (const kind of KINDS) {
      for (const mask of kind.kind === 'encrypted' ? MASKS.slice(1).map(({ cipher }) => ({ cipher })) : MASKS) {
        for (const format of FORMATS) {
          for (const dbFormat of FORMATS) {
            for (const [prefix, persist] of PREFIXES) {
              for (const layout of bits === 64 ? [{}, { layout: PARTITIONED }] : [{}]) {
                yield { prefix, options: { bits, ...kind, ...mask, format, dbFormat, ...persist, ...layout } }
              }
            }
          }
        }
      }
    }
  }
}

test('every accepted combination round-trips through a real column', async (t) => {
  const ids = await IdGenerator.connect({ coordinator: new Registry().coordinator, key: 'k'.repeat(32) })
  t.after(() => ids.close())
  const schema = temporarySchema(t)
  const accepted = { signed: [], unsigned: [], raw: [], text: [] }
  let refused = 0
  for (const { prefix, options } of combinations()) {
    let type
    try {
      type = ids.type(prefix, options)
    } catch (error) {
      assert.ok(error instanceof ConfigError && error.option, `${JSON.stringify(options)}: ${error}`)
      refused += 1
      continue
    }
    const column = accepted[options.dbFormat] ?? accepted.text
    // `signed` and `unsigned` are texts where a prefix is kept.
    const kept = options.persistPrefix && column !== accepted.raw ? accepted.text : column
    for (const id of type.nextMany(EACH)) kept.push({ type, id, options })
  }
  assert.ok(refused > 1000, `${refused} refused`)
  let count = 0
  for (const [name, rows] of Object.entries(accepted)) {
    assert.ok(rows.length > 1000, `${rows.length} for ${name}`)
    count += rows.length
    roundTrip(schema, name, rows)
  }
  t.diagnostic(`${count} IDs of ${count / EACH} combinations; ${refused} combinations refused`)
})

function roundTrip(schema, name, rows) {
  const { type, write, read } = COLUMNS[name] ?? TEXT
  const lines = rows.map(({ type: idType, id }, n) => `${n}\t${write(idType.toDb(id))}`)
  const back = sql(`create table ${schema}.${name} (n integer, id ${type});
copy ${schema}.${name} from stdin;
${lines.join('\n')}
\\.
select id from ${schema}.${name} order by n;`)
  assert.equal(back.length, rows.length)
  for (const [n, { type: idType, id, options }] of rows.entries()) {
    const [value] = back[n]
    const found = idType.fromDb(read(value))
    const same = Buffer.isBuffer(id) ? id.equals(found) : id === found
    assert.ok(same, `${JSON.stringify(options)}: ${String(id)} became ${value}, and then ${String(found)}`)
  }
}
