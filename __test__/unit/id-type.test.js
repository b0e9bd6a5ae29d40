'use strict'

const assert = require('node:assert/strict')
const { afterEach, test } = require('node:test')

const { IdGenerator, idType, ...errors } = require('../../index.js')
const native = require('../../js/native.js').backend
const { slot } = require('../../js/shared.js')
const { fakeBackend } = require('./fake-backend.js')

const { ClosedError, ConfigError, InvalidIdError, LeaseLostError, NotReadyError } = errors

/** A generator over a fake backend that holds a lease. */
function leased(options) {
  const fake = fakeBackend()
  const ids = new IdGenerator({ coordinator: 'local', ...options }, fake.backend)
  const userId = ids.type('usr_', { accepts: [{ prefix: 'user_' }] })
  userId.toDb('usr_00000000000')
  const [handle] = fake.handles
  handle.grant()
  return { fake, ids, handle, userId }
}

const invalid = (reason) => (error) => error instanceof InvalidIdError && error.reason === reason
const config = (option) => (error) => error instanceof ConfigError && error.option === option

afterEach(() => {
  slot.generator = null
})

test('mints and converts', () => {
  const { userId } = leased()
  assert.equal(userId.next(), 'usr_00000000001')
  assert.equal(userId.nextDb(), 2n)
  assert.deepEqual(userId.nextPair(), { id: 'usr_00000000003', db: 3n })
  assert.equal(userId.toDb('usr_00000000009'), 9n)
  assert.equal(userId.fromDb(9n), 'usr_00000000009')
  assert.deepEqual(userId.toDbMany(['usr_00000000001', 'user_00000000002']), [1n, 2n])
  assert.deepEqual(userId.fromDbMany([1n, 2n]), ['usr_00000000001', 'usr_00000000002'])
  assert.deepEqual(userId.fromDbMany(new BigInt64Array(1)), ['usr_00000000000'])
  assert.equal(userId.format('usr_00000000001', 'hex'), 'hex:usr_00000000001')
  assert.deepEqual([userId.prefix, userId.kind], ['usr_', 'counter'])
})

test('mints many, or none', () => {
  const { userId } = leased()
  assert.equal(new Set(userId.nextMany(1000)).size, 1000)
  assert.equal(userId.nextManyDb(1).length, 1)
  for (const n of [0, -1, 1.5, NaN, 1_000_001, '10', undefined, null, 10n]) {
    assert.throws(() => userId.nextMany(n), config('n'))
    assert.throws(() => userId.nextManyDb(n), config('n'))
  }
})

test('lists must be lists', () => {
  const { userId } = leased()
  for (const bad of ['usr_00000000001', undefined, null, { length: 1 }]) {
    assert.throws(() => userId.toDbMany(bad), config('ids'))
    assert.throws(() => userId.fromDbMany(bad), config('dbs'))
  }
  assert.throws(() => userId.fromDbMany(new Uint8Array(8)), config('dbs'))
  assert.throws(() => userId.toDbMany(['usr_00000000001', 'usr_']), invalid('length'))
})

test('reading gives the canonical ID', () => {
  const { userId } = leased()
  assert.equal(userId.is('usr_00000000001'), true)
  assert.equal(userId.is('user_00000000001'), false)
  assert.equal(userId.parse('user_00000000001'), 'usr_00000000001')
  assert.deepEqual(userId.safeParse('user_00000000001'), { success: true, id: 'usr_00000000001' })

  const refused = userId.safeParse('ord_00000000001')
  assert.equal(refused.success, false)
  assert.ok(refused.error instanceof InvalidIdError)
  assert.equal(refused.error.expected, 'usr_00000000000')
  for (const value of [undefined, null, 1, 1n, {}]) assert.throws(() => userId.parse(value), invalid('type'))
  assert.throws(() => userId.toDb('ord_1'), invalid('prefix'))
  assert.throws(() => userId.fromDb('1'), invalid('type'))
})

test('errors begin at the caller', () => {
  const { userId } = leased()
  for (const method of ['toDb', 'fromDb', 'parse', 'inspect']) {
    assert.throws(
      () => userId[method](null),
      (error) => /^.*\n\s+at .*id-type\.test\.js/.test(error.stack)
    )
  }
})

test('inspect gives a Date', () => {
  const { userId } = leased()
  const parts = { kind: 'counter', exact: false, machineId: 7, sequence: 5, partition: 0, db: 5n }
  assert.deepEqual(userId.inspect('usr_00000000005'), { ...parts, timestamp: new Date(0) })
  assert.throws(() => userId.inspect('usr_'), invalid('length'))
})

