'use strict'

const assert = require('node:assert/strict')
const { test } = require('node:test')

const { ConflictError, CoordinatorError, IdGenerator } = require('../../index.js')
const { fakeIds } = require('../../js/testing.js')
const { fakeBackend } = require('./fake-backend.js')

const AT = Date.UTC(2026, 0, 1)
const NONE = { acquired: 0, renewed: 0, retries: 0, lost: 0, released: 0, conflicts: 0, overflows: 0, warnings: 0 }
const NO_LEASE = { machineId: null, expiresInMs: null }
const failure = {
  failure: true,
  code: 'ERR_MINTID_COORDINATOR',
  message: 'postgres://db.internal: no answer',
  serverCode: '57P01'
}

/** A generator whose native side is in the test's hands. */
function generator(options = { coordinator: 'postgres://db.internal/app' }) {
  const fake = fakeBackend()
  const ids = new IdGenerator(options, fake.backend)
  return {
    ids,
    handle: () => fake.handles[0],
    emit: (type, fields) => fake.handles[0].onEvent({ type, at: AT, machineId: 7, ...fields })
  }
}

/** The same, once it holds a lease that ends in `leftMs`. */
async function holding(leftMs = 60_000) {
  const made = generator()
  const ready = made.ids.ready()
  made.handle().grant()
  made.handle().held.expiresAt = Date.now() + leftMs
  made.emit('leaseAcquired', { durationMs: 12, source: 'initial' })
  await ready
  return made
}

function retry(emit, operation, attempt, error = failure) {
  emit('leaseRetry', { operation, attempt, delayMs: 100, error })
}

test('before anything happened', () => {
  const { ids } = generator()
  assert.deepEqual(ids.stats(), {
    state: 'idle',
    machineId: null,
    lease: null,
    ...NONE,
    lastOperation: null,
    lastError: null
  })
  const reason = 'no lease was asked for: ready() was not called'
  assert.deepEqual(ids.health(), { status: 'unavailable', reason, ...NO_LEASE })
})

test('while the first lease is asked for', async () => {
  const { ids, handle, emit } = generator()
  const ready = ids.ready()
  assert.equal(ids.stats().state, 'acquiring')
  assert.deepEqual(ids.health(), { status: 'unavailable', reason: 'asking for the first lease', ...NO_LEASE })
  retry(emit, 'acquire', 1)
  assert.match(ids.health().reason, /^asking .*; acquire failed once: ERR_MINTID_COORDINATOR \(57P01\)$/)
  retry(emit, 'acquire', 2)
  const { state, retries, lastError } = ids.stats()
  assert.deepEqual({ state, retries }, { state: 'acquiring', retries: 2 })
  assert.ok(lastError instanceof CoordinatorError)
  assert.match(ids.health().reason, /failed 2 times in a row/)
  const reset = { ...failure, code: 'ERR_MINTID_REGISTRY_RESET', serverCode: undefined, notBefore: AT }
  retry(emit, 'acquire', 3, reset)
  assert.match(ids.health().reason, /: ERR_MINTID_REGISTRY_RESET until 2026-01-01T00:00:00\.000Z$/)
  handle().settle({ failure: true, code: 'ERR_MINTID_ACQUIRE_TIMEOUT', message: 'gave up', attempts: 3 })
  await assert.rejects(ready)
  assert.equal(ids.stats().state, 'acquiring')
  assert.equal(ids.stats().lastError.code, 'ERR_MINTID_REGISTRY_RESET')
})

test('no lease to be had ends the asking', async () => {
  const { ids, handle } = generator()
  const ready = ids.ready()
  handle().settle({ ...failure, serverCode: '28P01' })
  await assert.rejects(ready, (error) => error === ids.stats().lastError)
  assert.equal(ids.stats().state, 'idle')
  assert.equal(ids.health().reason, 'no lease could be had: ERR_MINTID_COORDINATOR (28P01)')
  const again = ids.ready()
  assert.equal(ids.stats().state, 'acquiring')
  handle().grant()
  await again
  assert.equal(ids.stats().state, 'held')
})

test('while a lease is held', async () => {
  const { ids, emit } = await holding(60_000)
  const { lease, lastOperation, ...rest } = ids.stats()
  assert.deepEqual(rest, { state: 'held', machineId: 7, ...NONE, acquired: 1, lastError: null })
  assert.deepEqual(lease, ids.lease)
  assert.deepEqual(lastOperation, { operation: 'acquire', at: new Date(AT), durationMs: 12 })
  const { expiresInMs, ...health } = ids.health()
  assert.deepEqual(health, { status: 'ok', reason: 'machine ID 7 is leased', machineId: 7 })
  assert.ok(expiresInMs > 50_000 && expiresInMs <= 60_000)
  emit('leaseRenewed', { durationMs: 3, source: 'scheduled' })
  emit('warning', { code: 'MACHINE_IDS_RUNNING_OUT', message: 'half' })
  const { renewed, warnings, lastOperation: latest } = ids.stats()
  assert.deepEqual([renewed, warnings, latest.operation, latest.durationMs], [1, 1, 'renew', 3])
})

test('renewals that fail degrade, until one succeeds; the last error stays', async () => {
  const { ids, emit } = await holding()
  retry(emit, 'renew', 1)
  retry(emit, 'renew', 2)
  emit('warning', { code: 'OTHER', message: 'unrelated' })
  const { status, reason, machineId } = ids.health()
  assert.deepEqual([status, machineId], ['degraded', 7])
  assert.equal(reason, 'machine ID 7 is leased; renew failed 2 times in a row: ERR_MINTID_COORDINATOR (57P01)')
  assert.doesNotMatch(reason, /internal/)
  emit('leaseRenewed', { durationMs: 3, source: 'reconnect' })
  assert.equal(ids.health().status, 'ok')
  assert.equal(ids.stats().lastError.serverCode, '57P01')
})

