'use strict'

// A coordinator of the user's own, over a Map: what every coordinator promises, through the public API.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { ExhaustedError, IdGenerator } = require('mintid')
const { heard, reacquired, recorded } = require('../support/events.js')
const { MapCoordinator } = require('../support/map-coordinator.js')

const HOUR_MS = 3_600_000
const FEW = { machine: 2 }
const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

/** A generator with a lease, which ends with the test. */
async function connected(t, options) {
  const ids = await IdGenerator.connect(options)
  t.after(() => ids.close())
  return ids
}

/** Mints an ID and gives its time in milliseconds since 1970. */
function use(ids) {
  const type = ids.type('', { kind: 'sortable' })
  return type.inspect(type.next()).timestamp.getTime()
}

test('generators take a lease each, of all machine IDs but the highest; who comes too late is told', async (t) => {
  const options = { coordinator: new MapCoordinator(), layout: FEW }
  const all = await Promise.all([0, 1, 2].map(() => connected(t, options)))
  assert.deepEqual(all.map((ids) => ids.machineId).sort(), [0, 1, 2])
  const late = new IdGenerator({ ...options, lease: { acquireTimeoutMs: 20 } })
  t.after(() => late.close())
  await assert.rejects(late.ready(), (error) => error instanceof ExhaustedError && error.capacity === 3)
  const waiting = late.ready({ acquireTimeoutMs: Infinity })
  const freed = all[1].machineId
  await all[1].close()
  await waiting
  assert.equal(late.machineId, freed)
})

test('no two IDs of a fleet on one coordinator are equal, and each lease begins after the last use before', async () => {
  const coordinator = new MapCoordinator()
  const seen = new Set()
  const lastUse = new Map()
  for (let round = 0; round < 5; round++) {
    const fleet = await Promise.all([0, 1, 2].map(() => IdGenerator.connect({ coordinator, layout: FEW })))
    for (const ids of fleet) {
      const first = use(ids)
      assert.ok(first > (lastUse.get(ids.machineId) ?? 0))
      for (const id of ids.type('', { kind: 'sortable' }).nextMany(100)) seen.add(id)
      lastUse.set(ids.machineId, use(ids))
    }
    await Promise.all(fleet.map((ids) => ids.close()))
  }
  assert.equal(seen.size, 5 * 3 * 100)
})

test('a lease of an acquire: what it is asked with, and what IDs it makes', async (t) => {
  const coordinator = new MapCoordinator()
  const lease = { ttlMs: 300_000, firstTtlMs: 30_000 }
  const machineIds = { from: 5, to: 6 }
  const ids = await connected(t, { coordinator, namespace: 'shop', machineIds, lease, key: 'k'.repeat(32) })
  const [{ token, holder, fingerprint, signal, ...request }] = coordinator.requests('acquire')
  assert.deepEqual(request, { namespace: 'shop', machineIds, ttlMs: 30_000, layout: '0/42/9/13@1735689600000' })
  assert.match(token, UUID)
  assert.match(holder, new RegExp(`:${process.pid}$`))
  assert.match(fingerprint, /^[\da-f]{32}$/)
  assert.ok(signal instanceof AbortSignal && !signal.aborted)
  assert.equal(ids.machineId, 5)
  assert.equal(ids.type('').inspect(ids.type('').next()).machineId, 5)
  const keyless = await connected(t, { coordinator })
  assert.equal(coordinator.requests('acquire')[1].fingerprint, null)
  assert.equal(keyless.machineId, 0)
})

test('a renewal moves the end on, with the token and the end of before', async (t) => {
  const coordinator = new MapCoordinator()
  const ids = await connected(t, { coordinator, lease: { ttlMs: 3000, renewEveryMs: 100 } })
  const [{ token }] = coordinator.requests('acquire')
  const { expiresAt } = ids.lease
  await heard(ids, 'leaseRenewed')
  await heard(ids, 'leaseRenewed')
  assert.ok(ids.lease.expiresAt > expiresAt)
  const [first, second] = coordinator.requests('renew')
  assert.deepEqual(
    { ...first, signal: null },
    {
      namespace: 'default',
      machineId: 0,
      token,
      ttlMs: 3000,
      end: expiresAt.getTime(),
      signal: null
    }
  )
  assert.ok(second.end > first.end)
})

