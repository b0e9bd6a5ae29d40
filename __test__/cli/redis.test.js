'use strict'

// The commands on a real Redis, each test in a namespace of its own.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { IdGenerator } = require('mintid')
const { freePort, keyOf, redis, redisAt, serverUrl, temporaryNamespace, temporaryUser } = require('../support/redis.js')
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
  const [seconds, micros] = redis('TIME')
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)
}

test('setup makes the registry once, and its wait is a ttl and a margin', (t) => {
  const [url, namespace] = [serverUrl(), temporaryNamespace(t)]
  const setup = ['setup', '--ttl', String(TTL_MS), '--namespace', namespace]
  const earliest = nowOfServer()
  const made = run(url, setup)
  const wait = TTL_MS + MARGIN_MS
  assert.deepEqual([made.created, made.machineIds], [true, 511])
  assert.ok(Date.parse(made.notBefore) >= earliest + wait, made.notBefore)
  assert.ok(Date.parse(made.notBefore) <= nowOfServer() + wait + 1, made.notBefore)
  assert.deepEqual(run(url, setup), { ...made, created: false })
})

test('namespaces have nothing to do with each other', (t) => {
  const url = serverUrl()
  const [blue, green] = [temporaryNamespace(t), temporaryNamespace(t)]
  assert.equal(run(url, ['setup', '--fresh', '--namespace', blue]).created, true)
  assert.equal(run(url, ['setup', '--namespace', green]).created, true)
  assert.equal(run(url, ['setup', '--namespace', blue]).notBefore, null)
  assert.notEqual(run(url, ['setup', '--namespace', green]).notBefore, null)
})

test('--accept-reset ends a wait, and plain setup does not; an incarnation that is taken away begins one', (t) => {
  const [url, namespace] = [serverUrl(), temporaryNamespace(t)]
  const setup = (...flags) => run(url, ['setup', ...flags, '--namespace', namespace]).notBefore
  assert.notEqual(setup(), null)
  assert.notEqual(setup(), null)
  assert.equal(setup('--accept-reset'), null)
  assert.equal(setup(), null)
  redis('HDEL', keyOf(namespace), 'incarnation')
  assert.notEqual(setup(), null)
})

test('leases shows who holds what, and who did', async (t) => {
  const [url, namespace] = [serverUrl(), temporaryNamespace(t)]
  const leases = (...flags) => run(url, ['leases', ...flags, '--namespace', namespace])
  assert.deepEqual(leases('--all').leases, [])
  run(url, ['setup', '--fresh', '--namespace', namespace])
  assert.deepEqual(leases(), { namespace, live: 0, machineIds: 511, leases: [] })

  const ids = await IdGenerator.connect({ coordinator: url, namespace, lease: { ttlMs: TTL_MS } })
  t.after(() => ids.close())
  const { machineId, expiresAt } = ids.lease
  const { live, leases: held } = leases()
  assert.deepEqual([live, held.length, held[0].machineId], [1, 1, machineId])
  assert.match(held[0].holder, new RegExp(`\\b${process.pid}$`))
  assert.ok(Math.abs(Date.parse(held[0].expiresAt) - expiresAt) < TTL_MS, held[0].expiresAt)

  await ids.close()
  assert.equal(leases().live, 0)
  const all = leases('--all').leases
  assert.equal(all.length, 511)
  const { live: isLive, holder } = all.find((lease) => lease.machineId === machineId)
  assert.deepEqual([isLive, holder], [false, held[0].holder])
})

test('the printed lines give a user all rights that it needs, and no more', async (t) => {
  const namespace = temporaryNamespace(t)
  const { status, stdout, stderr } = mintid(['setup', '--print', '--namespace', namespace], {
    env: { MINTID_URL: serverUrl() }
  })
  assert.deepEqual([status, stderr], [0, ''])
  assert.deepEqual(run(serverUrl(), ['setup', '--print', '--namespace', namespace]), { acl: stdout.trimEnd() })
  const [line, waitaof, ...more] = stdout.trimEnd().split('\n')
  assert.deepEqual([waitaof, more], ['ACL SETUSER mintid +waitaof', []])
  const rules = /^ACL SETUSER mintid on >password (.*)$/.exec(line)[1]
  const user = temporaryUser(t, rules)
  const url = serverUrl({ user, password: 'secret' })
  assert.equal(run(url, ['setup', '--fresh', '--namespace', namespace]).created, true)
  const ids = await IdGenerator.connect({ coordinator: url, namespace })
  assert.equal(run(url, ['leases', '--namespace', namespace]).live, 1)
  await ids.close()
  assert.equal(run(url, ['leases', '--namespace', namespace]).live, 0)
  assert.equal(run(url, ['doctor', '--namespace', namespace]).ok, true)
  assert.match(refused(url, ['setup', '--namespace', `${namespace}x`]), /NOPERM.*\n.*~mintid:\*/)

  for (const command of [['DEL', keyOf(namespace)], ['FLUSHALL'], ['KEYS', '*'], ['HGETALL', namespace]]) {
    assert.throws(() => redisAt(url, ...command), /NOPERM/, command[0])
  }

  const less = temporaryUser(t, rules.replace('+hincrby ', ''))
  const complaint = refused(serverUrl({ user: less, password: 'secret' }), ['setup', '--namespace', namespace])
  assert.match(complaint, /the user needs: .*\+hincrby .*mintid setup --print/)
})

test('doctor finds nothing wrong with a registry that is in use', (t) => {
  const [url, namespace] = [serverUrl(), temporaryNamespace(t)]
  run(url, ['setup', '--fresh', '--namespace', namespace])
  const { server, ok, checks } = run(url, ['doctor', '--namespace', namespace])
  assert.match(server, /^(Redis|Valkey) \d+/)
  assert.equal(ok, true)
  const names = ['version', 'writable', 'persistence', 'eviction', 'clock', 'registry', 'incarnation', 'machine IDs']
  for (const name of names)
    assert.ok(
      checks.some((check) => check.name === name && check.found),
      name
    )
  for (const { name, verdict, found } of checks) {
    assert.ok(['ok', 'warning'].includes(verdict), `${name}: ${verdict}: ${found}`)
  }
})

test('doctor warns of a registry that goes by its hash alone', async (t) => {
  const [url, namespace] = [serverUrl(), temporaryNamespace(t)]
  const options = { coordinator: url, namespace, incarnation: 'durable', lease: { onReset: 'grant' } }
  await (await IdGenerator.connect(options)).close()
  const { checks } = run(url, ['doctor', '--namespace', namespace])
  const { verdict, found } = checks.find(({ name }) => name === 'persistence')
  assert.deepEqual([verdict, found], ['warning', "incarnation 'durable': nobody would notice a loss"])
})

test('what cannot be used is an error with a code, and without the password', async (t) => {
  const namespace = temporaryNamespace(t)
  const nobody = serverUrl({ user: 'mintid_nobody', password: 'secret' })
  const closed = new URL(nobody)
  closed.port = String(await freePort())
  for (const url of [nobody, closed.href]) {
    for (const command of ['setup', 'leases']) {
      assert.match(refused(url, [command, '--namespace', namespace]), /^mintid: ERR_MINTID_COORDINATOR: /)
    }
    const { status, stdout, stderr } = mintid(['doctor'], { env: { MINTID_URL: url } })
    assert.equal(status, 1)
    assert.doesNotMatch(stdout + stderr, /secret/)
  }
})
