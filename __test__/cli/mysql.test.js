'use strict'

// The commands on a real MariaDB, and on a MySQL where there is one, each test in a database of its own.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { IdGenerator } = require('mintid')
const { SERVERS, temporaryDatabase } = require('../support/mysql.js')
const { freePort } = require('../support/redis.js')
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

for (const place of SERVERS) {
  test(`${place.kind}: setup makes the registry once, and its wait is a ttl and a margin`, (t) => {
    const { url, run: sql } = temporaryDatabase(t, place)
    const nowOfServer = () => Number(sql('select floor(unix_timestamp(now(6)) * 1000);')[0][0])
    const setup = ['setup', '--ttl', String(TTL_MS)]
    const earliest = nowOfServer()
    const made = run(url, setup)
    const wait = TTL_MS + MARGIN_MS
    assert.deepEqual([made.created, made.machineIds], [true, 511])
    assert.ok(Date.parse(made.notBefore) >= earliest + wait, made.notBefore)
    assert.ok(Date.parse(made.notBefore) <= nowOfServer() + wait + 1, made.notBefore)
    assert.deepEqual(run(url, setup), { ...made, created: false })
    assert.equal(run(url, ['setup', '--accept-reset']).notBefore, null)
    assert.equal(run(url, ['setup']).notBefore, null)
    sql("update mintid_registry set incarnation = 'another';")
    assert.notEqual(run(url, ['setup']).notBefore, null)
    assert.equal(run(url, ['setup', '--fresh', '--namespace', 'green']).created, true)
    assert.notEqual(run(url, ['setup', '--restored', '--namespace', 'green']).notBefore, null)
  })

  test(`${place.kind}: leases shows who holds what, and who did`, async (t) => {
    const { url } = temporaryDatabase(t, place)
    assert.deepEqual(run(url, ['leases', '--all']).leases, [])
    run(url, ['setup', '--fresh'])
    const ids = await IdGenerator.connect({ coordinator: url, lease: { ttlMs: TTL_MS } })
    t.after(() => ids.close())
    const { machineId, expiresAt } = ids.lease
    const { live, leases } = run(url, ['leases'])
    assert.deepEqual([live, leases.length, leases[0].machineId], [1, 1, machineId])
    assert.match(leases[0].holder, new RegExp(`\\b${process.pid}$`))
    assert.ok(Math.abs(Date.parse(leases[0].expiresAt) - expiresAt) < TTL_MS, leases[0].expiresAt)
    await ids.close()
    const all = run(url, ['leases', '--all'])
    assert.deepEqual([all.live, all.leases.length], [0, 511])
    const { live: isLive, holder } = all.leases.find((lease) => lease.machineId === machineId)
    assert.deepEqual([isLive, holder], [false, leases[0].holder])
  })

  test(`${place.kind}: the printed SQL and three rights are all that a user needs`, async (t) => {
    const { url, run: sql, user } = temporaryDatabase(t, place)
    const narrow = user('select, insert, update')
    assert.match(refused(narrow, ['setup']), /CREATE command denied[\s\S]*create table if not exists/)
    assert.equal(run(narrow, ['doctor']).checks.find(({ name }) => name === 'tables').verdict, 'warning')
    const { status, stdout, stderr } = mintid(['setup', '--print'], { env: { MINTID_URL: url } })
    assert.deepEqual([status, stderr], [0, ''])
    assert.deepEqual(run(url, ['setup', '--print']), { sql: stdout.trimEnd() })
    sql(stdout)
    assert.equal(run(narrow, ['setup', '--fresh']).created, true)
    const ids = await IdGenerator.connect({ coordinator: narrow })
    assert.equal(run(narrow, ['leases']).live, 1)
    await ids.close()
    const { server, ok, checks } = run(narrow, ['doctor'])
    assert.ok(ok && /\d+\.\d+\.\d+/.test(server), server)
    for (const name of [
      'version',
      'writable',
      'tables',
      'durability',
      'clock',
      'connections',
      'registry',
      'incarnation'
    ])
      assert.ok(
        checks.some((check) => check.name === name && check.verdict === 'ok'),
        `${name}: ${JSON.stringify(checks)}`
      )
  })

  test(`${place.kind}: what cannot be used is an error with a code, and without the password`, async (t) => {
    const { url } = temporaryDatabase(t, place)
    const [nobody, closed] = [new URL(url), new URL(url)]
    nobody.username = 'mintid_nobody'
    nobody.password = 'secret'
    closed.port = String(await freePort())
    closed.password = 'secret'
    for (const { href } of [nobody, closed]) {
      for (const command of ['setup', 'leases']) {
        assert.match(refused(href, [command]), /^mintid: ERR_MINTID_COORDINATOR: /)
      }
      const { status, stdout, stderr } = mintid(['doctor'], { env: { MINTID_URL: href } })
      assert.equal(status, 1)
      assert.doesNotMatch(stdout + stderr, /secret/)
    }
  })
}
