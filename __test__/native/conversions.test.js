'use strict'

// There and back through the addon: every format, both directions, one and many.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { IdGenerator, InvalidIdError, idType } = require('mintid')
const { Registry } = require('../support/registry.js')
const { vectors } = require('../support/vectors.js')

const KEY = '0123456789abcdef0123456789abcdef'
const FORMATS = ['base58', 'url64', 'hex', 'hex32', 'signed', 'unsigned', 'raw']
const NUMBERS = [0n, 1n, 98770186085072901n, 2n ** 63n - 1n, -(2n ** 63n), -1n]
const converter = (options) => new IdGenerator({ coordinator: 'none', ...options })

test('golden values: text and mask never change', (t) => {
  const { base_key: key, lines } = vectors('golden.json')
  const ids = converter({ key })
  t.after(() => ids.close())
  for (const { number, prefix, format, mask, app } of lines) {
    const type = ids.type(prefix, { format, mask, dbFormat: 'unsigned' })
    const numeric = prefix === '' && format.endsWith('signed')
    const id = format === 'raw' ? Buffer.from(app, 'hex') : numeric ? BigInt(app) : app
    assert.deepEqual(type.fromDb(BigInt(number)), id)
    assert.equal(type.toDb(id), BigInt(number))
    assert.equal(type.is(id), true)
    assert.deepEqual(type.parse(id), id)
  }
  assert.equal(lines.length, 140)
})

test('every pair of formats converts there and back, with and without prefix and mask', (t) => {
  const ids = converter({ key: KEY })
  t.after(() => ids.close())
  for (const format of FORMATS) {
    for (const dbFormat of FORMATS) {
      for (const [prefix, mask] of [
        ['', false],
        ['', true],
        ['usr_', false],
        ['usr_', true]
      ]) {
        const persistPrefix = prefix !== '' && !dbFormat.endsWith('signed')
        const type = ids.type(prefix, { format, dbFormat, mask, persistPrefix })
        const numbers = ids.type('', { dbFormat: 'signed', format: 'signed' })
        for (const number of NUMBERS) {
          const db = ids.type(persistPrefix ? prefix : '', { format: dbFormat }).fromDb(numbers.toDb(number))
          const id = type.fromDb(db)
          assert.deepEqual(type.toDb(id), db)
          assert.equal(type.is(id), true)
          assert.deepEqual(type.inspect(id).db, db)
        }
      }
    }
  }
})

test('what is minted is what is converted, for every kind and format', async (t) => {
  const ids = await IdGenerator.connect({ coordinator: new Registry().coordinator, key: KEY })
  t.after(() => ids.close())
  for (const kind of ['counter', 'sortable', 'encrypted']) {
    for (const format of FORMATS) {
      for (const mask of kind === 'encrypted' ? [false] : [false, true]) {
        const type = ids.type('t.', { kind, format, mask, dbFormat: 'unsigned' })
        const { id, db } = type.nextPair()
        assert.deepEqual(type.fromDb(db), id)
        const minted = [
          type.next(),
          type.fromDb(type.nextDb()),
          ...type.nextMany(3),
          ...type.fromDbMany(type.nextManyDb(3))
        ]
        for (const id of minted) assert.equal(type.is(id), true)
        const all = [id, ...minted].map((id) => type.toDb(id))
        assert.equal(new Set(all).size, all.length)
      }
    }
  }
})

test('many at once: typed arrays for bigint columns, arrays for others', async (t) => {
  const ids = await IdGenerator.connect({ machineId: 2, key: KEY })
  t.after(() => ids.close())
  const expected = { signed: BigInt64Array, unsigned: BigUint64Array, raw: Array, hex: Array }
  for (const [dbFormat, List] of Object.entries(expected)) {
    const type = ids.type('usr_', { dbFormat, mask: true })
    const minted = type.nextManyDb(1000)
    assert.ok(minted instanceof List)
    const texts = type.fromDbMany(minted)
    assert.equal(texts.length, 1000)
    assert.deepEqual(
      texts,
      Array.from(minted, (db) => type.fromDb(db))
    )
    assert.deepEqual(type.toDbMany(texts), minted)
    assert.ok(type.toDbMany(texts) instanceof List)
    assert.deepEqual(type.fromDbMany([]), [])
    assert.equal(type.toDbMany([]).length, 0)
  }
  const type = ids.type('')
  const [numbers, big] = [type.nextManyDb(10), type.nextManyDb(10)]
  const view = new BigInt64Array(new SharedArrayBuffer(80))
  view.set(big)
  assert.deepEqual(
    type.fromDbMany(view),
    Array.from(big, (db) => type.fromDb(db))
  )
  const mixed = [numbers[0], String(numbers[1]), Number(numbers[2] % 1000n)]
  assert.deepEqual(
    type.fromDbMany(mixed).map((id) => type.toDb(id)),
    [numbers[0], numbers[1], numbers[2] % 1000n].map(BigInt)
  )
  // A column read as the other kind of bigint is the same number only where both can say it.
  const unsigned = ids.type('', { dbFormat: 'unsigned' })
  assert.deepEqual(unsigned.fromDbMany(numbers), type.fromDbMany(numbers))
  assert.throws(() => unsigned.fromDbMany(BigInt64Array.of(1n, -1n)), { reason: 'range', message: /^item 1\b/ })
  assert.throws(() => type.fromDbMany(BigUint64Array.of(2n ** 63n)), { reason: 'range', message: /^item 0\b/ })
})

