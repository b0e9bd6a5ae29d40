'use strict'

// Leases from a real Redis: the life of one, what its registry forgets, and what is said where there is none.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { inspect } = require('node:util')
const { AcquireTimeoutError, CoordinatorError, IdGenerator, RegistryError } = require('mintid')
const { heard, recorded } = require('../support/events.js')
const { assertDistinct } = require('../support/numbers.js')
const { Peer } = require('../support/peer.js')
const {
  freePort,
  keyOf,
  OwnServer,
  redis,
  serverUrl,
  temporaryNamespace,
  temporaryUser
} = require('../support/redis.js')

/** A registry that is made without a wait. */
const MADE = { lease: { onReset: 'grant' } }

/** Short leases: what a registry may have forgotten is over soon. */
const TTL_MS = 3000
const WAIT_MS = TTL_MS + TTL_MS / 5

const RIGHTS =
  '~mintid:* resetchannels -@all +eval +evalsha +hget +hmget +hgetall +hkeys +hset +hsetnx +hdel +hincrby +exists +time'

/** Everything that can be seen of a value. */
function seen(value) {
  const deep = inspect(value, { showHidden: true, depth: Infinity, getters: true })
  return [inspect(value), deep, String(value), value?.stack, JSON.stringify(value)].join('\n')
}

/** Holds a lease until it is told to go. */
async function holder({ mintid, input, say, hear }) {
  const ids = new mintid.IdGenerator(input.options)
  ids.on('leaseLost', ({ reason }) => say({ lost: reason }))
  ids.on('leaseRenewed', () => say({ renewed: ids.machineId }))
  await ids.ready()
  say({ machineId: ids.machineId, numbers: ids.type('').nextManyDb(input.count ?? 1) })
  await hear()
  say({ numbers: ids.type('').nextManyDb(input.count ?? 1) })
  await ids.close()
}

/** The next thing that a peer says about something. */
async function says(peer, about) {
  for (;;) {
    const said = await peer.next()
    if (about in said) return said
  }
}

/** What `ready` rejects with. */
async function rejection(options, ready) {
  const ids = new IdGenerator(options)
  ids.on('warning', () => {})
  try {
    await ids.ready(ready)
  } catch (error) {
    return error
  } finally {
    await ids.close()
  }
  return assert.fail('expected no lease')
}

/** Makes a registry in which nobody has to wait. */
async function made(options) {
  const ids = await IdGenerator.connect({ ...options, lease: { ...options.lease, onReset: 'grant' } })
  await ids.close()
}

test('the life of a lease in events: taken, renewed, given back', async (t) => {
  const [namespace, from] = [temporaryNamespace(t), Date.now()]
  const lease = { ...MADE.lease, ttlMs: TTL_MS, renewEveryMs: 200 }
  const ids = new IdGenerator({ coordinator: serverUrl(), namespace, lease })
  const events = recorded(ids)
  await ids.ready()
  assert.equal(ids.machineId, 0)
  assert.ok(ids.lease.expiresAt - from <= TTL_MS + 1000, ids.lease.expiresAt)
  const renewed = await heard(ids, 'leaseRenewed')
  assert.deepEqual([renewed.machineId, renewed.source], [0, 'scheduled'])
  assert.equal(ids.type('').inspect(ids.type('').next()).machineId, 0)
  assert.deepEqual(ids.health().status, 'ok')
  await ids.close()
  const [acquired] = events
  assert.deepEqual([acquired.type, acquired.source, events.at(-1).type], ['leaseAcquired', 'initial', 'leaseReleased'])
  assert.ok(
    events.every(({ type }) => /^lease(Acquired|Renewed|Released)$/.test(type)),
    inspect(events)
  )
  assert.equal(redis('HEXISTS', keyOf(namespace), 't0')[0], '0', 'the token is gone')

  const next = await IdGenerator.connect({ coordinator: serverUrl(), namespace, lease })
  assert.equal(next.machineId, 1, 'the one that has been free longest')
  await next.close()
})

