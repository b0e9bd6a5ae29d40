'use strict'

// OpenTelemetry metrics, with its real API and SDK.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const { join } = require('node:path')
const { afterEach, beforeEach, test } = require('node:test')
const { metrics } = require('@opentelemetry/api')
const { AggregationTemporality, MeterProvider, MetricReader } = require('@opentelemetry/sdk-metrics')

const { IdGenerator } = require('../../index.js')
const { fakeIds } = require('../../js/testing.js')
const { fakeBackend } = require('./fake-backend.js')

const root = join(__dirname, '..', '..')
const URL = 'postgres://app:s3cret@db.internal/app'
const OURS = { 'mintid.namespace': 'eu', 'mintid.coordinator': 'postgres' }
const failure = { failure: true, code: 'ERR_MINTID_COORDINATOR', message: 'db.internal: no answer' }

/** Collects when it is asked to. */
class Reader extends MetricReader {
  async onForceFlush() {}
  async onShutdown() {}
}

let reader
beforeEach(() => {
  reader = register()
})
afterEach(() => metrics.disable())

/** Makes a reader that repeats for ever what it was told last, or one that tells only what is new. */
function register(temporality = AggregationTemporality.CUMULATIVE) {
  metrics.disable()
  const made = new Reader({ aggregationTemporalitySelector: () => temporality })
  assert.ok(metrics.setGlobalMeterProvider(new MeterProvider({ readers: [made] })))
  return made
}

/** Every data point by its metric's name: `{ value, attributes }`. */
async function collected(from = reader) {
  const { resourceMetrics, errors } = await from.collect()
  assert.deepEqual(errors, [])
  const found = {}
  for (const { scope, metrics } of resourceMetrics.scopeMetrics) {
    assert.equal(scope.name, 'mintid')
    assert.equal(scope.version, require('../../package.json').version)
    for (const { descriptor, dataPoints } of metrics) {
      found[descriptor.name] = dataPoints.map(({ value, attributes }) => ({ value, attributes }))
      found[descriptor.name].unit = descriptor.unit
    }
  }
  return found
}

/** A generator that holds a lease, and how its backend emits. */
function open(options) {
  const fake = fakeBackend()
  const ids = new IdGenerator({ coordinator: URL, namespace: 'eu', ...options }, fake.backend)
  ids.type('usr_').toDb('usr_00000000000')
  const [handle] = fake.handles
  handle.grant()
  return { ids, handle, emit: (type, fields) => handle.onEvent({ type, at: 0, machineId: 7, ...fields }) }
}

const values = (points) => points?.map(({ value }) => value)

test('events are counted and timed, with namespace and kind, and no address', async () => {
  const { ids, emit } = open()
  ids.on('leaseLost', () => {})
  emit('leaseAcquired', { durationMs: 20, source: 'initial' })
  emit('leaseRenewed', { durationMs: 3, source: 'scheduled' })
  emit('leaseRenewed', { durationMs: 5, source: 'scheduled' })
  emit('leaseRetry', { operation: 'renew', attempt: 1, delayMs: 100, error: failure })
  emit('leaseLost', { reason: 'rejected' })
  ids.on('conflict', () => {})
  emit('conflict')
  emit('leaseReleased', { durationMs: 8, source: 'shutdown' })
  emit('warning', { code: 'OTHER', message: 'uncounted' })
  const found = await collected()
  assert.deepEqual([...found['mintid.lease.acquired']], [{ value: 1, attributes: OURS }])
  assert.deepEqual([...found['mintid.lease.renewed']], [{ value: 2, attributes: OURS }])
  const retried = { ...OURS, 'mintid.operation': 'renew', 'error.type': 'ERR_MINTID_COORDINATOR' }
  assert.deepEqual([...found['mintid.lease.retries']], [{ value: 1, attributes: retried }])
  const lost = { ...OURS, 'mintid.reason': 'rejected' }
  assert.deepEqual([...found['mintid.lease.lost']], [{ value: 1, attributes: lost }])
  assert.deepEqual([...found['mintid.lease.conflicts']], [{ value: 1, attributes: OURS }])
  const durations = found['mintid.lease.operation.duration']
  assert.equal(durations.unit, 's')
  assert.deepEqual(
    durations.map(({ value: { count, sum }, attributes }) => [attributes['mintid.operation'], count, sum]),
    [
      ['acquire', 1, 0.02],
      ['renew', 2, 0.008],
      ['release', 1, 0.008]
    ]
  )
  assert.ok(durations[0].value.buckets.boundaries.includes(0.01))
  assert.doesNotMatch(JSON.stringify(found), /s3cret|internal/)
})

