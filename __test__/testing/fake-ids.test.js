'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { afterEach, beforeEach, test } = require('node:test')
const { IdGenerator, idType, stop } = require('../../index.js')
const { fakeIds, TEST_KEY, TEST_NOW } = require('../../js/testing.js')

// As an application declares them: when its modules are loaded, without a generator.
const userId = idType('usr_', { mask: true })
const eventId = idType('evt_', { kind: 'sortable', format: 'hex' })
const tokenId = idType('tok_', { kind: 'encrypted', format: 'url64', dbFormat: 'raw' })

let ids
beforeEach(() => {
  ids = fakeIds()
})
afterEach(() => ids.close())

/** Users' snapshots hold texts like these: they may never change. */
test('the first IDs are these, for ever', () => {
  assert.deepEqual([userId.next(), userId.next()], ['usr_BhiD6ngqovE', 'usr_SsxPVhBUA8z'])
  assert.deepEqual([eventId.next(), eventId.next()], ['evt_01d5ec4b00002000', 'evt_01d5ec4b00002001'])
  assert.deepEqual(tokenId.nextMany(2), ['tok_P_uFxCe-GNc', 'tok_mre3k4uiQus'])
  assert.equal(fakeIds({ seed: 'a' }).machineId, 401)
  assert.equal(TEST_KEY, 'mintid/testing: everybody knows this key')
  assert.equal(new Date(TEST_NOW).toISOString(), '2026-01-01T00:00:00.000Z')
})

test('the same calls give the same IDs', () => {
  const calls = () => [userId.nextMany(10_000), eventId.nextManyDb(10_000), tokenId.nextPair(), userId.next()]
  const first = calls()
  assert.equal(new Set(first[0]).size, 10_000)
  assert.equal(new Set(first[1]).size, 10_000)
  ids.reset()
  assert.deepEqual(calls(), first)
  fakeIds()
  assert.deepEqual(calls(), first)
  fakeIds({ seed: 2 })
  const second = calls()
  assert.equal(new Set([...first[0], ...second[0]]).size, 20_000)
})

test('a seed is a machine ID, never the highest one', () => {
  const machineIds = [0, 7, 510, 511, 512].map((seed) => fakeIds({ seed }).machineId)
  assert.deepEqual(machineIds, [0, 7, 510, 0, 1])
  assert.equal(fakeIds({ seed: 3, layout: { machine: 1 } }).machineId, 0)
  assert.equal(fakeIds({ seed: 'worker 1' }).machineId, fakeIds({ seed: 'worker 1' }).machineId)
})

test('it is an IdGenerator that holds a lease', async () => {
  assert.ok(ids instanceof IdGenerator)
  assert.deepEqual(ids.lease, { machineId: 1, acquiredAt: new Date(TEST_NOW), expiresAt: null })
  await ids.ready()
  assert.match(ids.type('own_').next(), /^own_.{11}$/)
})

test('IDs carry the moment that now gives', () => {
  let now = Date.UTC(2030, 0, 1)
  fakeIds({ now: () => new Date(now) })
  const made = () => [userId, eventId, tokenId].map((type) => type.inspect(type.next()).timestamp.toISOString())
  assert.deepEqual(made(), Array(3).fill('2030-01-01T00:00:00.000Z'))
  now += 1000
  assert.deepEqual(made(), ['2030-01-01T00:00:00.000Z', '2030-01-01T00:00:01.000Z', '2030-01-01T00:00:00.000Z'])
  now -= 5000
  assert.equal(made()[1], '2030-01-01T00:00:01.000Z')

  fakeIds({ now: new Date('2031-02-03T04:05:06.789Z') })
  assert.deepEqual(made(), Array(3).fill('2031-02-03T04:05:06.789Z'))
})