test('ranges take Dates and milliseconds, on sortable types only', () => {
  const { ids, userId } = leased()
  const eventId = ids.type('evt_', { kind: 'sortable' })
  assert.deepEqual(eventId.rangeFor({ from: new Date(5), to: 9 }), { gte: 5n, lt: 9n })
  assert.deepEqual(eventId.rangeFor({ from: 5, to: 5 }), { gte: 5n, lt: 5n })
  assert.throws(() => eventId.rangeFor(), config('from'))
  assert.throws(() => eventId.rangeFor({ from: '2025-01-01', to: 9 }), config('from'))
  assert.throws(() => eventId.rangeFor({ from: 0, to: new Date(NaN) }), config('to'))
  assert.throws(() => eventId.rangeFor({ from: 0, to: Infinity }), config('to'))
  assert.throws(() => eventId.rangeFor({ from: 9, to: 8 }), config('to'))
  assert.throws(() => userId.rangeFor({ from: 0, to: 1 }), config('kind'))
})

test('formats are known ones', () => {
  const { userId } = leased()
  assert.throws(() => userId.format('usr_00000000001', 'base64'), config('to'))
  assert.throws(() => userId.format('usr_', 'hex'), invalid('length'))
})

test('is a Standard Schema', () => {
  const { '~standard': standard } = leased().userId
  assert.equal(standard.version, 1)
  assert.equal(standard.vendor, 'mintid')
  assert.deepEqual(standard.validate('user_00000000001'), { value: 'usr_00000000001' })
  assert.deepEqual(standard.validate(5), { issues: [{ message: 'not an ID: type' }] })
})

test('what the value cannot be blamed for is thrown, not returned', () => {
  const { fake, ids } = leased()
  fake.failBind = { failure: true, code: 'ERR_MINTID_NO_KEY', message: 'no key', bits: 64 }
  const masked = ids.type('usr_', { mask: true })
  const noKey = { code: 'ERR_MINTID_NO_KEY', bits: 64 }
  assert.throws(() => masked.safeParse('usr_00000000001'), noKey)
  assert.throws(() => masked['~standard'].validate('usr_00000000001'), noKey)
  assert.throws(() => masked.is('usr_00000000001'), noKey)
})

test('without a generator plain types convert, and nothing mints', (t) => {
  const fake = fakeBackend()
  t.mock.method(native, 'bind', fake.backend.bind)
  t.mock.method(native, 'takeFailure', fake.backend.takeFailure)
  const userId = idType('usr_')
  assert.equal(userId.toDb('usr_00000000005'), 5n)
  assert.throws(() => userId.toDb('usr_'), invalid('length'))
  for (const mint of ['next', 'nextDb', 'nextPair', 'nextMany', 'nextManyDb']) {
    assert.throws(() => userId[mint](2), { code: NotReadyError.code, message: /await start\(/ })
  }
})

test('without a generator types that need a key say what to do', () => {
  const needKey = [{ mask: true }, { kind: 'encrypted' }, { accepts: [{ prefix: 'user_', mask: true }] }]
  for (const options of needKey) {
    assert.throws(() => idType('usr_', options).toDb('usr_00000000005'), NotReadyError)
  }
})

test('follows the default generator when it changes', () => {
  const userId = idType('usr_')
  const one = leased()
  const other = leased()
  slot.generator = one.ids
  assert.equal(userId.next(), 'usr_00000000001')
  assert.equal(userId.next(), 'usr_00000000002')
  slot.generator = other.ids
  assert.equal(userId.next(), 'usr_00000000001')
  slot.generator = one.ids
  assert.equal(userId.next(), 'usr_00000000001')
})

test('a type of a generator ignores the default', () => {
  const own = leased()
  const bound = idType('usr_', { generator: own.ids })
  slot.generator = leased().ids
  bound.next()
  assert.equal(own.fake.specs.length, 2)
})

test('mints again after a loss, never after close, and converts all along', async () => {
  const { ids, handle, userId } = leased()
  handle.held = null
  assert.throws(
    () => userId.next(),
    (error) => error instanceof LeaseLostError && error.machineId === 7
  )
  assert.throws(() => userId.nextMany(2), LeaseLostError)
  handle.grant()
  userId.next()
  await ids.close()
  assert.throws(() => userId.next(), ClosedError)
  assert.equal(userId.fromDb(5n), 'usr_00000000005')
})
