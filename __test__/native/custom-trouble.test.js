'use strict'

// A coordinator of the user's own whose functions throw, hang, or answer what they must not: tried again with a clear
// cause, and never a loss.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { AcquireTimeoutError, ConfigError, CoordinatorError, IdGenerator } = require('mintid')
const { heard, reacquired } = require('../support/events.js')
const { MapCoordinator } = require('../support/map-coordinator.js')

const HOUR_MS = 3_600_000
const LEASE = { ttlMs: 3000, renewEveryMs: 100, requestTimeoutMs: 100 }

const grant = (fields) => ({ machineId: 0, now: Date.now(), end: Date.now() + 60_000, ...fields })

function hostile() {
  return new Proxy(new Error('x'), {
    get() {
      throw new Error('no property for you')
    }
  })
}

/** [what acquire does, what the message says] */
const BAD_ACQUIRES = [
  [() => fail(new Error('no route')), /^mine: acquire\(\) threw Error: no route$/],
  [async () => fail(new TypeError('a\nb')), /threw TypeError: a b$/],
  [() => fail('a text'), /threw "a text"$/],
  [() => fail(undefined), /threw undefined$/],
  [() => fail(hostile()), /threw something that cannot be shown$/],
  [() => fail(Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' })), /threw AggregateError$/],
  [() => fail(new Error('x'.repeat(1000))), /threw Error: x{293}…$/],
  [() => hostile(), /threw Error: no property for you$/],
  [() => undefined, /answered undefined; expected \{ machineId, now, end \}, or null/],
  [() => false, /answered false; expected/],
  [async () => [], /answered an array; expected/],
  [() => ({}), /answered machineId undefined; expected an integer/],
  [() => grant({ machineId: '7' }), /answered machineId "7"; expected an integer/],
  [() => grant({ machineId: 511 }), /answered machineId 511; expected an integer from 0 to 510/],
  [() => grant({ token: 7 }), /answered a token of type number; expected a text/],
  [
    () => grant({ token: 's3cret' }),
    /answered a token that is none; expected the one that it was given, or another UUID/
  ],
  [() => grant({ now: undefined }), /answered now undefined; expected milliseconds since 1970 as a number/],
  [() => grant({ now: '1796000000000' }), /answered now "1796000000000"; expected milliseconds/],
  [() => grant({ now: new Date(NaN) }), /answered now NaN; expected milliseconds since 1970 within the layout/],
  [() => grant({ now: Math.floor(Date.now() / 1000) }), /answered now \d{10}; expected milliseconds since 1970/],
  [() => grant({ end: 60_000 }), /answered end 60000; expected/],
  [() => grant({ end: Date.now() - 5 }), /answered end \d{13}; expected one after now/],
  [() => grant({ leased: 512 }), /answered leased 512; expected an integer from 1 to 511/]
]

function fail(error) {
  throw error
}

test('an acquire that fails is tried again; the message says what was found and what was expected', async () => {
  for (const [acquire, says] of BAD_ACQUIRES) {
    const coordinator = { name: 'mine', acquire, renew() {}, release() {} }
    const ids = new IdGenerator({ coordinator, lease: { acquireTimeoutMs: Infinity } })
    const refused = assert.rejects(ids.ready(), { code: 'ERR_MINTID_CLOSED' })
    const { operation, error } = await heard(ids, 'leaseRetry')
    await ids.close()
    await refused
    assert.ok(error instanceof CoordinatorError)
    assert.deepEqual([operation, error.coordinator], ['acquire', 'mine'])
    assert.match(error.message, says)
    assert.doesNotMatch(error.message, /s3cret/)
  }
})

test('what was thrown is told with its code and its place, without what may be secret', async (t) => {
  const coordinator = {
    acquire({ token }) {
      throw Object.assign(new Error(`cannot run ($1 = ${token}) at postgres://app:s3/cr@t@db/app`), { code: '28P01' })
    },
    renew() {},
    release() {}
  }
  const ids = new IdGenerator({ coordinator })
  t.after(() => ids.close())
  const cause = (error) => error instanceof AcquireTimeoutError && error.cause instanceof CoordinatorError
  const refused = assert.rejects(ids.ready({ acquireTimeoutMs: 200 }), cause)
  const { error } = await heard(ids, 'leaseRetry')
  assert.equal(error.message, 'custom coordinator: acquire() threw Error: cannot run ($1 = …) at postgres://…@db/app')
  assert.equal(error.serverCode, '28P01')
  assert.match(error.hint, /^thrown at .*acquire.*custom-trouble\.test\.js:\d+:\d+\)$/)
  await refused
})

test('a ConfigError says that trying again cannot help: the first acquire rejects, a later one is tried again', async (t) => {
  const coordinator = new MapCoordinator()
  const acquire = coordinator.acquire
  coordinator.acquire = () => fail(new ConfigError('the table is missing', { option: 'coordinator' }))
  const ids = new IdGenerator({ coordinator, lease: LEASE })
  t.after(() => ids.close())
  await assert.rejects(ids.ready(), {
    name: 'ConfigError',
    option: 'coordinator',
    message: 'coordinator: acquire() threw ConfigError: the table is missing'
  })
  delete coordinator.acquire
  await ids.ready()
  coordinator.acquire = () => fail(new ConfigError('the table is gone', { option: 'coordinator' }))
  const retry = heard(ids, 'leaseRetry')
  const again = reacquired(ids)
  ids.relinquish()
  assert.equal((await retry).operation, 'acquire')
  coordinator.acquire = acquire
  await again
})

test('a renewal that throws, hangs or answers nonsense is no loss, and the next one may succeed', async (t) => {
  const coordinator = new MapCoordinator()
  const ids = await IdGenerator.connect({ coordinator, lease: { ...LEASE, ttlMs: 30_000, firstTtlMs: 3000 } })
  t.after(() => ids.close())
  ids.on('leaseLost', ({ reason }) => assert.fail(`lost: ${reason}`))
  const type = ids.type('')
  const { renew } = coordinator
  await heard(ids, 'leaseRenewed')
  const bad = [
    [() => fail(new Error('no route')), /renew\(\) threw Error: no route/],
    [() => fail(new ConfigError('gone', { option: 'coordinator' })), /renew\(\) threw ConfigError: gone/],
    [() => undefined, /renew\(\) answered undefined; expected \{ now, end \}, or null where the lease/],
    [() => true, /renew\(\) answered true; expected/],
    [() => ({ now: Date.now(), end: Date.now() }), /renew\(\) answered end \d+; expected one after now/],
    [() => ({ now: Date.now(), end: Date.now() + 1000 }), /expected none before \d+, the end that was confirmed/],
    [() => new Promise(() => {}), /map did not answer renew within 100 ms/]
  ]
  for (const [broken, says] of bad) {
    coordinator.renew = broken
    const { operation, error } = await heard(ids, 'leaseRetry', ({ error }) => says.test(error.message))
    assert.equal(operation, 'renew')
    assert.ok(error instanceof CoordinatorError || error instanceof ConfigError)
    type.next()
    assert.equal(ids.health().status, 'degraded')
    coordinator.renew = renew
    await heard(ids, 'leaseRenewed')
    assert.equal(ids.health().status, 'ok')
  }
})

test('a release that fails or hangs keeps close() from nothing', async () => {
  for (const release of [() => fail(new Error('no route')), () => new Promise(() => {})]) {
    const coordinator = new MapCoordinator()
    coordinator.release = release
    const ids = await IdGenerator.connect({ coordinator, lease: LEASE })
    await ids.close()
    assert.throws(() => ids.type('').next(), { code: 'ERR_MINTID_CLOSED' })
  }
})

test('an answer that comes too late: the signal has aborted, and the lease is given back unused', async (t) => {
  const coordinator = new MapCoordinator()
  const { acquire } = coordinator
  const aborted = []
  coordinator.acquire = async (request) => {
    const granted = await acquire.call(coordinator, request)
    coordinator.acquire = acquire
    await new Promise((resolve) => request.signal.addEventListener('abort', resolve))
    aborted.push(request.signal.reason.name)
    return granted
  }
  const released = new Promise((resolve) => {
    coordinator.release = (request) => {
      delete coordinator.release
      resolve(request)
      return coordinator.release(request)
    }
  })
  const ids = new IdGenerator({ coordinator, lease: LEASE })
  t.after(() => ids.close())
  await ids.ready()
  const { token, machineId, lastUsed } = await released
  assert.deepEqual([aborted, machineId], [['AbortError'], 0])
  const [late, inTime] = coordinator.requests('acquire')
  assert.equal(token, late.token)
  assert.notEqual(inTime.token, late.token)
  assert.ok(lastUsed <= Date.now())
  assert.equal(inTime.signal.aborted, false)
})

test('a lease that reaches back into an earlier one of its machine ID is refused and given back', async (t) => {
  const coordinator = new MapCoordinator()
  coordinator.aheadMs = HOUR_MS
  const one = { from: 0, to: 0 }
  const ids = await IdGenerator.connect({ coordinator, machineIds: one, lease: LEASE })
  t.after(() => ids.close())
  const { end } = await coordinator.renew({ ...coordinator.requests('acquire')[0], machineId: 0 })
  // A registry that forgot everything, and whose clock was set back.
  coordinator.acquire = ({ ttlMs }) => ({ machineId: 0, now: Date.now(), end: Date.now() + ttlMs })
  const retry = heard(ids, 'leaseRetry')
  ids.relinquish()
  const { error } = await retry
  assert.match(
    error.message,
    /answered now \d+; expected a time not before \d+, where an earlier lease of machine ID 0 ended/
  )
  const releases = coordinator.requests('release')
  assert.ok(releases[1].lastUsed >= releases[0].lastUsed && releases[1].lastUsed < end)
})

test('while the event loop is blocked nothing is renewed: the lease ends, next() throws, and another one is taken', async (t) => {
  const coordinator = new MapCoordinator()
  const ids = await IdGenerator.connect({ coordinator, lease: LEASE })
  t.after(() => ids.close())
  const type = ids.type('')
  const again = reacquired(ids)
  const lost = heard(ids, 'leaseLost')
  const end = Date.now() + 10_000
  assert.throws(
    () => {
      while (Date.now() < end) type.next()
    },
    { code: 'ERR_MINTID_LEASE_LOST', machineId: 0, reason: 'expired' }
  )
  assert.equal(coordinator.requests('renew').length, 0, 'nobody could be asked')
  assert.equal((await lost).reason, 'expired')
  await again
  type.next()
  const [{ token }] = coordinator.requests('acquire')
  const late = coordinator.requests('renew').filter((renewal) => renewal.token === token)
  assert.ok(late.length <= 1, 'what nobody waited for any more was begun')
})
