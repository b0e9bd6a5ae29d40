'use strict'

// Redis over connections that drivers have.

const assert = require('node:assert/strict')
const { randomBytes } = require('node:crypto')
const { after, before, test } = require('node:test')
const Redis = require('ioredis')
const { CoordinatorError, IdGenerator } = require('../..')
const { redisCoordinator } = require('../../js/coordinators.js')
const { heard, recorded } = require('../../__test__/support/events.js')
const { DRIVERS } = require('./redis-drivers.js')

const SERVER = process.env.MINTID_TEST_REDIS || 'redis://127.0.0.1:6379'
const LEASE = { ttlMs: 3000, renewEveryMs: 200, onReset: 'grant' }

/** What the tests look with. */
let server
before(() => {
  server = new Redis(SERVER)
})
after(() => server.quit())

/** A namespace that is gone after the test. */
function temporaryNamespace(t) {
  const namespace = `drivers-${randomBytes(6).toString('hex')}`
  t.after(() => server.del(`mintid:{${namespace}}`))
  return namespace
}

async function lent(t, name, url = SERVER) {
  const { eval: run, id, end } = await DRIVERS[name](url)
  t.after(end)
  return { coordinator: redisCoordinator({ eval: run }), id }
}

async function connected(t, coordinator, options) {
  const ids = await IdGenerator.connect({ coordinator, lease: LEASE, ...options })
  t.after(() => ids.close())
  return ids
}

for (const name of Object.keys(DRIVERS)) {
  test(`${name}: makes the registry, leases, renews and gives back`, async (t) => {
    const namespace = temporaryNamespace(t)
    const { coordinator } = await lent(t, name)
    const ids = await connected(t, coordinator, { namespace })
    const field = (field) => server.hget(`mintid:{${namespace}}`, field)
    assert.match(await field('t0'), /^[\da-f]{32}$/)
    assert.equal(Number(await field('e0')), ids.lease.expiresAt.getTime())
    const { expiresAt } = ids.lease
    await heard(ids, 'leaseRenewed')
    assert.ok(ids.lease.expiresAt > expiresAt)
    assert.ok(Number(await field('doubted')) > 0, 'nobody can wait for the disk')
    assert.equal(await field('aof'), null)
    ids.type('').next()
    await ids.close()
    assert.equal(await field('t0'), null)
    assert.ok(Number(await field('e0')) <= Date.now())
  })

  test(`${name}: what the server refuses is told with its code, at once`, async (t) => {
    const namespace = temporaryNamespace(t)
    const user = namespace
    await server.acl('SETUSER', user, 'on', '>secret', '~*', '+@connection', '+info')
    const url = new URL(SERVER)
    url.username = user
    url.password = 'secret'
    const { coordinator } = await lent(t, name, url.href)
    // After the connection has ended: this would end it.
    t.after(() => server.acl('DELUSER', user))
    await assert.rejects(connected(t, coordinator, { namespace }), (error) => {
      assert.ok(error instanceof CoordinatorError, error)
      assert.deepEqual([error.serverCode, error.coordinator], ['NOPERM', 'redisCoordinator'])
      assert.match(error.hint, /\+eval/)
      return true
    })
  })

  test(`${name}: connections that the server ends cost no lease`, async (t) => {
    const namespace = temporaryNamespace(t)
    const { coordinator, id } = await lent(t, name)
    const lease = { ...LEASE, ttlMs: 30_000, firstTtlMs: 3000 }
    const ids = await connected(t, coordinator, { namespace, lease })
    const events = recorded(ids)
    await heard(ids, 'leaseRenewed')
    await server.client('KILL', 'ID', await id())
    await heard(ids, 'leaseRenewed')
    await heard(ids, 'leaseRenewed')
    assert.ok(!events.some(({ type }) => type === 'leaseLost'))
  })
}

test('all drivers and a URL lease from one registry', async (t) => {
  const namespace = temporaryNamespace(t)
  const lents = await Promise.all(Object.keys(DRIVERS).map((name) => lent(t, name)))
  const coordinators = [SERVER, ...lents.map(({ coordinator }) => coordinator)]
  const all = await Promise.all(coordinators.map((coordinator) => connected(t, coordinator, { namespace })))
  assert.deepEqual(
    all.map((ids) => ids.machineId).sort((one, other) => one - other),
    all.map((_, index) => index)
  )
})

test('a hash that is gone is noticed: the holder is put back', async (t) => {
  const namespace = temporaryNamespace(t)
  const { coordinator } = await lent(t, 'ioredis')
  const lease = { ...LEASE, onReset: 'wait' }
  const ids = new IdGenerator({ coordinator, namespace, lease })
  t.after(() => ids.close())
  await ids.ready({ acquireTimeoutMs: 20_000 })
  const { machineId } = ids
  ids.on('leaseLost', ({ reason }) => assert.fail(`lost: ${reason}`))
  await server.del(`mintid:{${namespace}}`)
  await heard(ids, 'leaseRenewed')
  assert.equal(ids.machineId, machineId)
  assert.equal(Number(await server.hget(`mintid:{${namespace}}`, `e${machineId}`)), ids.lease.expiresAt.getTime())
})

test('a client that is closed too early is a retry that says so', async (t) => {
  const namespace = temporaryNamespace(t)
  const { eval: run, end } = await DRIVERS['node-redis 5'](SERVER)
  const ids = await connected(t, redisCoordinator({ eval: run }), { namespace })
  await end()
  const { operation, error } = await heard(ids, 'leaseRetry')
  assert.equal(operation, 'renew')
  assert.match(error.message, /^redisCoordinator: eval\(\) threw Error: The client is closed$/)
})
