'use strict'

const assert = require('node:assert/strict')
const { after, test } = require('node:test')
const { fakeIds } = require('../../js/testing.js')
const { untagged, vectors } = require('../support/vectors.js')

const { values, load, parse, prefixed } = vectors('04_once_formats.json')
const ORIGINAL = ['url64', 'hex', 'hex32', 'raw', 'signed', 'unsigned']
const ids = fakeIds()
after(() => ids.close())

test('every value of the vectors has its six spellings, there and back', () => {
  for (const value of values) {
    const number = BigInt(value.signed)
    for (const format of ORIGINAL) {
      const type = ids.type('', { format })
      const app = appOf(value, format)
      assert.deepEqual(type.fromDb(number), app)
      assert.equal(type.toDb(app), number)
      assert.equal(type.is(app), true)
    }
  }
  assert.equal(values.length, 168)
})

function appOf(value, format) {
  if (format === 'raw') return Buffer.from(value.raw_hex, 'hex')
  return format.endsWith('signed') ? BigInt(value[format]) : value[format]
}

test('base58 spells every value in 11 characters that sort like the number', () => {
  const type = ids.type('', { dbFormat: 'unsigned' })
  const numbers = values.map(({ unsigned }) => BigInt(unsigned)).sort((a, b) => (a < b ? -1 : 1))
  const texts = numbers.map((number) => type.fromDb(number))
  assert.deepEqual(texts, [...texts].sort())
  for (const [index, text] of texts.entries()) {
    assert.match(text, /^[1-9A-HJ-NP-Za-km-z]{11}$/)
    assert.equal(type.toDb(text), numbers[index])
  }
  assert.equal(texts.at(-1), 'jpXCZedGfVQ')
  assert.throws(() => type.toDb('jpXCZedGfVR'), { code: 'ERR_MINTID_INVALID_ID', reason: 'range' })
})

test('database values of every format load as in the vectors', () => {
  let loaded = 0
  for (const { db, db_format: dbFormat, prefix, persist_prefix: persistPrefix, app } of load) {
    // To show a number, the original guesses by shape whether the database holds one; here dbFormat says what it holds.
    const formats = db[0] === 'i' ? ORIGINAL : ORIGINAL.filter((format) => !format.endsWith('signed'))
    for (const format of formats) {
      const type = ids.type(prefix ?? '', { format, dbFormat, persistPrefix })
      const expected = untagged(app[format].slice(1))
      assert.deepEqual(type.fromDb(untagged(db)), expected)
      assert.deepEqual(type.toDb(expected), untagged(db))
      loaded++
    }
  }
  assert.equal(loaded, 378)
})

for (const [name, entries, counts] of [
  ['parse', parse, [56, 826]],
  ['prefixed', prefixed, [10, 248]]
]) {
  test(`${name}: every text is refused, or is the canonical one of the number that the original reads`, () => {
    const found = { accepted: 0, refused: 0 }
    for (const entry of entries) {
      const input = untagged(entry.in)
      for (const format of ORIGINAL) {
        const type = ids.type(entry.prefix ?? '', { format })
        const result = type.safeParse(input)
        found[result.success ? 'accepted' : 'refused']++
        if (!result.success) continue
        assert.deepEqual(entry.dump_signed[format], ['ok', 'i', String(type.toDb(input))], `${format} ${String(input)}`)
        assert.deepEqual(type.fromDb(type.toDb(input)), typeof result.id === typeof input ? input : BigInt(input))
      }
    }
    assert.deepEqual([found.accepted, found.refused], counts)
  })
}
