'use strict'

const assert = require('node:assert/strict')
const { test } = require('node:test')

const { AcquireTimeoutError, ClosedError, ConfigError, IdGenerator } = require('../../index.js')
const { fakeBackend, turn } = require('./fake-backend.js')

function generator(options) {
  const fake = fakeBackend()
  const ids = new IdGenerator({ coordinator: 'local', ...options }, fake.backend)
  return { fake, ids, handle: () => fake.handles[0] }
}

test('the constructor opens nothing; what native code gets is normalized', () => {
  const { fake, ids, handle } = generator({ lease: { acquireTimeoutMs: 5 } })
  assert.equal(fake.handles.length, 0)
  ids.ready()
  assert.deepEqual(handle().options, {
    coordinator: 'local',
    machineId: undefined,
    machineIds: undefined,
    namespace: 'default',
    lease: { ttlMs: 300_000, firstTtlMs: 60_000, renewEveryMs: 60_000, requestTimeoutMs: 5000, onReset: 'wait' },
    incarnation: 'volatile',
    key: undefined,
    keys: [],
    cipherKeys: [],
    ciphers: [],
    layout: { partition: 0, time: 42, machine: 9, sequence: 13, epochMs: 1_735_689_600_000 }
  })
  assert.equal(handle().pending[0].timeoutMs, 5)
})

test('ready waits for a lease, then costs nothing', async () => {
  const { ids, handle } = generator()
  assert.deepEqual([ids.machineId, ids.lease], [null, null])
  const ready = ids.ready()
  assert.deepEqual([ids.machineId, ids.lease], [null, null])
  handle().grant()
  await ready
  assert.equal(ids.machineId, 7)
  const lease = { machineId: 7, acquiredAt: new Date('2026-01-01'), expiresAt: new Date('2026-01-02') }
  assert.deepEqual(ids.lease, lease)
  await ids.ready()
  assert.equal(handle().pending.length, 0)
  handle().held.expiresAt = null
  assert.equal(ids.lease.expiresAt, null)
})

test('ready rejects with what native code says', async () => {
  const { ids, handle } = generator()
  const ready = ids.ready({ acquireTimeoutMs: 1000 })
  assert.equal(handle().pending[0].timeoutMs, 1000)
  handle().settle({ failure: true, code: 'ERR_MINTID_ACQUIRE_TIMEOUT', message: 'gave up', attempts: 3 })
  await assert.rejects(ready, (error) => error instanceof AcquireTimeoutError && error.attempts === 3)
})

test('ready opens again after a failure to open', async () => {
  const { fake, ids } = generator()
  fake.failOpen = { failure: true, code: 'ERR_MINTID_CONFIG', message: 'lease.ttlMs differs', option: 'lease.ttlMs' }
  await assert.rejects(ids.ready(), { code: 'ERR_MINTID_CONFIG', option: 'lease.ttlMs' })
  fake.failOpen = undefined
  ids.ready()
  assert.equal(fake.handles.length, 1)
})

test('one caller that aborts does not take the others along', async () => {
  const { ids, handle } = generator()
  const controller = new AbortController()
  const aborted = ids.ready({ signal: controller.signal })
  const patient = ids.ready()
  const reason = new Error('the request is gone')
  controller.abort(reason)
  await assert.rejects(aborted, (error) => error === reason)
  assert.equal(handle().cancelled, 0)
  handle().grant()
  await patient
})

test('the last caller that aborts leaves nothing behind that keeps the process alive', async () => {
  const { ids, handle } = generator()
  const controllers = [new AbortController(), new AbortController()]
  const waits = controllers.map(({ signal }) => ids.ready({ signal, acquireTimeoutMs: Infinity }))
  for (const controller of controllers) controller.abort()
  for (const wait of waits) await assert.rejects(wait, { name: 'AbortError' })
  assert.equal(handle().cancelled, 1)
  assert.equal(handle().pending.length, 0)
})

test('a signal that was aborted before rejects at once, and opens nothing', async () => {
  const { fake, ids } = generator()
  await assert.rejects(ids.ready({ signal: AbortSignal.abort() }), { name: 'AbortError' })
  assert.equal(fake.handles.length, 0)
})

