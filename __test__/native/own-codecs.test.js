'use strict'

// Codecs of the application's own, through native code and through the fake: both must say the same.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { ConfigError, IdGenerator, InvalidIdError } = require('mintid')
const { fakeIds, TEST_KEY } = require('mintid/testing')
const { Registry } = require('../support/registry.js')

const base36 = {
  encode: (number) => number.toString(36),
  decode: (text) =>
    /^[0-9a-z]{1,13}$/.test(text) ? [...text].reduce((sum, c) => sum * 36n + BigInt(parseInt(c, 36)), 0n) : undefined
}
/** Throws for what it does not know, as most do. */
const words = { encode: (number) => `w${number}`, decode: (text) => BigInt(text.slice(1)) }

const invalid = (reason) => (error) => error instanceof InvalidIdError && error.reason === reason
const config = (option) => (error) => error instanceof ConfigError && error.option === option

const GENERATORS = {
  native: () => IdGenerator.connect({ coordinator: new Registry().coordinator, key: TEST_KEY }),
  fake: () => fakeIds()
}

for (const [name, make] of Object.entries(GENERATORS)) {
  test(`${name}: IDs are what the codec writes`, async (t) => {
    const ids = await make()
    t.after(() => ids.close())
    for (const [prefix, options] of [
      ['', {}],
      ['usr_', {}],
      ['usr_', { mask: true }],
      ['usr_', { kind: 'encrypted', dbFormat: 'unsigned' }],
      ['usr_', { kind: 'sortable', dbFormat: 'hex', persistPrefix: true }]
    ]) {
      const type = ids.type(prefix, { format: base36, ...options })
      const numbers = ids.type('', { ...options, persistPrefix: false, format: 'unsigned' })
      const plain = (db) => numbers.fromDb(options.persistPrefix ? db.slice(prefix.length) : db)
      const { id, db } = type.nextPair()
      assert.equal(id, prefix + plain(db).toString(36))
      assert.deepEqual([type.toDb(id), type.fromDb(db), type.is(id), type.parse(id)], [db, id, true, id])
      const many = type.nextMany(100)
      assert.equal(new Set([...many, id]).size, 101)
      assert.deepEqual(type.fromDbMany(type.toDbMany(many)), many)
      assert.equal(type.fromDb(type.nextDb()).startsWith(prefix), true)
      assert.equal(type.fromDbMany(type.nextManyDb(3)).length, 3)
      assert.deepEqual(type.inspect(id).db, db)
      const hex = plain(db).toString(16).padStart(16, '0')
      assert.equal(type.format(id, 'hex'), prefix + hex)
      assert.equal(type.format(id, 'unsigned'), prefix === '' ? plain(db) : prefix + plain(db))
      assert.deepEqual(type.safeParse(id), { success: true, id })
    }
  })

  test(`${name}: one text an ID, and nothing else is read`, async (t) => {
    const ids = await make()
    t.after(() => ids.close())
    const type = ids.type('usr_', { format: base36, accepts: [{ prefix: 'old_', format: 'hex' }] })
    const bare = ids.type('', { format: base36 })
    for (const [value, reason] of [
      ['usr_', 'character'],
      ['usr_05', 'not canonical'],
      ['usr_A', 'character'],
      ['usr_zzzzzzzzzzzzz', 'range'],
      ['ord_5', 'prefix'],
      ['old_5', 'length'],
      ['5', 'prefix'],
      [5n, 'type'],
      [5, 'type'],
      [Buffer.alloc(8), 'type'],
      [null, 'type']
    ]) {
      assert.throws(() => type.toDb(value), invalid(reason), String(value))
      assert.throws(
        () => type.toDbMany(['usr_5', value]),
        (error) => invalid(reason)(error) && /^item 1: not/.test(error.message)
      )
      assert.equal(type.is(value), false)
    }
    const expected = '"usr_" followed by a text of its own codec, or "old_" followed by hex'
    for (const value of ['usr_A', 'ord_5']) assert.equal(type.safeParse(value).error.expected, expected)
    assert.throws(() => type.toDbMany(['usr_5', 'old_5']), /^InvalidIdError: item 1: .*"old_5"$/)
    for (const value of [5n, 5, '']) assert.throws(() => bare.toDb(value), InvalidIdError)
    assert.equal(bare.toDb('5'), 5n)
    assert.throws(() => type.fromDb('x'), InvalidIdError)
    assert.throws(() => type.format('usr_A', 'hex'), invalid('character'))
  })

  test(`${name}: what had a codec is accepted, and what has one accepts others`, async (t) => {
    const ids = await make()
    t.after(() => ids.close())
    const accepts = [
      { prefix: 'w_', format: words, mask: true, cipher: 'aes' },
      { prefix: 'h_', format: 'hex', mask: false },
      { prefix: 'b_', mask: false }
    ]
    const now = ids.type('usr_', { format: base36, mask: true, accepts })
    const other = ids.type('usr_', { mask: true, accepts: accepts.slice(0, 2) })
    const old = ids.type('w_', { format: words, mask: true, cipher: 'aes' })
    const db = 98770186085072901n
    for (const type of [now, other]) {
      assert.equal(type.toDb(old.fromDb(db)), db)
      assert.equal(type.parse(old.fromDb(db)), type.fromDb(db))
      assert.equal(type.is(old.fromDb(db)), false)
      assert.equal(type.toDb('h_00000000000000ff'), 255n)
      assert.deepEqual(type.toDbMany([type.fromDb(1n), old.fromDb(2n)]), new BigInt64Array([1n, 2n]))
      assert.throws(() => type.toDb('w_wx'), invalid('character'))
      assert.throws(() => type.toDb('w_w05'), invalid('not canonical'))
    }
    assert.equal(now.toDb('b_zz'), 1295n)
    assert.match(other.next(), /^usr_[1-9A-HJ-NP-Za-km-z]{11}$/)
    assert.equal(other.nextMany(300).length, 300)
  })

  test(`${name}: a codec that writes no text is told so`, async (t) => {
    const ids = await make()
    t.after(() => ids.close())
    for (const encode of [() => 5, () => '', () => 'x'.repeat(257), () => undefined]) {
      const type = ids.type('', { format: { encode, decode: () => 5n } })
      assert.throws(() => type.fromDb(5n), config('format.encode'))
      assert.throws(() => type.next(), config('format.encode'))
    }
  })
}