test('one place is one lease, however it is written', async (t) => {
  const namespace = temporaryNamespace(t)
  const { hostname: host, port = 6379, username, password } = new URL(serverUrl())
  const login = { ...(username && { username }), ...(password && { password }) }
  const generators = []
  t.after(() => Promise.all(generators.map((ids) => ids.close())))
  const url = serverUrl()
  for (const coordinator of [
    url,
    url.replace(/^redis/, 'valkey'),
    { type: 'redis', host, port: port || 6379, db: 0, ...login },
    {
      type: 'valkey',
      host,
      connectTimeout: 5000,
      clientName: 'ids',
      maxRetriesPerRequest: 3,
      ...login,
      port: port || 6379
    }
  ]) {
    generators.push(await IdGenerator.connect({ coordinator, namespace, ...MADE }))
  }
  assert.deepEqual(
    generators.map((ids) => ids.machineId),
    [0, 0, 0, 0]
  )
})

test('two processes never have the same machine ID, nor the same IDs', async (t) => {
  const input = { options: { coordinator: serverUrl(), namespace: temporaryNamespace(t), ...MADE }, count: 50_000 }
  const peers = [new Peer(t, holder, input), new Peer(t, holder, input)]
  const first = await Promise.all(peers.map((peer) => says(peer, 'machineId')))
  assert.deepEqual(first.map(({ machineId }) => machineId).sort(), [0, 1])
  for (const peer of peers) peer.tell('go')
  const last = await Promise.all(peers.map((peer) => says(peer, 'numbers')))
  assertDistinct([...first, ...last].map(({ numbers }) => numbers))
  for (const peer of peers) assert.equal((await peer.end()).code, 0)
})

test('a registry that is new has nothing for newcomers yet: until when, and what ends the wait', async (t) => {
  const options = { coordinator: serverUrl(), namespace: temporaryNamespace(t) }
  const ids = new IdGenerator(options)
  t.after(() => ids.close())
  const events = recorded(ids)
  const earliest = Date.now() + 302_000
  await assert.rejects(ids.ready({ acquireTimeoutMs: 300 }), (error) => {
    assert.ok(error instanceof RegistryError, inspect(error))
    assert.deepEqual([error.code, error.command], ['ERR_MINTID_REGISTRY_RESET', 'npx mintid setup --accept-reset'])
    assert.ok(error.notBefore >= earliest - 1000 && error.notBefore <= earliest + 5000, error.notBefore)
    return true
  })
  const warnings = events.filter(({ type }) => type === 'warning')
  assert.deepEqual(
    warnings.map(({ code }) => code),
    ['REGISTRY_RESET']
  )
})

test('the hash is gone: who holds a lease goes on, and who comes has to wait', async (t) => {
  const namespace = temporaryNamespace(t)
  const options = { coordinator: serverUrl(), namespace, lease: { ttlMs: TTL_MS, renewEveryMs: 200 } }
  await made(options)
  const peer = new Peer(t, holder, { options })
  const { machineId, numbers } = await says(peer, 'machineId')
  const held = new IdGenerator(options)
  t.after(() => held.close())
  await held.ready()
  const before = held.machineId
  const lost = recorded(held)
  redis('DEL', keyOf(namespace))
  const since = Date.now()
  await heard(held, 'leaseRenewed', ({ at }) => at > since)
  assert.equal(held.machineId, before)

  const newcomer = new Peer(t, holder, { options })
  const came = await says(newcomer, 'machineId')
  assert.ok(Date.now() - since >= WAIT_MS, `waited ${Date.now() - since} ms only`)
  assert.ok(![machineId, before].includes(came.machineId), `${came.machineId} is held`)
  assert.deepEqual(
    lost.filter(({ type }) => type === 'leaseLost'),
    []
  )
  assertDistinct([numbers, came.numbers, held.type('').nextManyDb(1)])
})

test('a master that was a replica in between, which lacks the last lease, grants it to nobody at once', async (t) => {
  const [one, other] = [await OwnServer.start(t), await OwnServer.start(t)]
  const coordinator = one.url
  await made({ coordinator })
  await other.follow(one)
  other.run('REPLICAOF', 'NO', 'ONE')
  const peer = new Peer(t, holder, { options: { coordinator } })
  const { machineId } = await says(peer, 'machineId')
  await one.follow(other)
  one.run('REPLICAOF', 'NO', 'ONE')
  assert.deepEqual(one.run('HEXISTS', keyOf('default'), `t${machineId}`), ['0'], 'the lease is forgotten')
  const error = await rejection({ coordinator }, { acquireTimeoutMs: 300 })
  assert.equal(error.code, 'ERR_MINTID_REGISTRY_RESET', inspect(error))
})