test('rangeFor finds what was made in it', () => {
  const { gte, lt } = eventId.rangeFor({ from: TEST_NOW, to: TEST_NOW + 1 })
  const db = eventId.nextDb()
  assert.ok(gte <= db && db < lt)
  assert.ok(eventId.rangeFor({ from: TEST_NOW + 1, to: TEST_NOW + 2 }).gte > db)
})

test('a lost lease ends minting and nothing else, until it is regained', () => {
  const events = []
  for (const name of ['leaseLost', 'leaseAcquired']) ids.on(name, (event) => events.push({ name, ...event }))
  const before = userId.next()

  ids.loseLease()
  ids.loseLease('rejected')
  assert.equal(ids.lease, null)
  const error = { code: 'ERR_MINTID_LEASE_LOST', machineId: 1, reason: 'expired', statusCode: 503 }
  assert.throws(() => userId.next(), error)
  assert.throws(() => eventId.nextDb(), error)
  assert.throws(() => tokenId.nextMany(2), error)
  assert.throws(() => userId.nextManyDb(2), error)
  assert.equal(userId.fromDb(userId.toDb(before)), before)

  ids.regainLease()
  ids.regainLease()
  const after = userId.next()
  assert.ok(userId.toDb(after) > userId.toDb(before))
  const at = new Date(TEST_NOW)
  assert.deepEqual(events, [
    { name: 'leaseLost', at, machineId: 1, reason: 'expired' },
    { name: 'leaseAcquired', at, machineId: 1, durationMs: 0, source: 'reacquire' }
  ])
})

test('IDs after a loss differ from those before, of every kind', () => {
  for (const type of [userId, eventId, tokenId]) {
    const minted = type.nextMany(9000)
    for (let loss = 0; loss < 3; loss++) {
      ids.relinquish()
      minted.push(...type.nextMany(9000))
    }
    assert.equal(new Set(minted).size, 36_000)
  }
})

test('ready() waits for the lease to come back', async () => {
  ids.on('leaseLost', () => {})
  ids.loseLease()
  let isReady = false
  const ready = ids.ready({ acquireTimeoutMs: Infinity }).then(() => {
    isReady = true
  })
  await assert.rejects(ids.ready({ acquireTimeoutMs: 1 }), { code: 'ERR_MINTID_ACQUIRE_TIMEOUT' })
  assert.equal(isReady, false)
  ids.regainLease()
  await ready
  assert.match(userId.next(), /^usr_/)
})

test('a pending ready() gives up with its signal, and when the generator is closed', async () => {
  ids.on('leaseLost', () => {})
  ids.loseLease()
  const controller = new AbortController()
  const aborted = ids.ready({ signal: controller.signal })
  controller.abort(new Error('enough'))
  await assert.rejects(aborted, { message: 'enough' })
  const closed = ids.ready()
  await ids.close()
  await assert.rejects(closed, { code: 'ERR_MINTID_CLOSED' })
})

test('a loss that nobody listens to is a process warning', async () => {
  ids.loseLease()
  const [warning] = await once(process, 'warning')
  assert.equal(warning.code, 'MINTID_LEASE_LOST')
})

test('after close() types still convert', async () => {
  const id = userId.next()
  const released = once(ids, 'leaseReleased')
  await ids.close()
  await released
  assert.equal(userId.fromDb(userId.toDb(id)), id)
  assert.throws(() => userId.next(), { code: 'ERR_MINTID_CLOSED' })
  ids.regainLease()
  ids.reset()
  assert.throws(() => userId.next(), { code: 'ERR_MINTID_CLOSED' })
})

test('stop() ends it, and the next one takes its place', async () => {
  await stop()
  assert.throws(() => userId.next(), { code: 'ERR_MINTID_CLOSED' })
  fakeIds()
  assert.equal(userId.next(), 'usr_BhiD6ngqovE')
})