test('one bad item among many is named, and nothing is returned', (t) => {
  const ids = converter({ key: KEY })
  t.after(() => ids.close())
  const type = ids.type('usr_', { mask: true })
  const good = type.fromDbMany([1n, 2n, 3n])
  const bad = [
    ['usr_', 'length'],
    [null, 'type'],
    [undefined, 'type'],
    ['ord_11111111111', 'prefix'],
    [5n, 'type'],
    [`${good[0].slice(0, -1)}0`, 'character']
  ]
  for (const [value, reason] of bad) {
    assert.throws(
      () => type.toDbMany([...good, value]),
      (error) => {
        assert.ok(error instanceof InvalidIdError)
        assert.equal(error.reason, reason)
        assert.match(error.message, /^item 3\b/)
        return true
      }
    )
  }
  const withHole = Object.assign([...good], { length: 4 })
  assert.throws(() => type.toDbMany(withHole), { code: 'ERR_MINTID_INVALID_ID', message: /^item 3\b/ })
  assert.throws(() => type.fromDbMany([1n, 2 ** 53]), { reason: 'unsafe number', message: /^item 1\b/ })
  for (const list of ['usr_', { length: 1, 0: good[0] }, new Set(good), null, undefined, 5]) {
    assert.throws(() => type.toDbMany(list), { code: 'ERR_MINTID_CONFIG', option: 'ids' })
    assert.throws(() => type.fromDbMany(list), { code: 'ERR_MINTID_CONFIG', option: 'dbs' })
  }
})

test('fromDb takes what its dbFormat says, and never guesses', () => {
  const signed = idType('')
  assert.equal(signed.fromDb('-1'), signed.fromDb(-1n))
  assert.equal(signed.fromDb(5), signed.fromDb('5'))
  const refused = [
    ['05', 'not canonical'],
    ['+5', 'character'],
    [' 5', 'character'],
    ['-0', 'not canonical'],
    ['', 'length'],
    ['5.0', 'character'],
    ['0x5', 'character'],
    ['9223372036854775808', 'range'],
    [2n ** 63n, 'range'],
    [2 ** 53, 'unsafe number'],
    [1.5, 'unsafe number'],
    [NaN, 'unsafe number'],
    [null, 'type'],
    [undefined, 'type'],
    [true, 'type'],
    [{}, 'type'],
    [[5n], 'type'],
    [Buffer.alloc(8), 'type'],
    [Object(5n), 'type'],
    [new Date(5), 'type']
  ]
  for (const [value, reason] of refused) {
    assert.throws(
      () => signed.fromDb(value),
      (error) => {
        assert.equal(error.code, 'ERR_MINTID_INVALID_ID')
        assert.equal(error.reason, reason, `${typeof value} ${String(value)}: ${error.message}`)
        return true
      }
    )
  }
  const raw = idType('usr_', { dbFormat: 'raw' })
  assert.equal(raw.fromDb(new Uint8Array(8)), 'usr_11111111111')
  for (const value of [Buffer.alloc(7), Buffer.alloc(9), '\0'.repeat(8), 0n, new ArrayBuffer(8), new Uint16Array(4)]) {
    assert.throws(() => raw.fromDb(value), { code: 'ERR_MINTID_INVALID_ID' })
  }
  const hex = idType('usr_', { dbFormat: 'hex' })
  assert.equal(hex.fromDb('0'.repeat(16)), 'usr_11111111111')
  for (const value of ['0'.repeat(15), `${'0'.repeat(15)}A`, 0n, Buffer.alloc(8), 'usr_0000000000000000']) {
    assert.throws(() => hex.fromDb(value), { code: 'ERR_MINTID_INVALID_ID' })
  }
})

test('accepted spellings are read and never written', (t) => {
  const ids = converter({ key: KEY })
  t.after(() => ids.close())
  const type = ids.type('usr_', {
    mask: true,
    accepts: [{ prefix: 'user_', mask: false }, { format: 'hex' }, { prefix: '', format: 'hex32', mask: false }]
  })
  const number = 98770186085072901n
  const own = type.fromDb(number)
  const others = [
    ids.type('user_'),
    ids.type('usr_', { mask: true, format: 'hex' }),
    ids.type('', { format: 'hex32' })
  ].map((other) => other.fromDb(number))
  for (const text of others) {
    assert.deepEqual([type.toDb(text), type.parse(text), type.is(text)], [number, own, false])
    assert.deepEqual(type['~standard'].validate(text), { value: own })
    assert.equal(type.inspect(text).db, number)
  }
  assert.equal(type.is(own), true)
  assert.throws(() => type.toDb(`user_${own.slice(4)}x`), { code: 'ERR_MINTID_INVALID_ID' })
})