test('a release says the last use, once', async (t) => {
  const coordinator = new MapCoordinator()
  const ids = await connected(t, { coordinator })
  const last = use(ids)
  await ids.close()
  const { signal: _, ...request } = coordinator.requests('release')[0]
  const [{ token }] = coordinator.requests('acquire')
  assert.deepEqual(request, { namespace: 'default', machineId: 0, token, lastUsed: last })
  await ids.close()
  assert.equal(coordinator.requests('release').length, 1)
})

test('timestamps follow the clock of the coordinator, not that of this host', async (t) => {
  for (const aheadMs of [3 * HOUR_MS, -3 * HOUR_MS]) {
    const coordinator = new MapCoordinator()
    coordinator.aheadMs = aheadMs
    const ids = await connected(t, { coordinator })
    assert.ok(Math.abs(use(ids) - Date.now() - aheadMs) < 60_000)
  }
})

test('who lost the lease hears of it, and takes another under another token', async (t) => {
  const coordinator = new MapCoordinator()
  const ids = await connected(t, { coordinator, lease: { ttlMs: 3000, renewEveryMs: 100 } })
  const type = ids.type('')
  const again = reacquired(ids)
  const lost = heard(ids, 'leaseLost')
  ids.once('leaseLost', () => assert.throws(() => type.next(), { code: 'ERR_MINTID_LEASE_LOST' }))
  coordinator.evict(0)
  assert.deepEqual([(await lost).machineId, (await lost).reason], [0, 'rejected'])
  assert.equal((await again).machineId, 1)
  assert.equal(type.inspect(type.next()).machineId, 1)
  const [first, second] = coordinator.requests('acquire')
  assert.notEqual(first.token, second.token)
})

test('`false` is as clear an answer to a renewal as `null`', async (t) => {
  const coordinator = new MapCoordinator()
  const ids = await connected(t, { coordinator, lease: { ttlMs: 3000, renewEveryMs: 100 } })
  coordinator.renew = () => false
  assert.equal((await heard(ids, 'leaseLost')).reason, 'rejected')
})

test('the answer may hold its own token, Dates and bigints, and how many are leased', async (t) => {
  const token = 'F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6'
  const renewals = []
  const coordinator = {
    acquire: () => ({ machineId: 9, token, now: new Date(), end: BigInt(Date.now() + 60_000), leased: 300 }),
    renew(request) {
      renewals.push(request)
      return { now: BigInt(Date.now()), end: new Date(Date.now() + 300_000) }
    },
    release() {}
  }
  const ids = new IdGenerator({ coordinator, lease: { renewEveryMs: 100, firstTtlMs: 3000 } })
  t.after(() => ids.close())
  const events = recorded(ids)
  await ids.ready()
  await heard(ids, 'leaseRenewed')
  assert.equal(ids.machineId, 9)
  assert.equal(renewals[0].token, token.toLowerCase())
  const { code, message } = events.find(({ type }) => type === 'warning')
  assert.deepEqual([code, message], ['MACHINE_IDS_RUNNING_OUT', '300 of 511 machine IDs are leased (58 %)'])
})

test('functions are called as methods of their object, which may be of any class', async (t) => {
  class Leases {
    #next = 3
    acquire() {
      const now = Date.now()
      return { machineId: this.#next++, now, end: now + 60_000 }
    }
    renew() {}
    release() {}
  }
  const ids = await connected(t, { coordinator: new Leases() })
  assert.equal(ids.machineId, 3)
})

test('a machine ID by hand is guarded by functions, too', async (t) => {
  const coordinator = new MapCoordinator()
  const options = { machineId: 3, guard: coordinator }
  const first = await connected(t, options)
  assert.deepEqual(coordinator.requests('acquire')[0].machineIds, { from: 3, to: 3 })
  const second = new IdGenerator(options)
  t.after(() => second.close())
  const conflict = heard(second, 'conflict')
  const waiting = second.ready({ acquireTimeoutMs: Infinity })
  assert.equal((await conflict).machineId, 3)
  const last = use(first)
  await first.close()
  await waiting
  assert.equal(second.machineId, 3)
  assert.ok(use(second) > last)
})
