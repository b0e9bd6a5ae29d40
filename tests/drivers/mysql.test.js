'use strict'

// MySQL and MariaDB over connections that drivers have.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { CoordinatorError, IdGenerator } = require('../..')
const { sqlCoordinator } = require('../../js/coordinators.js')
const { heard, recorded } = require('../../__test__/support/events.js')
const { SERVERS, temporaryDatabase } = require('../../__test__/support/mysql.js')
const { DRIVERS } = require('./mysql-drivers.js')

const LEASE = { ttlMs: 3000, renewEveryMs: 200, onReset: 'grant' }

/** A coordinator over a driver's connections, which end with the test. */
function lent(t, name, dialect, url) {
  const { query, end } = DRIVERS[name](url)
  t.after(end)
  return sqlCoordinator({ dialect, schema: new URL(url).pathname.slice(1), query })
}

/** A generator with a lease, which ends before its connections do. */
async function connected(t, coordinator, options) {
  const ids = await IdGenerator.connect({ coordinator, lease: LEASE, ...options })
  t.after(() => ids.close())
  return ids
}

for (const server of SERVERS) {
  for (const name of Object.keys(DRIVERS)) {
    const [where, dialect] = [`${name} on ${server.kind}`, server.kind]

    test(`${where}: makes the registry, leases, renews and gives back`, async (t) => {
      const database = temporaryDatabase(t, server)
      const ids = await connected(t, lent(t, name, dialect, database.url), { key: 'k'.repeat(32) })
      const held = 'select id, expires_at > utc_timestamp(6), length(token) from mintid_leases where token is not null'
      assert.deepEqual(database.run(held), [['0', '1', '16']])
      const { expiresAt } = ids.lease
      await heard(ids, 'leaseRenewed')
      assert.ok(ids.lease.expiresAt > expiresAt)
      assert.deepEqual(database.run('select length(fingerprints) from mintid_registry'), [['16']])
      const type = ids.type('', { kind: 'sortable' })
      const { timestamp } = type.inspect(type.next())
      assert.ok(Math.abs(timestamp - Date.now()) < 60_000, 'whatever time zone the session has')
      await ids.close()
      const left = 'select id from mintid_leases where token is not null or expires_at > utc_timestamp(6)'
      assert.deepEqual(database.run(left), [])
    })

    test(`${where}: what the server refuses is told with its code, at once`, async (t) => {
      const database = temporaryDatabase(t, server)
      const coordinator = lent(t, name, dialect, database.user('select'))
      await assert.rejects(connected(t, coordinator), (error) => {
        assert.ok(error instanceof CoordinatorError, error)
        assert.deepEqual([error.serverCode, error.coordinator], ['1142', 'sqlCoordinator'])
        assert.match(error.message, /^sqlCoordinator: .*denied to user/)
        assert.match(error.hint, /create table if not exists/)
        return true
      })
    })

    test(`${where}: a new registry is waited for, and what was forgotten is noticed`, async (t) => {
      const database = temporaryDatabase(t, server)
      const coordinator = lent(t, name, dialect, database.url)
      const ids = new IdGenerator({ coordinator, lease: { ...LEASE, onReset: 'wait' } })
      t.after(() => ids.close())
      const events = recorded(ids)
      await ids.ready({ acquireTimeoutMs: 20_000 })
      assert.equal(events.find(({ type }) => type === 'warning').code, 'REGISTRY_RESET')
      database.run("update mintid_registry set incarnation = 'another'")
      await heard(ids, 'leaseRenewed')
      await heard(ids, 'leaseRenewed')
      assert.ok(!events.some(({ type }) => type === 'leaseLost'), 'a holder is put back')
      assert.deepEqual(database.run('select not_before > utc_timestamp(6) from mintid_registry'), [['1']])
    })
  }

  test(`all drivers and a URL lease from one registry on ${server.kind}`, async (t) => {
    const { url } = temporaryDatabase(t, server)
    const coordinators = Object.keys(DRIVERS).map((name) => lent(t, name, server.kind, url))
    const all = await Promise.all(
      [...coordinators, ...coordinators, url].map((coordinator) => connected(t, coordinator))
    )
    assert.equal(new Set(all.map((ids) => ids.machineId)).size, all.length)
    const other = { ...LEASE, ttlMs: 4000 }
    await assert.rejects(connected(t, coordinators[0], { lease: other }), { option: 'lease.ttlMs' })
  })

  test(`connections that ${server.kind} ends cost no lease`, async (t) => {
    const database = temporaryDatabase(t, server)
    const url = database.user('all')
    const ids = await connected(t, lent(t, 'mysql2', server.kind, url), {
      lease: { ...LEASE, ttlMs: 30_000, firstTtlMs: 3000 }
    })
    const events = recorded(ids)
    await heard(ids, 'leaseRenewed')
    const user = decodeURIComponent(new URL(url).username)
    for (const [id] of database.run(`select id from information_schema.processlist where user = '${user}'`)) {
      database.run(`kill ${id}`)
    }
    await heard(ids, 'leaseRenewed')
    await heard(ids, 'leaseRenewed')
    assert.ok(!events.some(({ type }) => type === 'leaseLost'))
  })
}
