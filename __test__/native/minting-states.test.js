'use strict'

// When an ID type mints, and when it refuses to.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const {
  ClosedError,
  IdGenerator,
  LeaseLostError,
  NoKeyError,
  NotReadyError,
  TimeError,
  idType,
  start,
  stop
} = require('mintid')
const { reacquired } = require('../support/events.js')
const { Registry } = require('../support/registry.js')

const KEY = '0123456789abcdef0123456789abcdef'
const MINTING = [
  ['next', (type) => type.next()],
  ['nextDb', (type) => type.nextDb()],
  ['nextPair', (type) => type.nextPair()],
  ['nextMany', (type) => type.nextMany(3)],
  ['nextManyDb', (type) => type.nextManyDb(3)]
]

function assertMintsNothing(type, expected) {
  for (const [name, mint] of MINTING) assert.throws(() => mint(type), expected, name)
}

function assertMints(type) {
  for (const [, mint] of MINTING) mint(type)
}

test('nothing is minted before the first lease, while one is lost, and after close', async (t) => {
  const ids = new IdGenerator({ coordinator: new Registry().coordinator, key: KEY })
  t.after(() => ids.close())
  const types = [
    ids.type('usr_', { mask: true }),
    ids.type('', { kind: 'sortable', dbFormat: 'raw' }),
    ids.type('enc.', { kind: 'encrypted', format: 'hex' })
  ]
  for (const type of types) assertMintsNothing(type, (error) => error instanceof NotReadyError)
  const pending = ids.ready()
  for (const type of types) assertMintsNothing(type, { code: 'ERR_MINTID_NOT_READY', statusCode: 503 })
  await pending
  const { machineId } = ids
  for (const type of types) assertMints(type)

  ids.once('leaseLost', () => {
    const expected = { code: 'ERR_MINTID_LEASE_LOST', machineId, reason: 'relinquished', statusCode: 503 }
    for (const type of types) {
      assertMintsNothing(type, expected)
      assert.throws(
        () => type.next(),
        (error) => error instanceof LeaseLostError
      )
    }
  })
  ids.relinquish('to see what happens')
  await reacquired(ids)
  for (const type of types) assertMints(type)

  const closing = ids.close()
  for (const type of types) assertMintsNothing(type, { code: 'ERR_MINTID_CLOSED' })
  await closing
  for (const type of types) assertMintsNothing(type, (error) => error instanceof ClosedError)
})

test('converting needs no lease: before the first, while one is lost, after close', async (t) => {
  const ids = new IdGenerator({ coordinator: new Registry().coordinator, key: KEY })
  t.after(() => ids.close())
  const type = ids.type('usr_', { mask: true })
  const id = type.fromDb(98770186085072901n)
  const assertConverts = () => {
    assert.equal(type.toDb(id), 98770186085072901n)
    assert.equal(type.is(id), true)
    assert.equal(type.inspect(id).db, 98770186085072901n)
  }
  assertConverts()
  await ids.ready()
  assertConverts()
  ids.once('leaseLost', assertConverts)
  ids.relinquish()
  await reacquired(ids)
  await ids.close()
  assertConverts()
  assert.throws(() => type.toDb('usr_'), { code: 'ERR_MINTID_INVALID_ID', reason: 'length' })
})

test("a process with the coordinator 'none' converts only, and is ready for that at once", async (t) => {
  const ids = new IdGenerator({ coordinator: 'none', key: KEY })
  t.after(() => ids.close())
  const type = ids.type('usr_', { mask: true })
  await ids.ready()
  assert.deepEqual([ids.machineId, ids.lease], [null, null])
  assert.equal(type.toDb(type.fromDb(5n)), 5n)
  assertMintsNothing(type, { code: 'ERR_MINTID_NOT_READY', message: /'none'/ })
})

test('a mask and an encrypted kind need a key, at their first use', (t) => {
  const ids = new IdGenerator({ coordinator: 'none' })
  t.after(() => ids.close())
  const accepting = { accepts: [{ prefix: 'old_', mask: true }] }
  for (const options of [{ mask: true }, { kind: 'encrypted' }, { kind: 'sortable', mask: true }, accepting]) {
    const type = ids.type('usr_', options)
    const uses = [
      () => type.next(),
      () => type.toDb('usr_11111111111'),
      () => type.fromDb(5n),
      () => type.is('x'),
      () => type.safeParse('x'),
      () => type.nextManyDb(2)
    ]
    for (const use of uses) {
      assert.throws(use, (error) => error instanceof NoKeyError && error.code === 'ERR_MINTID_NO_KEY')
      assert.throws(use, { bits: 64 })
    }
  }
  assert.equal(ids.type('usr_').fromDb(5n), 'usr_11111111116')
})