test('a password that is wrong is told at once, with a hint and without the password', async (t) => {
  const namespace = temporaryNamespace(t)
  const url = serverUrl({ user: 'mintid_nobody', password: 's3cret' })
  const { hostname: host, port } = new URL(url)
  const parts = { type: 'redis', host, port: port || 6379, username: 'mintid_nobody', password: 's3cret' }
  for (const coordinator of [url, parts]) {
    const ids = new IdGenerator({ coordinator, namespace })
    t.after(() => ids.close())
    const events = recorded(ids)
    await assert.rejects(ids.ready(), (error) => {
      assert.ok(error instanceof CoordinatorError, inspect(error))
      assert.equal(error.serverCode, 'WRONGPASS')
      assert.match(error.hint, /user or password is wrong/)
      assert.doesNotMatch(seen(error), /s3cret/)
      return true
    })
    for (const value of [ids, ids.stats(), ids.health(), events]) assert.doesNotMatch(seen(value), /s3cret/)
  }
})

test('what may pass is tried again, and nothing that is told of it has the password', async (t) => {
  const coordinator = new URL(serverUrl({ user: 'alice', password: 's3cret' }))
  coordinator.port = String(await freePort())
  const ids = new IdGenerator({ coordinator: coordinator.href })
  t.after(() => ids.close())
  const events = recorded(ids)
  await assert.rejects(ids.ready({ acquireTimeoutMs: 300 }), (error) => {
    assert.ok(error instanceof AcquireTimeoutError && error.attempts >= 1, inspect(error))
    assert.ok(error.cause instanceof CoordinatorError)
    assert.match(error.cause.hint, /does the server run/)
    assert.doesNotMatch(seen(error), /s3cret/)
    return true
  })
  assert.ok(events.some(({ type }) => type === 'leaseRetry'))
  for (const value of [ids, ids.stats(), events]) assert.doesNotMatch(seen(value), /s3cret/)
})

test('who may not ask the server which run it is needs another incarnation', async (t) => {
  const namespace = temporaryNamespace(t)
  const coordinator = serverUrl({ user: temporaryUser(t, RIGHTS), password: 'secret' })
  const error = await rejection({ coordinator, namespace, ...MADE })
  assert.ok(error instanceof CoordinatorError, inspect(error))
  assert.match(error.hint, /allow \+info; or set incarnation: 'durable'/)
  const ids = await IdGenerator.connect({ coordinator, namespace, incarnation: 'durable', ...MADE })
  assert.equal(ids.machineId, 0)
  await ids.close()
  const volatile = await rejection({ coordinator: serverUrl(), namespace })
  assert.deepEqual([volatile.code, volatile.option], ['ERR_MINTID_CONFIG', 'incarnation'])
})

test('parameters that mean nothing are refused by name, and show no password', async () => {
  for (const [coordinator, says] of [
    [{ type: 'redis', host: 'cache', passwort: 's3cret' }, /unknown parameter "passwort"; did you mean password\?/],
    [{ type: 'redis', host: 'cache', keyPrefix: 'app:' }, /keyPrefix is not supported/],
    [{ type: 'redis', nodes: ['redis://:s3cret@a:1'], cluster: true }, /nodes: expected host:port/],
    [{ type: 'redis', host: 'redis://:s3cret@a' }, /host: expected a host's name/],
    [{ type: 'redis', sentinels: ['a', 'b'] }, /name of the server is missing/],
    [{ type: 'redis', nodes: ['a', 'b'] }, /2 hosts; expected one, or cluster=true/],
    ['redis://app:s3cret@cache/db', /a database's number/],
    ['rediss+sentinel://app:s3cret@cache', /name of the server is missing/]
  ]) {
    const error = await rejection({ coordinator })
    assert.deepEqual([error.code, error.option], ['ERR_MINTID_CONFIG', 'coordinator'], inspect(error))
    assert.match(error.message, says)
    assert.doesNotMatch(seen(error), /s3cret/)
  }
})