test('the time left is the native one where it is told, and never negative', async () => {
  const { ids, handle } = await holding(-5000)
  assert.equal(ids.health().expiresInMs, 0)
  handle().held.expiresInMs = 4321
  assert.equal(ids.health().expiresInMs, 4321)
  handle().held.expiresAt = null
  assert.equal(ids.health().expiresInMs, null)
})

test('a loss, also one that this thread has not heard of, and the next lease', async () => {
  const { ids, handle, emit } = await holding()
  retry(emit, 'renew', 1)
  handle().held = null
  assert.equal(ids.stats().state, 'lost')
  emit('leaseLost', { reason: 'expired' })
  const { state, lost, machineId, lease } = ids.stats()
  assert.deepEqual({ state, lost, machineId, lease }, { state: 'lost', lost: 1, machineId: null, lease: null })
  const reason = 'the lease was lost (expired); asking for another one'
  assert.deepEqual(ids.health(), { status: 'unavailable', reason, ...NO_LEASE })
  retry(emit, 'acquire', 1)
  assert.match(ids.health().reason, /another one; acquire failed once/)
  handle().grant(8)
  emit('leaseAcquired', { machineId: 8, durationMs: 5, source: 'reacquire' })
  assert.equal(ids.health().reason, 'machine ID 8 is leased')
  assert.equal(ids.stats().acquired, 2)
  handle().held = null
  assert.equal(ids.health().reason, 'the lease was lost; asking for another one')
})

test('while another process holds the guarded machine ID, before the first lease and after a loss', async () => {
  const { ids, handle, emit } = generator({ machineId: 7, guard: 'postgres://db.internal/app' })
  ids.on('conflict', () => {})
  ids.on('leaseLost', () => {})
  const taken = { failure: true, code: 'ERR_MINTID_CONFLICT', message: 'taken', machineId: 7 }
  const ready = ids.ready()
  emit('conflict')
  retry(emit, 'acquire', 1, taken)
  assert.deepEqual([ids.stats().state, ids.stats().conflicts, ids.stats().machineId], ['conflict', 1, null])
  const held = 'machine ID 7 is held by another process; asking for it again'
  const reason = `${held}; acquire failed once: ERR_MINTID_CONFLICT`
  assert.deepEqual(ids.health(), { status: 'unavailable', reason, ...NO_LEASE })
  handle().settle(taken)
  await assert.rejects(ready, (error) => error instanceof ConflictError && error.machineId === 7)
  assert.equal(ids.stats().state, 'conflict')
  handle().grant()
  emit('leaseAcquired', { durationMs: 5, source: 'initial' })
  assert.deepEqual([ids.stats().state, ids.health().status], ['held', 'ok'])
  handle().held = null
  emit('leaseLost', { reason: 'conflict' })
  assert.equal(ids.health().reason, 'the lease was lost (conflict); asking for another one')
  emit('conflict')
  assert.deepEqual([ids.stats().state, ids.stats().conflicts, ids.health().reason], ['conflict', 2, held])
  await ids.close()
  assert.equal(ids.stats().state, 'closed')
})

test('after close', async () => {
  const { ids, emit } = await holding()
  const closed = ids.close()
  assert.equal(ids.stats().state, 'closed')
  emit('leaseReleased', { durationMs: 2, source: 'shutdown' })
  await closed
  const { state, machineId, released, lastOperation } = ids.stats()
  assert.deepEqual({ state, machineId, released }, { state: 'closed', machineId: null, released: 1 })
  assert.equal(lastOperation.operation, 'release')
  assert.deepEqual(ids.health(), { status: 'unavailable', reason: 'the generator was closed', ...NO_LEASE })
})

test('what is returned is a copy', async () => {
  const { ids, emit } = await holding()
  const before = ids.stats()
  const copy = structuredClone(before)
  before.lastOperation.operation = 'changed'
  emit('leaseRenewed', { durationMs: 3, source: 'scheduled' })
  assert.equal(before.renewed, copy.renewed)
  emit('leaseAcquired', { durationMs: 12, source: 'initial' })
  assert.equal(ids.stats().lastOperation.operation, 'acquire')
})

test('a listener finds its event counted', async () => {
  const { ids, emit } = await holding()
  let seen
  ids.on('leaseRenewed', () => (seen = ids.stats().renewed))
  emit('leaseRenewed', { durationMs: 3, source: 'scheduled' })
  assert.equal(seen, 1)
})

test('a process that only converts is well without a lease', async () => {
  const { ids, handle } = generator({ coordinator: 'none' })
  const ready = ids.ready()
  handle().settle(undefined)
  await ready
  assert.equal(ids.stats().state, 'idle')
  assert.deepEqual([ids.health().status, ids.health().machineId], ['ok', null])
})

test('fake IDs have stats and health too', async () => {
  const ids = fakeIds()
  assert.deepEqual([ids.stats().state, ids.stats().acquired, ids.stats().lease], ['held', 1, ids.lease])
  assert.deepEqual(ids.health(), { status: 'ok', reason: 'machine ID 1 is leased', machineId: 1, expiresInMs: null })
  ids.on('leaseLost', () => {})
  ids.loseLease('rejected')
  assert.equal(ids.stats().state, 'lost')
  assert.equal(ids.health().reason, 'the lease was lost (rejected); asking for another one')
  ids.regainLease()
  assert.deepEqual([ids.health().status, ids.stats().acquired, ids.stats().lost], ['ok', 2, 1])
  await ids.close()
  assert.deepEqual([ids.stats().state, ids.stats().released], ['closed', 1])
})
