'use strict'

// The commands on a real PostgreSQL, each test in a schema of its own.

const assert = require('node:assert/strict')
const { createServer } = require('node:net')
const { once } = require('node:events')
const { test } = require('node:test')
const { IdGenerator } = require('mintid')
const { serverUrl, sql, temporaryRole, temporarySchema } = require('../support/psql.js')
const { mintid } = require('./cli.js')

const TTL_MS = 60_000
const MARGIN_MS = 2000

/** Runs a command with --json and gives back what it printed; its exit code must be `expected`. */
function run(url, [command, ...args], expected = 0) {
  const { status, stdout, stderr } = mintid([command, ...args, '--json'], { env: { MINTID_URL: url } })
  assert.equal(status, expected, stderr)
  return JSON.parse(stdout)
}

function refused(url, args) {
  const { status, stdout, stderr } = mintid(args, { env: { MINTID_URL: url } })
  assert.deepEqual([status, stdout], [1, ''])
  assert.doesNotMatch(stderr, /secret/)
  return stderr
}

function nowOfServer() {
  const [[ms]] = sql('select floor(extract(epoch from clock_timestamp()) * 1000)')
  return Number(ms)
}

test('setup makes the registry once, and its wait is a ttl and a margin', (t) => {
  const url = serverUrl({ schema: temporarySchema(t) })
  const earliest = nowOfServer()
  const made = run(url, ['setup', '--ttl', String(TTL_MS)])
  const wait = TTL_MS + MARGIN_MS
  assert.deepEqual([made.created, made.machineIds], [true, 511])
  assert.ok(Date.parse(made.notBefore) >= earliest + wait, made.notBefore)
  assert.ok(Date.parse(made.notBefore) <= nowOfServer() + wait + 1, made.notBefore)
  assert.deepEqual(run(url, ['setup', '--ttl', String(TTL_MS)]), { ...made, created: false })
})

test('namespaces have nothing to do with each other', (t) => {
  const url = serverUrl({ schema: temporarySchema(t) })
  assert.equal(run(url, ['setup', '--fresh', '--namespace', 'blue']).created, true)
  assert.equal(run(url, ['setup', '--namespace', 'green']).created, true)
  assert.equal(run(url, ['setup', '--namespace', 'blue']).notBefore, null)
  assert.notEqual(run(url, ['setup', '--namespace', 'green']).notBefore, null)
})

test('--accept-reset ends a wait, and plain setup does not', (t) => {
  const url = serverUrl({ schema: temporarySchema(t) })
  run(url, ['setup'])
  assert.notEqual(run(url, ['setup']).notBefore, null)
  assert.equal(run(url, ['setup', '--accept-reset']).notBefore, null)
  assert.equal(run(url, ['setup']).notBefore, null)
})

test('leases shows who holds what, and who did', async (t) => {
  const url = serverUrl({ schema: temporarySchema(t) })
  assert.deepEqual(run(url, ['leases', '--all']).leases, [])
  run(url, ['setup', '--fresh'])
  assert.deepEqual(run(url, ['leases']), { namespace: 'default', live: 0, machineIds: 511, leases: [] })

  const ids = await IdGenerator.connect({ coordinator: url, lease: { ttlMs: TTL_MS } })
  t.after(() => ids.close())
  const { machineId, expiresAt } = ids.lease
  const { live, leases } = run(url, ['leases'])
  assert.deepEqual([live, leases.length, leases[0].machineId], [1, 1, machineId])
  assert.match(leases[0].holder, new RegExp(`\\b${process.pid}$`))
  assert.ok(Math.abs(Date.parse(leases[0].expiresAt) - expiresAt) < TTL_MS, leases[0].expiresAt)

  await ids.close()
  assert.equal(run(url, ['leases']).live, 0)
  const all = run(url, ['leases', '--all']).leases
  assert.equal(all.length, 511)
  const { live: isLive, holder } = all.find((lease) => lease.machineId === machineId)
  assert.deepEqual([isLive, holder], [false, leases[0].holder])
})

test('a role that may not create tables: the SQL to run, and after that it may set up', (t) => {
  const schema = temporarySchema(t)
  const role = temporaryRole(t)
  sql(`grant usage on schema ${schema} to ${role}`)
  const url = serverUrl({ user: role, password: 'secret', schema })

  const complaint = refused(url, ['setup'])
  assert.match(complaint, /^mintid: ERR_MINTID_COORDINATOR: /)
  assert.match(complaint, /create table/i)
  assert.equal(run(url, ['doctor'], 1).ok, false)

  const printed = mintid(['setup', '--print'], { env: { MINTID_URL: url } })
  assert.deepEqual([printed.status, printed.stderr], [0, ''])
  sql(printed.stdout)
  sql(`grant select on all tables in schema ${schema} to ${role}`)
  assert.equal(mintid(['doctor'], { env: { MINTID_URL: url } }).status, 1, 'reading is not enough')
  sql(`grant insert, update on all tables in schema ${schema} to ${role}`)
  assert.equal(run(url, ['setup', '--fresh']).created, true)
  assert.equal(run(url, ['doctor']).ok, true)
})

test('doctor finds nothing wrong with a registry that is in use', (t) => {
  const url = serverUrl({ schema: temporarySchema(t) })
  run(url, ['setup', '--fresh'])
  const { server, ok, checks } = run(url, ['doctor'])
  assert.match(server, /PostgreSQL \d+/)
  assert.equal(ok, true)
  assert.ok(checks.length >= 3, `${checks.length} checks`)
  for (const { name, verdict, found } of checks) {
    assert.ok(name && found, JSON.stringify({ name, found }))
    assert.ok(['ok', 'warning'].includes(verdict), `${name}: ${verdict}: ${found}`)
  }
})

test('what cannot be used is an error with a code, and without the password', async () => {
  const nobody = serverUrl({ user: 'mintid_nobody', password: 'secret' })
  const nowhere = new URL(nobody)
  nowhere.pathname = '/mintid_no_such_database'
  // A port that was free a moment ago.
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const closed = new URL(nobody)
  closed.host = `127.0.0.1:${probe.address().port}`
  await new Promise((resolve) => probe.close(resolve))
  for (const url of [nobody, nowhere.href, closed.href]) {
    for (const command of ['setup', 'leases'])
      assert.match(refused(url, [command]), /^mintid: ERR_MINTID_COORDINATOR: /)
    assert.doesNotMatch(JSON.stringify(mintid(['doctor'], { env: { MINTID_URL: url } })), /secret/)
    assert.equal(mintid(['doctor'], { env: { MINTID_URL: url } }).status, 1)
  }
})