test('a key has at least 32 bytes; a text counts as UTF-8; the message shows the size alone', () => {
  const short = ['secret', 'k'.repeat(31), 'ä'.repeat(15), Buffer.alloc(31, 'x'), new Uint8Array(0)]
  for (const key of short) {
    const bytes = Buffer.from(key).length
    const message = new RegExp(`^key: expected at least 32 bytes, found ${bytes}\\b(?!.*(?:secret|kkk|xxx|ä))`)
    assert.throws(() => new IdGenerator({ coordinator: 'none', key }), {
      code: 'ERR_MINTID_CONFIG',
      option: 'key',
      message
    })
  }
  for (const key of ['', undefined, null, 7, {}, ['k'], new Uint16Array(32), Symbol('key')]) {
    assert.throws(() => new IdGenerator({ coordinator: 'none', key }), { code: 'ERR_MINTID_CONFIG', option: 'key' })
  }
  for (const key of ['ä'.repeat(16), Buffer.alloc(32), new Uint8Array(1000)])
    new IdGenerator({ coordinator: 'none', key })
})

test('text and bytes are the same key, and one that was wiped afterwards still is', (t) => {
  const bytes = Buffer.from(KEY)
  const [one, other] = [KEY, bytes].map((key) => new IdGenerator({ coordinator: 'none', key }))
  t.after(() => Promise.all([one.close(), other.close()]))
  bytes.fill(0)
  const [masked, same] = [one, other].map((ids) => ids.type('', { mask: true }).fromDb(5n))
  assert.equal(masked, same)
})

test('a type without a generator of its own asks the default one, and there may be none', async () => {
  const userId = idType('usr_')
  assertMintsNothing(userId, { code: 'ERR_MINTID_NOT_READY', message: /start\(/ })
  assert.equal(userId.fromDb(5n), 'usr_11111111116')
  await start({ coordinator: new Registry().coordinator })
  assertMints(userId)
  await stop()
  assertMintsNothing(userId, { code: 'ERR_MINTID_CLOSED' })
  assert.equal(userId.toDb('usr_11111111116'), 5n)
})

const MACHINE = {
  coordinator: () => ({ coordinator: new Registry().coordinator }),
  machineId: () => ({ machineId: 1 })
}

for (const [name, source] of Object.entries(MACHINE)) {
  test(`${name}: no lease where the clock is before the layout's epoch or past its end`, async () => {
    const outside = [
      { epoch: Date.now() + 3_600_000 },
      { time: 32, epoch: Date.now() - 2 ** 32 },
      { time: 32, epoch: 0 }
    ]
    for (const layout of outside) {
      const ids = new IdGenerator({ ...source(), layout })
      const isTime = (error) => error instanceof TimeError && error.code === 'ERR_MINTID_TIME'
      await assert.rejects(ids.ready(), isTime, JSON.stringify(layout))
      assertMintsNothing(ids.type(''), { code: 'ERR_MINTID_NOT_READY' })
      await ids.close()
    }
  })

  for (const kind of ['counter', 'sortable']) {
    test(`${name}, ${kind}: when the layout ends, minting ends, and nothing starts again from zero`, async (t) => {
      const left = 1000
      const layout = { time: 32, machine: 9, sequence: 13, epoch: Date.now() + left - 2 ** 32 }
      const ids = new IdGenerator({ ...source(), layout })
      t.after(() => ids.close())
      await ids.ready()
      const type = ids.type('', { kind, dbFormat: 'unsigned' })
      let last = 0n
      const untilTheEnd = (n) => {
        for (;;) {
          const numbers = type.nextManyDb(n)
          assert.ok(numbers[0] > last)
          last = numbers[n - 1]
        }
      }
      // All or nothing: where a thousand find no room, a few may.
      for (const n of [1000, 1]) assert.throws(() => untilTheEnd(n), { code: 'ERR_MINTID_TIME' })
      assertMintsNothing(type, { code: 'ERR_MINTID_TIME' })
      const { timestamp } = type.inspect(type.fromDb(last))
      const before = layout.epoch + 2 ** 32 - timestamp.getTime()
      assert.ok(before > 0 && before < left, `the last one came ${before} ms before the end`)
    })
  }
}

test('how many is 1 to a million', async (t) => {
  const ids = new IdGenerator({ coordinator: new Registry().coordinator })
  t.after(() => ids.close())
  await ids.ready()
  const type = ids.type('')
  for (const n of [0, -1, 1.5, NaN, Infinity, 1_000_001, 2 ** 32 + 1, '5', 5n, null, undefined, [5], {}]) {
    for (const method of ['nextMany', 'nextManyDb']) {
      assert.throws(() => type[method](n), { code: 'ERR_MINTID_CONFIG', option: 'n' })
    }
  }
  assert.equal(type.nextMany(1).length, 1)
  assert.equal(type.nextManyDb(1_000_000).length, 1_000_000)
})