test('format spells the same number, masked as it stands', (t) => {
  const ids = converter({ key: KEY })
  t.after(() => ids.close())
  const type = ids.type('usr_', { mask: true })
  const id = type.fromDb(98770186085072901n)
  for (const to of FORMATS) {
    const respelled = type.format(id, to)
    assert.equal(ids.type('usr_', { format: to, mask: true }).toDb(respelled), 98770186085072901n, to)
  }
  for (const to of ['base64', '', undefined, null, 5, {}]) {
    assert.throws(() => type.format(id, to), { code: 'ERR_MINTID_CONFIG', option: 'to' })
  }
  assert.throws(() => type.format('usr_', 'hex'), { code: 'ERR_MINTID_INVALID_ID', reason: 'length' })
})

test('Standard Schema: issues for what is no ID, and the ID for what is', () => {
  const { version, vendor, validate } = idType('usr_')['~standard']
  assert.deepEqual([version, vendor], [1, 'mintid'])
  assert.deepEqual(validate('usr_11111111111'), { value: 'usr_11111111111' })
  for (const value of ['usr_', null, undefined, 5, {}, 'usr_1111111111I']) {
    const { issues, ...rest } = validate(value)
    assert.deepEqual(rest, {})
    assert.equal(issues.length, 1)
    assert.match(issues[0].message, /expected/)
  }
})

test('inspect takes a minted ID apart', async (t) => {
  const ids = await IdGenerator.connect({ machineId: 77, key: KEY })
  t.after(() => ids.close())
  for (const kind of ['counter', 'sortable', 'encrypted']) {
    const type = ids.type('usr_', { kind, mask: kind === 'sortable' })
    const from = Date.now()
    const { id, db } = type.nextPair()
    const parts = type.inspect(id)
    assert.deepEqual(
      { ...parts, timestamp: null, sequence: null },
      {
        kind,
        timestamp: null,
        exact: kind === 'sortable',
        machineId: 77,
        sequence: null,
        partition: 0,
        db
      }
    )
    assert.ok(parts.sequence >= 0 && parts.sequence < 8192)
    assert.ok(parts.timestamp instanceof Date && parts.timestamp <= Date.now() + 1)
    if (kind === 'sortable') assert.ok(parts.timestamp >= from - 1)
  }
})

test('rangeFor cuts by time, half-open, in the format of the column', async (t) => {
  const ids = await IdGenerator.connect({ machineId: 3 })
  t.after(() => ids.close())
  const type = ids.type('evt_', { kind: 'sortable' })
  const db = type.nextDb()
  const { timestamp } = type.inspect(type.fromDb(db))
  const at = timestamp.getTime()
  const inside = ({ gte, lt }) => gte <= db && db < lt
  assert.ok(inside(type.rangeFor({ from: at, to: at + 1 })))
  assert.ok(inside(type.rangeFor({ from: timestamp, to: new Date(at + 1000) })))
  assert.ok(!inside(type.rangeFor({ from: at - 1000, to: at })))
  assert.ok(!inside(type.rangeFor({ from: at + 1, to: at + 1000 })))
  const empty = type.rangeFor({ from: at, to: at })
  assert.equal(empty.gte, empty.lt)
  const raw = ids.type('', { kind: 'sortable', dbFormat: 'raw' }).rangeFor({ from: at, to: at + 1 })
  assert.equal(raw.gte.readBigInt64BE(), type.rangeFor({ from: at, to: at + 1 }).gte)

  // Moments outside the layout are taken to its ends, except where a signed column wraps around in between.
  assert.ok(inside(type.rangeFor({ from: 0, to: at + 1 })))
  assert.deepEqual(type.rangeFor({ from: -(2 ** 52), to: 0 }), { gte: 0n, lt: 0n })
  assert.throws(() => type.rangeFor({ from: at, to: 2 ** 52 }), { code: 'ERR_MINTID_TIME' })
  const unsigned = ids.type('', { kind: 'sortable', dbFormat: 'unsigned' })
  assert.ok(inside(unsigned.rangeFor({ from: at, to: 2 ** 52 })))
  const url64 = ids.type('', { kind: 'sortable', dbFormat: 'url64' })
  assert.throws(() => url64.rangeFor({ from: at, to: at }), { code: 'ERR_MINTID_CONFIG', option: 'dbFormat' })
  for (const [range, option] of [
    [{ from: 1.5, to: at }, 'from'],
    [{ from: at, to: 'now' }, 'to'],
    [{ from: at, to: at - 1 }, 'to'],
    [{ from: new Date(NaN), to: at }, 'from'],
    [{}, 'from'],
    [undefined, 'from'],
    [null, 'from'],
    [{ from: at, to: 5n }, 'to']
  ]) {
    assert.throws(() => type.rangeFor(range), { code: 'ERR_MINTID_CONFIG', option })
  }
  assert.throws(() => ids.type('').rangeFor({ from: at, to: at }), { code: 'ERR_MINTID_CONFIG', option: 'kind' })
})