test('gauges tell what is held, and for how long', async () => {
  const { handle } = open()
  handle.held.expiresInMs = 45_000
  let found = await collected()
  assert.deepEqual([...found['mintid.lease.held']], [{ value: 1, attributes: OURS }])
  assert.deepEqual([...found['mintid.lease.expires_in']], [{ value: 45, attributes: OURS }])
  handle.held = null
  found = await collected()
  assert.deepEqual([values(found['mintid.lease.held']), values(found['mintid.lease.expires_in'])], [[0], [0]])
})

test('after close the gauges tell once more that nothing is held, and are left', async () => {
  const forgetful = register(AggregationTemporality.DELTA)
  const { ids } = open()
  assert.deepEqual(values((await collected(forgetful))['mintid.lease.held']), [1])
  await ids.close()
  const found = await collected(forgetful)
  assert.deepEqual([values(found['mintid.lease.held']), values(found['mintid.lease.expires_in'])], [[0], [0]])
  assert.deepEqual(await collected(forgetful), {})
})

test('a generator that takes the place of a closed one is the one that is seen', async () => {
  const { ids } = open()
  const next = open()
  open({ namespace: 'us' })
  await collected()
  await ids.close()
  for (let round = 0; round < 2; round++) {
    assert.deepEqual(values((await collected())['mintid.lease.held']), [1, 1])
  }
  next.handle.held = null
  assert.deepEqual(values((await collected())['mintid.lease.held']), [0, 1])
})

test('a lease that ends with the process has no time left to tell', async () => {
  const { handle } = open({ coordinator: 'local' })
  handle.held.expiresAt = null
  const found = await collected()
  assert.deepEqual(values(found['mintid.lease.held']), [1])
  assert.equal(found['mintid.lease.expires_in'], undefined)
})

test('a lease that was held already took no time', async () => {
  const { emit } = open()
  emit('leaseAcquired', { durationMs: 0, source: 'initial' })
  const found = await collected()
  assert.deepEqual(values(found['mintid.lease.acquired']), [1])
  assert.equal(found['mintid.lease.operation.duration'], undefined)
})

test('generators share instruments, and each is told by its attributes', async () => {
  const [one, other] = [open(), open({ namespace: 'us' })]
  one.emit('leaseAcquired', { durationMs: 1 })
  other.emit('leaseAcquired', { durationMs: 1 })
  const found = await collected()
  const namespaces = found['mintid.lease.acquired'].map(({ attributes }) => attributes['mintid.namespace'])
  assert.deepEqual(namespaces, ['eu', 'us'])
  assert.deepEqual(values(found['mintid.lease.held']), [1, 1])
})

test('a provider that is registered later is found at the next event; the one before is left', async () => {
  const { emit } = open()
  emit('leaseAcquired', { durationMs: 1 })
  const later = register()
  assert.deepEqual(await collected(later), {})
  emit('leaseRenewed', { durationMs: 1 })
  const found = await collected(later)
  assert.deepEqual(values(found['mintid.lease.renewed']), [1])
  assert.deepEqual(values(found['mintid.lease.held']), [1])
  assert.equal((await collected(reader))['mintid.lease.held'], undefined)
})

test('after close a last event is counted, and nothing is observed', async () => {
  const { ids, emit } = open()
  await ids.close()
  const later = register()
  emit('leaseReleased', { durationMs: 8, source: 'shutdown' })
  const found = await collected(later)
  assert.deepEqual(Object.keys(found), ['mintid.lease.operation.duration'])
})

test('where nobody leases anything, nothing is observed', async () => {
  open({ coordinator: 'none' })
  assert.deepEqual(await collected(), {})
})

