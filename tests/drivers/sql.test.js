'use strict'

// PostgreSQL over connections that drivers have.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { CoordinatorError, IdGenerator } = require('../..')
const { sqlCoordinator } = require('../../js/coordinators.js')
const { heard, recorded } = require('../../__test__/support/events.js')
const { SERVER, serverUrl, sql, temporaryRole, temporarySchema } = require('../../__test__/support/psql.js')
const { DRIVERS } = require('./sql-drivers.js')

const LEASE = { ttlMs: 3000, renewEveryMs: 200, onReset: 'grant' }

/** A coordinator over a driver's connections, which end with the test. */
function lent(t, name, schema, url = SERVER) {
  const { query, end } = DRIVERS[name](url)
  t.after(end)
  return sqlCoordinator({ dialect: 'postgres', schema, query })
}

/** A generator with a lease, which ends before its connections do. */
async function connected(t, coordinator, options) {
  const ids = await IdGenerator.connect({ coordinator, lease: LEASE, ...options })
  t.after(() => ids.close())
  return ids
}

for (const name of Object.keys(DRIVERS)) {
  test(`${name}: makes the registry, leases, renews and gives back`, async (t) => {
    const schema = temporarySchema(t)
    const ids = await connected(t, lent(t, name, schema), { key: 'k'.repeat(32) })
    const held = sql(
      `select id, expires_at > now(), octet_length(token) from ${schema}.mintid_leases where token is not null`
    )
    assert.deepEqual(held, [['0', 't', '16']])
    const { expiresAt } = ids.lease
    await heard(ids, 'leaseRenewed')
    assert.ok(ids.lease.expiresAt > expiresAt)
    assert.equal(sql(`select cardinality(fingerprints) from ${schema}.mintid_registry`)[0][0], '1')
    ids.type('').next()
    await ids.close()
    assert.deepEqual(sql(`select id from ${schema}.mintid_leases where token is not null or expires_at > now()`), [])
  })

  test(`${name}: what the server refuses is told with its code, at once`, async (t) => {
    const schema = temporarySchema(t)
    const url = serverUrl({ user: temporaryRole(t), password: 'secret' })
    const began = performance.now()
    await assert.rejects(connected(t, lent(t, name, schema, url)), (error) => {
      assert.ok(error instanceof CoordinatorError, error)
      assert.deepEqual([error.serverCode, error.coordinator], ['42501', 'sqlCoordinator'])
      assert.match(error.message, /^sqlCoordinator: permission denied for schema/)
      assert.match(error.hint, /create table if not exists/)
      return true
    })
    assert.ok(performance.now() - began < 10_000)
  })

  test(`${name}: connections that the server ends cost no lease`, async (t) => {
    const schema = temporarySchema(t)
    const url = serverUrl({ application_name: schema })
    const ids = await connected(t, lent(t, name, schema, url), { lease: { ...LEASE, ttlMs: 30_000, firstTtlMs: 3000 } })
    const events = recorded(ids)
    await heard(ids, 'leaseRenewed')
    for (let round = 0; round < 3; round++) {
      sql(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = '${schema}'`)
      await heard(ids, 'leaseRenewed')
    }
    assert.ok(!events.some(({ type }) => type === 'leaseLost'))
  })

  test(`${name}: dropped tables are made again, and the holder is put back`, async (t) => {
    const schema = temporarySchema(t)
    const ids = await connected(t, lent(t, name, schema))
    const { machineId } = ids
    sql(`drop table ${schema}.mintid_leases, ${schema}.mintid_registry, ${schema}.mintid_incarnation`)
    const { reason } = await heard(ids, 'leaseLost')
    assert.equal(reason, 'rejected', "onReset: 'grant' waits for nobody")
    await heard(ids, 'leaseAcquired')
    assert.equal(ids.machineId, machineId)
  })
}

test('all drivers and a URL lease from one registry', async (t) => {
  const schema = temporarySchema(t)
  const coordinators = Object.keys(DRIVERS).map((name) => lent(t, name, schema))
  const all = await Promise.all(
    [...coordinators, ...coordinators, serverUrl({ schema })].map((coordinator) => connected(t, coordinator))
  )
  assert.deepEqual(
    all.map((ids) => ids.machineId).sort((one, other) => one - other),
    all.map((_, index) => index)
  )
  const other = { ...LEASE, ttlMs: 4000 }
  await assert.rejects(connected(t, coordinators[0], { lease: other }), { option: 'lease.ttlMs' })
})

test('a machine ID by hand is guarded over lent connections, too', async (t) => {
  const schema = temporarySchema(t)
  const lease = { onReset: 'grant', renewEveryMs: 200 }
  const [guard, other] = ['pg', 'postgres.js'].map((name) => lent(t, name, schema))
  const first = await IdGenerator.connect({ machineId: 3, guard, lease })
  const second = new IdGenerator({ machineId: 3, guard: other, lease })
  t.after(() => second.close())
  const conflict = heard(second, 'conflict')
  const waiting = second.ready({ acquireTimeoutMs: Infinity })
  assert.equal((await conflict).machineId, 3)
  await first.close()
  await waiting
  assert.equal(second.machineId, 3)
})

test('a registry that is new is waited for, as with a URL', async (t) => {
  const schema = temporarySchema(t)
  const ids = new IdGenerator({ coordinator: lent(t, 'pg', schema), lease: { ...LEASE, onReset: 'wait' } })
  t.after(() => ids.close())
  await assert.rejects(ids.ready({ acquireTimeoutMs: 500 }), { code: 'ERR_MINTID_REGISTRY_RESET' })
  await ids.ready({ acquireTimeoutMs: 20_000 })
})

test('a pool that is closed too early is a retry that says so', async (t) => {
  const schema = temporarySchema(t)
  const { query, end } = DRIVERS.pg(SERVER)
  const coordinator = sqlCoordinator({ dialect: 'postgres', schema, query })
  const ids = await connected(t, coordinator)
  await end()
  const { operation, error } = await heard(ids, 'leaseRetry')
  assert.equal(operation, 'renew')
  assert.match(
    error.message,
    /^sqlCoordinator: query\(\) threw Error: Cannot use a pool after calling end on the pool$/
  )
})
