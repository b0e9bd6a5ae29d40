'use strict'

// The formats that the originals do not have, and texts without padding, as golden lines keep them.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { IdGenerator, idType, InvalidIdError } = require('mintid')
const { fakeIds } = require('mintid/testing')
const { Registry } = require('../support/registry.js')
const { vectors } = require('../support/vectors.js')

const golden = vectors('golden_formats.json')

for (const [name, make] of [
  ['native', () => new IdGenerator({ coordinator: 'none' })],
  ['fake', () => fakeIds()]
]) {
  test(`${name}: golden texts of 64 bits`, (t) => {
    const ids = make()
    t.after(() => ids.close())
    const lines = golden.lines.filter(({ bits }) => bits === 64)
    for (const { number, format, pad, app } of lines) {
      const type = ids.type('', { format, pad, dbFormat: 'unsigned' })
      assert.equal(type.fromDb(BigInt(number)), app)
      assert.equal(type.toDb(app), BigInt(number))
    }
    assert.equal(lines.length, 25)
  })
}

test('what has no padding is of many lengths, and still one text an ID', async (t) => {
  const ids = await IdGenerator.connect({ coordinator: new Registry().coordinator })
  t.after(() => ids.close())
  for (const format of ['base58', 'base62', 'decimal']) {
    const type = ids.type('s_', { format, pad: false })
    const zero = type.fromDb(0n)
    assert.equal(zero.length, 3)
    assert.equal(type.toDb(zero), 0n)
    assert.throws(
      () => type.toDb(`s_${zero.at(-1)}${type.fromDb(5n).at(-1)}`),
      (error) => error.reason === 'not canonical'
    )
    assert.throws(
      () => type.toDb('s_'),
      (error) => error instanceof InvalidIdError && error.reason === 'length'
    )
    const many = [type.next(), ...type.nextMany(1000), type.nextPair().id]
    assert.deepEqual(type.fromDbMany(type.toDbMany(many)), many)
    assert.equal(new Set(many).size, 1002)
    const both = ids.type('s_', { format, accepts: [{ format, pad: false }] })
    assert.equal(both.parse(zero), both.fromDb(0n))
    assert.equal(both.toDb(type.fromDb(-1n)), -1n)
  }
})

test('decimal is text of 20 digits, in blocks too, in the application and in the database', async (t) => {
  const ids = await IdGenerator.connect({ coordinator: new Registry().coordinator })
  t.after(() => ids.close())
  const type = ids.type('', { format: 'decimal', dbFormat: 'unsigned' })
  const many = [...Array.from({ length: 700 }, () => type.next()), ...type.nextMany(700)]
  assert.deepEqual(
    [...many].sort(),
    many.toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))
  )
  for (const id of many) assert.match(id, /^\d{20}$/)
  assert.deepEqual(type.fromDbMany(type.toDbMany(many)), many)
  assert.throws(
    () => type.toDb(5n),
    (error) => error.reason === 'type'
  )
  const column = ids.type('d_', { dbFormat: 'decimal', persistPrefix: true })
  const { id, db } = column.nextPair()
  assert.match(db, /^d_\d{20}$/)
  assert.equal(column.fromDb(db), id)
})

test('plain types convert without a generator in every format', () => {
  assert.equal(idType('', { format: 'base62' }).fromDb(-1n), 'LygHa16AHYF')
  assert.equal(idType('', { format: 'base62', pad: false }).fromDb(61n), 'z')
})

test('ranges by time need a column that sorts', (t) => {
  const ids = fakeIds()
  t.after(() => ids.close())
  const sorted = ids.type('', { kind: 'sortable', dbFormat: 'decimal' })
  const { gte, lt } = sorted.rangeFor({ from: new Date('2026-01-01'), to: new Date('2026-02-01') })
  assert.ok(gte < lt && gte.length === 20)
})