test('fake IDs are measured as well', async () => {
  const ids = fakeIds()
  const found = await collected()
  assert.deepEqual(values(found['mintid.lease.held']), [1])
  assert.equal(found['mintid.lease.held'][0].attributes['mintid.coordinator'], 'fixed')
  assert.deepEqual(values(found['mintid.lease.acquired']), [1])
  await ids.close()
})

test('a provider that throws keeps nothing from working', () => {
  const broken = () => {
    throw new Error('broken')
  }
  metrics.disable()
  metrics.setGlobalMeterProvider({ getMeter: broken })
  const { ids, emit } = open()
  emit('leaseRenewed', { durationMs: 1 })
  assert.equal(ids.stats().renewed, 1)

  metrics.disable()
  const instrument = { add: broken, record: broken }
  const create = {
    createCounter: () => instrument,
    createHistogram: () => instrument,
    createObservableGauge: () => ({})
  }
  const callbacks = { addBatchObservableCallback() {}, removeBatchObservableCallback: broken }
  metrics.setGlobalMeterProvider({ getMeter: () => ({ ...create, ...callbacks }) })
  emit('leaseRenewed', { durationMs: 1 })
  assert.equal(ids.stats().renewed, 2)
  return ids.close()
})

test('a forgotten generator is collected, and its gauges go with it', () => {
  const script = `
    const { metrics } = require('@opentelemetry/api')
    const { AggregationTemporality, MeterProvider, MetricReader } = require('@opentelemetry/sdk-metrics')
    const { IdGenerator } = require('./index.js')
    const { fakeBackend } = require('./__test__/unit/fake-backend.js')
    class Reader extends MetricReader { async onForceFlush() {} async onShutdown() {} }
    const reader = new Reader({ aggregationTemporalitySelector: () => AggregationTemporality.DELTA })
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }))
    const seen = async () => {
      const { resourceMetrics } = await reader.collect()
      const metrics = resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics)
      return metrics.map(({ descriptor, dataPoints }) => descriptor.name + ' ' + dataPoints[0].value)
    }
    function forget() {
      const ids = new IdGenerator({ coordinator: 'local' }, fakeBackend().backend)
      ids.type('usr_').toDb('usr_00000000000')
      return new WeakRef(ids)
    }
    const ref = forget()
    const main = async () => {
      console.log(await seen())
      for (let turns = 0; ref.deref() && turns < 100; turns++) {
        await new Promise(setImmediate)
        gc()
      }
      console.log(ref.deref(), await seen(), await seen())
    }
    main()
  `
  const child = spawnSync(process.execPath, ['--expose-gc', '-e', script], { cwd: root, encoding: 'utf8' })
  const held = "[ 'mintid.lease.held 0' ]"
  assert.equal(child.stdout, `${held}\nundefined ${held} []\n`, child.stderr)
})

test('the API is looked for when a handle is opened, not before, and is not missed where there is none', () => {
  const script = `
    const Module = require('node:module')
    const asked = []
    const load = Module._load
    Module._load = function (request, ...rest) {
      if (!request.startsWith('@opentelemetry/')) return load.call(this, request, ...rest)
      asked.push(request)
      throw Object.assign(new Error('not installed'), { code: 'MODULE_NOT_FOUND' })
    }
    const { IdGenerator } = require('./index.js')
    const { fakeBackend } = require('./__test__/unit/fake-backend.js')
    const fake = fakeBackend()
    const [one, other] = [1, 2].map(() => new IdGenerator({ coordinator: 'local' }, fake.backend))
    const before = asked.length
    for (const ids of [one, other]) ids.type('usr_').toDb('usr_00000000000')
    fake.handles[0].onEvent({ type: 'leaseRenewed', at: 0, machineId: 7, durationMs: 1 })
    one.close().then(() => console.log(before, asked.join(), one.stats().renewed))
  `
  const child = spawnSync(process.execPath, ['-e', script], { cwd: root, encoding: 'utf8' })
  assert.equal(child.stdout.trim(), '0 @opentelemetry/api 1', child.stderr)
})