test('a signal loses its listener when the wait is over', async () => {
  const { ids, handle } = generator()
  const { signal } = new AbortController()
  let listeners = 0
  const add = signal.addEventListener
  const remove = signal.removeEventListener
  signal.addEventListener = (...args) => {
    listeners++
    add.apply(signal, args)
  }
  signal.removeEventListener = (...args) => {
    listeners--
    remove.apply(signal, args)
  }
  const ready = ids.ready({ signal })
  assert.equal(listeners, 1)
  handle().grant()
  await ready
  await turn()
  assert.equal(listeners, 0)
})

test('ready refuses bad options by their name', async () => {
  const { ids } = generator()
  const bad = [
    [null, 'options'],
    [{ signal: {} }, 'signal'],
    [{ acquireTimeoutMs: 0 }, 'acquireTimeoutMs'],
    [{ acquireTimeoutMs: '1s' }, 'acquireTimeoutMs'],
    [{ timeoutMs: 1 }, 'timeoutMs']
  ]
  for (const [options, option] of bad) {
    await assert.rejects(ids.ready(options), (error) => error instanceof ConfigError && error.option === option)
  }
})

test('connect closes the generator again if it gets no lease', async () => {
  const fake = fakeBackend()
  class Faked extends IdGenerator {
    constructor(options) {
      super(options, fake.backend)
    }
  }
  const refused = Faked.connect({ coordinator: 'local' })
  fake.handles[0].settle({ failure: true, code: 'ERR_MINTID_EXHAUSTED', message: 'all leased', capacity: 512 })
  await assert.rejects(refused, { code: 'ERR_MINTID_EXHAUSTED', capacity: 512 })
  assert.equal(fake.handles[0].closed, true)

  const connected = Faked.connect({ coordinator: 'local' })
  fake.handles[1].grant()
  assert.ok((await connected) instanceof Faked)
  await assert.rejects(Faked.connect({}), { code: 'ERR_MINTID_CONFIG', option: 'coordinator' })
})

test('close is idempotent, ends waits, and forbids new ones', async () => {
  const { ids, handle } = generator()
  const ready = ids.ready({ acquireTimeoutMs: Infinity })
  assert.equal(ids.close(), ids.close())
  await assert.rejects(ready, ClosedError)
  await ids.close()
  assert.equal(handle().closed, true)
  await assert.rejects(ids.ready(), ClosedError)
})

test('a lease that comes while closing is no success', async () => {
  const { ids, handle } = generator()
  const ready = ids.ready()
  handle().grant()
  ids.close()
  await assert.rejects(ready, ClosedError)
})

test('close without a lease opens nothing; types convert afterwards, and cannot mint', async () => {
  const { fake, ids, handle } = generator()
  await ids.close()
  assert.equal(fake.handles.length, 0)
  const userId = ids.type('usr_')
  assert.equal(userId.toDb('usr_00000000005'), 5n)
  assert.equal(handle().closed, true)
  assert.throws(() => userId.next(), ClosedError)
})

test('await using closes', async () => {
  const { ids, handle } = generator()
  ids.ready().catch(() => {})
  await ids[Symbol.asyncDispose]()
  assert.equal(handle().closed, true)
})

test('relinquish passes the reason on, and does nothing without a lease', async () => {
  const { ids, handle } = generator()
  ids.relinquish('nothing is open')
  const ready = ids.ready()
  handle().grant()
  await ready
  ids.relinquish()
  ids.relinquish('moving')
  assert.deepEqual(handle().relinquished, ['', 'moving'])
  for (const bad of [7, null]) assert.throws(() => ids.relinquish(bad), { option: 'reason' })
  await ids.close()
  ids.relinquish('closed')
  assert.equal(handle().relinquished.length, 2)
})

test('a type of a generator has no other generator', () => {
  const { ids } = generator()
  assert.throws(() => ids.type('usr_', { generator: ids }), { option: 'generator' })
  assert.throws(() => ids.type('usr_', null), { option: 'options' })
  assert.throws(() => ids.type('usr_', { maks: true }), { option: 'maks' })
})