test('generators with the same key and layout read the same IDs', () => {
  const options = { key: Buffer.alloc(32, 7), layout: { time: 41, machine: 10, sequence: 12, epoch: '2020-01-01' } }
  const id = fakeIds(options).type('usr_', { mask: true }).next()
  const parts = fakeIds({ ...options, seed: 5 })
    .type('usr_', { mask: true })
    .inspect(id)
  assert.deepEqual(parts.timestamp, new Date(TEST_NOW))
  assert.equal(parts.machineId, 1)
  assert.equal(parts.db, (BigInt(TEST_NOW - Date.UTC(2020, 0, 1)) << 22n) | (1n << 12n))
  assert.notEqual(fakeIds().type('usr_', { mask: true }).toDb(id), parts.db, 'another key, another number')
})

test('at the end of the layout there are no more IDs', () => {
  fakeIds({ now: Date.UTC(2025, 0, 1) + 2 ** 42 - 2 })
  assert.equal(eventId.nextMany(8192).length, 8192)
  assert.throws(() => eventId.next(), { code: 'ERR_MINTID_TIME' })
  assert.throws(() => eventId.nextMany(1), { code: 'ERR_MINTID_TIME' })
})

for (const [options, expected] of [
  [{ seed: -1 }, { code: 'ERR_MINTID_CONFIG', option: 'seed' }],
  [{ seed: 1.5 }, { code: 'ERR_MINTID_CONFIG', option: 'seed' }],
  [{ seed: null }, { code: 'ERR_MINTID_CONFIG', option: 'seed' }],
  [{ seed: undefined }, { code: 'ERR_MINTID_CONFIG', option: 'seed' }],
  [{ now: new Date(NaN) }, { code: 'ERR_MINTID_CONFIG', option: 'now' }],
  [{ now: '2026-01-01' }, { code: 'ERR_MINTID_CONFIG', option: 'now' }],
  [{ now: () => null }, { code: 'ERR_MINTID_CONFIG', option: 'now' }],
  [{ now: Date.UTC(2024, 0, 1) }, { code: 'ERR_MINTID_CONFIG', option: 'now', message: /from 1735689600000 to/ }],
  [{ now: Date.UTC(2200, 0, 1) }, { code: 'ERR_MINTID_CONFIG', option: 'now', message: /to 6133736111102 ms since/ }],
  [{ key: 'short' }, { code: 'ERR_MINTID_CONFIG', option: 'key' }],
  [{ layout: { time: 1 } }, { code: 'ERR_MINTID_CONFIG', option: 'layout.time' }],
  [
    { sede: 1 },
    {
      code: 'ERR_MINTID_CONFIG',
      option: 'sede',
      message: /known are seed, now, key, keys, cipherKeys, ciphers, layout/
    }
  ],
  [7, { code: 'ERR_MINTID_CONFIG' }]
]) {
  const shown = JSON.stringify(options, (_, value) => (typeof value === 'function' ? 'a function' : value))
  test(`refused: ${shown}`, () => {
    assert.throws(() => fakeIds(options), expected)
    assert.equal(userId.inspect(userId.next()).machineId, 1, 'the default is what it was')
  })
}

test('a time that leaves the layout later is refused then', () => {
  let now = TEST_NOW
  const drifting = fakeIds({ now: () => now })
  now = 0
  drifting.on('leaseLost', () => {})
  assert.throws(() => eventId.next(), { code: 'ERR_MINTID_CONFIG', option: 'now' })
  assert.throws(() => drifting.reset(), { code: 'ERR_MINTID_CONFIG', option: 'now' })
})

test('lists say which item is none', () => {
  const [id] = userId.nextMany(1)
  assert.throws(() => userId.toDbMany([id, 'usr_1']), { code: 'ERR_MINTID_INVALID_ID', message: /^item 1: not an ID/ })
  assert.throws(() => userId.fromDbMany([1n, 2n, null]), { code: 'ERR_MINTID_INVALID_ID', message: /^item 2: not a/ })
})

test('an unknown reason is refused', () => {
  assert.throws(() => ids.loseLease('bored'), { code: 'ERR_MINTID_CONFIG', option: 'reason' })
  assert.notEqual(ids.lease, null)
})
