'use strict'

// Leases from a real MariaDB, and from a MySQL where there is one: the life of one, what its registry forgets, and what is
// said where there is none.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { inspect } = require('node:util')
const { AcquireTimeoutError, CoordinatorError, IdGenerator, RegistryError } = require('mintid')
const { heard, recorded } = require('../support/events.js')
const { SERVERS, temporaryDatabase } = require('../support/mysql.js')
const { assertDistinct } = require('../support/numbers.js')
const { Peer } = require('../support/peer.js')
const { freePort } = require('../support/redis.js')

/** A registry that is made without a wait. */
const MADE = { lease: { onReset: 'grant' } }

/** Short leases: what a registry may have forgotten is over soon. */
const TTL_MS = 3000
const WAIT_MS = TTL_MS + TTL_MS / 5

/** Everything that can be seen of a value. */
function seen(value) {
  const deep = inspect(value, { showHidden: true, depth: Infinity, getters: true })
  return [inspect(value), deep, String(value), value?.stack, JSON.stringify(value)].join('\n')
}

/** Holds a lease until it is told to go. */
async function holder({ mintid, input, say, hear }) {
  const ids = new mintid.IdGenerator(input.options)
  await ids.ready()
  say({ machineId: ids.machineId, numbers: ids.type('').nextManyDb(input.count ?? 1) })
  await hear()
  say({ numbers: ids.type('').nextManyDb(input.count ?? 1) })
  await ids.close()
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

for (const place of SERVERS) {
  test(`${place.kind}: the life of a lease in events: taken, renewed, given back`, async (t) => {
    const { url, run } = temporaryDatabase(t, place)
    const from = Date.now()
    const lease = { ...MADE.lease, ttlMs: TTL_MS, renewEveryMs: 200 }
    const ids = new IdGenerator({ coordinator: url, lease })
    const events = recorded(ids)
    await ids.ready()
    assert.equal(ids.machineId, 0)
    assert.ok(ids.lease.expiresAt - from <= TTL_MS + 1000, ids.lease.expiresAt)
    const renewed = await heard(ids, 'leaseRenewed')
    assert.deepEqual([renewed.machineId, renewed.source], [0, 'scheduled'])
    assert.equal(ids.type('').inspect(ids.type('').next()).machineId, 0)
    assert.equal(ids.health().status, 'ok')
    await ids.close()
    const [acquired] = events
    assert.deepEqual(
      [acquired.type, acquired.source, events.at(-1).type],
      ['leaseAcquired', 'initial', 'leaseReleased']
    )
    assert.ok(
      events.every(({ type }) => /^lease(Acquired|Renewed|Released)$/.test(type)),
      inspect(events)
    )
    assert.deepEqual(run('select token is null from mintid_leases where id = 0;'), [['1']], 'the token is gone')
    const next = await IdGenerator.connect({ coordinator: url, lease })
    assert.equal(next.machineId, 1, 'the one that has been free longest')
    await next.close()
  })

  test(`${place.kind}: one place is one lease, however it is written`, async (t) => {
    const { url } = temporaryDatabase(t, place)
    const { hostname: host, port, username: user, password, pathname } = new URL(url)
    const database = pathname.slice(1)
    const login = { user, ...(password && { password }) }
    const generators = []
    t.after(() => Promise.all(generators.map((ids) => ids.close())))
    for (const coordinator of [
      url,
      url.replace(/^mysql/, 'mariadb'),
      `${url}?ssl-mode=PREFERRED&connection_limit=5`,
      { type: 'mysql', host, port: port || 3306, database, ...login },
      { type: 'mariadb', host, port: port || 3306, db: database, connectionLimit: 3, timezone: 'Z', ...login }
    ]) {
      generators.push(await IdGenerator.connect({ coordinator, ...MADE }))
    }
    assert.deepEqual(
      generators.map((ids) => ids.machineId),
      [0, 0, 0, 0, 0]
    )
  })

  test(`${place.kind}: two processes never have the same machine ID, nor the same IDs`, async (t) => {
    const input = { options: { coordinator: temporaryDatabase(t, place).url, ...MADE }, count: 50_000 }
    const peers = [new Peer(t, holder, input), new Peer(t, holder, input)]
    const first = await Promise.all(peers.map((peer) => peer.next()))
    assert.deepEqual(first.map(({ machineId }) => machineId).sort(), [0, 1])
    for (const peer of peers) peer.tell('go')
    const last = await Promise.all(peers.map((peer) => peer.next()))
    assertDistinct([...first, ...last].map(({ numbers }) => numbers))
    for (const peer of peers) assert.equal((await peer.end()).code, 0)
  })

  test(`${place.kind}: a registry that is new has nothing for newcomers yet: until when, and what ends the wait`, async (t) => {
    const earliest = Date.now() + 302_000
    const error = await rejection({ coordinator: temporaryDatabase(t, place).url }, { acquireTimeoutMs: 300 })
    assert.ok(error instanceof RegistryError, inspect(error))
    assert.deepEqual([error.code, error.command], ['ERR_MINTID_REGISTRY_RESET', 'npx mintid setup --accept-reset'])
    assert.ok(error.notBefore >= earliest - 1000 && error.notBefore <= earliest + 5000, error.notBefore)
  })

  test(`${place.kind}: the tables are gone: who holds a lease goes on, and who comes has to wait`, async (t) => {
    const { url, run } = temporaryDatabase(t, place)
    const lease = { ttlMs: TTL_MS, renewEveryMs: 200 }
    await (await IdGenerator.connect({ coordinator: url, lease: { ...lease, onReset: 'grant' } })).close()
    const held = new IdGenerator({ coordinator: url, lease })
    t.after(() => held.close())
    await held.ready()
    const events = recorded(held)
    const before = held.machineId
    run('drop table mintid_leases, mintid_registry;')
    const since = Date.now()
    await heard(held, 'leaseRenewed', ({ at }) => at > since)
    const newcomer = new Peer(t, holder, { options: { coordinator: url, lease } })
    const came = await newcomer.next()
    assert.ok(Date.now() - since >= WAIT_MS, `waited ${Date.now() - since} ms only`)
    assert.ok(came.machineId !== before && held.machineId === before, `${came.machineId} is held`)
    assert.deepEqual(
      events.filter(({ type }) => type === 'leaseLost'),
      []
    )
    assertDistinct([came.numbers, held.type('').nextManyDb(1)])
  })

  test(`${place.kind}: a session that somebody ends is made again, and renewed over at once`, async (t) => {
    const { url, run } = temporaryDatabase(t, place)
    const lease = { ...MADE.lease, ttlMs: 60_000, renewEveryMs: 20_000 }
    const ids = await IdGenerator.connect({ coordinator: url, lease })
    t.after(() => ids.close())
    const database = new URL(url).pathname.slice(1)
    const mine = `select id from information_schema.processlist where db = '${database}' and command = 'Sleep';`
    const [[session]] = run(mine)
    const renewed = heard(ids, 'leaseRenewed')
    run(`kill ${session};`)
    assert.deepEqual([(await renewed).source, (await renewed).machineId], ['reconnect', 0])
  })

  test(`${place.kind}: a password that is wrong is told at once, with a hint and without the password`, async (t) => {
    const url = new URL(temporaryDatabase(t, place).url)
    url.username = 'mintid_nobody'
    url.password = 's3cret'
    const { hostname: host, port, username: user, password, pathname } = url
    const parts = { type: 'mysql', host, port: port || 3306, user, password, database: pathname.slice(1) }
    for (const coordinator of [url.href, parts]) {
      const error = await rejection({ coordinator })
      assert.ok(error instanceof CoordinatorError, inspect(error))
      assert.equal(error.serverCode, '1045')
      assert.match(error.hint, /user or password is wrong/)
      assert.doesNotMatch(seen(error), /s3cret/)
    }
  })
}

test('what may pass is tried again, and nothing that is told of it has the password', async (t) => {
  const ids = new IdGenerator({ coordinator: `mysql://alice:s3cret@127.0.0.1:${await freePort()}/app` })
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

test('parameters that mean nothing are refused by name, and show no password', async () => {
  const object = { type: 'mysql', host: 'db', user: 'app', database: 'app' }
  for (const [coordinator, says] of [
    [{ ...object, passwort: 's3cret' }, /unknown parameter "passwort"; did you mean password\?/],
    [{ ...object, read_default_file: '/etc/s3cret' }, /read_default_file is not supported/],
    [{ ...object, host: 'mysql://:s3cret@a' }, /host: expected a host's name/],
    [{ ...object, database: undefined, host: 'db' }, /coordinator.database is undefined/],
    ['mysql://app:s3cret@db', /the database is missing/],
    ['mysql://db/app', /the user is missing/],
    ['mysql://app:s3cret@db/app?ssl-mode=on', /ssl-mode: expected one of DISABLED/]
  ]) {
    const error = await rejectionOf(coordinator)
    assert.equal(error.code, 'ERR_MINTID_CONFIG', inspect(error))
    assert.match(error.message, says)
    assert.doesNotMatch(seen(error), /s3cret/)
  }
})

async function rejectionOf(coordinator) {
  try {
    return await rejection({ coordinator })
  } catch (error) {
    return error
  }
}
