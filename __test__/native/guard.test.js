'use strict'

// Guarded machine IDs on a real PostgreSQL, MariaDB and Redis: processes that all claim machine ID 7.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { ConfigError, ConflictError, IdGenerator } = require('mintid')
const { mintid } = require('../cli/cli.js')
const { heard, recorded } = require('../support/events.js')
const { temporaryDatabase } = require('../support/mysql.js')
const { Peer } = require('../support/peer.js')
const { serverUrl, temporarySchema } = require('../support/psql.js')
const { serverUrl: redisUrl, temporaryNamespace } = require('../support/redis.js')

/** A guarded lease lasts a minute, or as long as others of its namespace, if that is less. */
const TTL_MS = 3000
/** Within which time a machine ID that is free is taken, on a machine that has other things to do. */
const SOON_MS = 5000

/** Options of processes that claim one machine ID in a registry of this test's own. */
function guarded(t) {
  const guard = serverUrl({ schema: temporarySchema(t) })
  return { machineId: 7, guard, lease: { ttlMs: TTL_MS, onReset: 'grant' } }
}

/** The same on each kind of server. */
const ON = {
  PostgreSQL: guarded,
  MariaDB: (t) => ({ machineId: 7, guard: temporaryDatabase(t).url, lease: { ttlMs: TTL_MS, onReset: 'grant' } }),
  Redis: (t) => ({ ...guardedByRedis, namespace: temporaryNamespace(t) })
}
const guardedByRedis = { machineId: 7, guard: redisUrl(), lease: { ttlMs: TTL_MS, onReset: 'grant' } }

/** Holds a lease until it is told to go, and says its last use then. */
async function holder({ mintid, input, say, hear, use }) {
  const ids = await mintid.IdGenerator.connect(input)
  say(ids.machineId)
  await hear()
  const last = use(ids)
  await ids.close()
  say(last)
}

/** Says what it hears, and its first use. */
async function claimant({ mintid, input, say, hear, use }) {
  const ids = new mintid.IdGenerator(input)
  ids.on('conflict', ({ machineId }) => say(`conflict ${machineId}`))
  await ids.ready()
  say({ machineId: ids.machineId, first: use(ids) })
  await hear()
  await ids.close()
}

/** A type's number in time: milliseconds since 1970. */
function use(ids) {
  const type = ids.type('', { kind: 'sortable' })
  return type.inspect(type.next()).timestamp.getTime()
}

const types = (events) => events.map(({ type }) => type)

for (const [on, guardedOn] of Object.entries(ON)) {
  test(`the newer one is told, throws meanwhile, and has the machine ID when the first has closed: ${on}`, async (t) => {
    const options = guardedOn(t)
    const first = new Peer(t, holder, options)
    assert.equal(await first.next(), 7)

    const from = Date.now()
    const ids = new IdGenerator(options)
    t.after(() => ids.close())
    const events = recorded(ids)
    await assert.rejects(ids.ready({ acquireTimeoutMs: 500 }), (error) => {
      assert.ok(error instanceof ConflictError)
      assert.deepEqual([error.code, error.machineId, error.statusCode], ['ERR_MINTID_CONFLICT', 7, 503])
      assert.match(error.message, /^machine ID 7 is held by another process/)
      return true
    })
    assert.deepEqual(types(events).slice(0, 2), ['conflict', 'leaseRetry'])
    const [{ at, machineId }, { operation, source, error }] = events
    assert.ok(at >= from && at <= Date.now())
    assert.deepEqual([machineId, operation, source, error.code], [7, 'acquire', 'initial', 'ERR_MINTID_CONFLICT'])
    for (const kind of ['counter', 'sortable']) {
      assert.throws(() => ids.type('', { kind }).next(), { code: 'ERR_MINTID_CONFLICT', machineId: 7 })
    }
    assert.deepEqual([ids.machineId, ids.lease, ids.stats().state], [null, null, 'conflict'])
    assert.match(ids.health().reason, /^machine ID 7 is held by another process; asking for it again/)
    await assert.rejects(IdGenerator.connect(options, { acquireTimeoutMs: 50 }), ConflictError)

    const ready = ids.ready()
    first.tell('go')
    const last = await first.next()
    const freed = Date.now()
    await ready
    assert.ok(Date.now() - freed < SOON_MS, `${Date.now() - freed} ms after it was free`)
    assert.ok(use(ids) > last)
    assert.deepEqual([ids.machineId, ids.stats().conflicts, ids.health().status], [7, 1, 'ok'])
    assert.ok(Math.abs(ids.lease.expiresAt - Date.now()) <= TTL_MS + 1000)
    await ids.close()
    assert.deepEqual(types(events.filter(({ type }) => type !== 'leaseRetry' && type !== 'leaseRenewed')), [
      'conflict',
      'leaseAcquired',
      'leaseReleased'
    ])
  })

  test(`what a killed one held is free when its lease is over, and its successor goes on after it: ${on}`, async (t) => {
    const options = guardedOn(t)
    const first = new Peer(
      t,
      async ({ mintid, input, say, use }) => {
        const ids = await mintid.IdGenerator.connect(input)
        setInterval(() => {}, 1000)
        await new Promise((resolve) => ids.once('leaseRenewed', resolve))
        say(ids.lease.expiresAt.getTime())
        for (;;) {
          say(use(ids))
          await new Promise((resolve) => setTimeout(resolve, 5))
        }
      },
      options
    )
    const end = await first.next()
    let last = await first.next()
    first.kill('SIGKILL')
    const killed = Date.now()
    last = Math.max(last, ...(await first.end()).said)

    const second = new Peer(t, claimant, options)
    assert.equal(await second.next(), 'conflict 7')
    const { machineId, first: next } = await second.next()
    assert.equal(machineId, 7)
    assert.ok(next > last && next > end, `${next}, after ${last} and ${end}`)
    assert.ok(Date.now() - killed < TTL_MS + SOON_MS, `${Date.now() - killed} ms after the kill`)
  })
}

test('a pod name says which; a restart after a clean end has no conflict', async (t) => {
  const options = { ...guarded(t), machineId: { env: 'POD_NAME' } }
  const env = { POD_NAME: 'web-7' }
  const pod = new Peer(t, holder, options, { env })
  assert.equal(await pod.next(), 7)
  const other = new Peer(t, holder, options, { env: { POD_NAME: 'web-8' } })
  assert.equal(await other.next(), 8)
  const twin = new Peer(t, claimant, options, { env: { POD_NAME: 'web2-7' } })
  assert.equal(await twin.next(), 'conflict 7')
  twin.kill('SIGKILL')

  pod.tell('go')
  const last = await pod.next()
  await pod.end()
  const restarted = new Peer(t, claimant, options, { env })
  const { machineId, first } = await restarted.next()
  assert.equal(machineId, 7)
  assert.ok(first > last)
  restarted.tell('go')
  assert.deepEqual((await restarted.end()).said, [])
})

test('a paused holder whose lease ran out finds the other one, and has its turn after that', async (t) => {
  const options = guarded(t)
  const first = new Peer(
    t,
    async ({ mintid, input, say, use }) => {
      const ids = new mintid.IdGenerator(input)
      const attempt = () => {
        try {
          use(ids)
          return 'minted'
        } catch ({ code, machineId }) {
          return `${code} ${machineId}`
        }
      }
      ids.on('leaseLost', ({ machineId, reason }) => say({ lost: machineId, reason, minting: attempt() }))
      ids.on('conflict', ({ machineId }) => say({ conflict: machineId, minting: attempt() }))
      ids.on('leaseAcquired', ({ source }) => say({ acquired: source, use: use(ids) }))
      await ids.ready()
      setInterval(() => {}, 1000)
    },
    options
  )
  const { use: before } = await first.next()
  first.kill('SIGSTOP')
  const second = new Peer(t, holder, options)
  assert.equal(await second.next(), 7)
  first.kill('SIGCONT')
  const { lost, reason, minting } = await first.next()
  assert.deepEqual([lost, minting], [7, 'ERR_MINTID_LEASE_LOST 7'])
  assert.ok(['expired', 'conflict'].includes(reason), reason)
  assert.deepEqual(await first.next(), { conflict: 7, minting: 'ERR_MINTID_CONFLICT 7' })
  second.tell('go')
  const between = await second.next()
  const { acquired, use: after } = await first.next()
  assert.equal(acquired, 'reacquire')
  assert.ok(before < between && between < after, `${before}, ${between}, ${after}`)
})

test('a process is no conflict to itself: Workers share the lease, and it can be given up and taken again', async (t) => {
  const peer = new Peer(
    t,
    async ({ mintid, input, say, use, worker }) => {
      async function sharing({ mintid, input, use, tell, hear }) {
        const ids = new mintid.IdGenerator(input)
        let conflicts = 0
        ids.on('conflict', () => conflicts++)
        await ids.ready()
        const { machineId } = ids
        use(ids)
        tell('held')
        await hear()
        tell([machineId, conflicts])
      }
      const hands = [worker(sharing, input), worker(sharing, input)]
      const told = { conflicts: 0, lost: 0 }
      const taken = async (ids) => {
        ids.on('conflict', () => told.conflicts++)
        ids.on('leaseLost', () => told.lost++)
        await ids.ready()
        return ids
      }
      const ids = await taken(new mintid.IdGenerator(input))
      for (const hand of hands) await hand.next()
      for (let round = 0; round < 5; round++) {
        const again = new Promise((resolve) => ids.once('leaseAcquired', resolve))
        use(ids)
        ids.relinquish(`round ${round}`)
        await again
      }
      for (const hand of hands) {
        hand.tell('go')
        say(await hand.next())
        await hand.ended
      }
      let last = ids
      for (let round = 0; round < 5; round++) {
        use(last)
        const closed = last.close()
        last = await taken(new mintid.IdGenerator(input))
        await closed
      }
      await last.close()
      say(told)
    },
    guarded(t)
  )
  assert.deepEqual(await peer.next(), [7, 0])
  assert.deepEqual(await peer.next(), [7, 0])
  assert.deepEqual(await peer.next(), { conflicts: 0, lost: 5 })
  assert.equal((await peer.end()).code, 0)
})

test('who joins during a conflict hears of it too', async (t) => {
  const options = guarded(t)
  const first = new Peer(t, holder, options)
  await first.next()
  const early = new IdGenerator(options)
  const late = new IdGenerator(options)
  t.after(() => Promise.all([early.close(), late.close()]))
  early.on('conflict', () => {})
  early.ready().catch(() => {})
  await heard(early, 'conflict')
  const told = heard(late, 'conflict')
  late.ready().catch(() => {})
  assert.equal((await told).machineId, 7)
  assert.throws(() => late.type('').next(), ConflictError)
})

test('a conflict that nobody listens to is one process warning', async (t) => {
  const options = guarded(t)
  const first = new Peer(t, holder, options)
  await first.next()
  const { code, said } = await new Peer(
    t,
    async ({ mintid, input, say }) => {
      process.on('warning', ({ name, code, message }) => say({ name, code, message }))
      const ids = new mintid.IdGenerator(input)
      await ids.ready({ acquireTimeoutMs: 1000 }).catch(({ code }) => say(code))
      await ids.close()
    },
    options
  ).end()
  assert.equal(code, 0)
  assert.deepEqual(
    said.map((one) => one.code ?? one),
    ['MINTID_CONFLICT', 'ERR_MINTID_CONFLICT']
  )
  assert.match(said[0].message, /^machine ID 7 is held by another process; next\(\) throws until it is free/)
})

test('a guard that cannot be is refused, by its name, when a lease is wanted', async (t) => {
  const refused = [
    [{ guard: 'postgres://app@db.invalid/app?nonsense=1' }, 'guard', /^guard: unknown parameter/],
    [{ machineId: { env: 'MINTID_TEST_NO_SUCH_POD' } }, 'machineId', /machineId\.env/],
    [{ machineId: { env: 'MINTID_TEST_POD' } }, 'machineId', /0 to 510 with guard \(the highest ID is the database's\)/]
  ]
  process.env.MINTID_TEST_POD = 'web-511'
  t.after(() => delete process.env.MINTID_TEST_POD)
  const options = guarded(t)
  for (const [change, option, message] of refused) {
    const ids = new IdGenerator({ ...options, ...change })
    await assert.rejects(ids.ready(), (error) => {
      assert.ok(error instanceof ConfigError, String(error))
      assert.equal(error.option, option)
      assert.match(error.message, message)
      return true
    })
    await ids.close()
  }
})

test('the registry lists who holds a guarded machine ID, beside a fleet that leases the rest', async (t) => {
  const options = guarded(t)
  const { guard: coordinator, lease } = options
  const first = new Peer(t, holder, options)
  await first.next()
  const other = await IdGenerator.connect({ coordinator, lease, machineIds: { from: 7, to: 8 } })
  t.after(() => other.close())
  assert.equal(other.machineId, 8, 'what is guarded is leased')
  const { stdout } = mintid(['leases', '--json'], { env: { MINTID_URL: coordinator } })
  const { holder: who } = JSON.parse(stdout).leases.find(({ machineId }) => machineId === 7)
  assert.match(who, new RegExp(`:${first.pid}$`))
})

test('each machine ID that a process claims is a lease of its own', async (t) => {
  const options = guarded(t)
  const { guard: coordinator, lease } = options
  const ids = []
  for (const other of [options, { ...options, machineId: 8 }, { coordinator, lease, machineIds: { from: 7, to: 9 } }]) {
    ids.push(await IdGenerator.connect(other))
  }
  t.after(() => Promise.all(ids.map((one) => one.close())))
  assert.deepEqual(
    ids.map(({ machineId }) => machineId),
    [7, 8, 9]
  )
})

test('all of a namespace agree on its ttl, whatever a guarded lease asks for', async (t) => {
  const options = guarded(t)
  const ids = await IdGenerator.connect({ ...options, lease: { ttlMs: 120_000, onReset: 'grant' } })
  t.after(() => ids.close())
  const left = ids.lease.expiresAt - Date.now()
  assert.ok(left > 50_000 && left <= 61_000, `${left} ms`)
  const other = { ...options, machineId: 8, lease: { ttlMs: 60_000 } }
  await assert.rejects(
    IdGenerator.connect(other),
    (error) => error instanceof ConfigError && error.option === 'lease.ttlMs'
  )
  const same = { ...options, lease: { ttlMs: 60_000 } }
  await assert.rejects(
    IdGenerator.connect(same),
    (error) => error instanceof ConfigError && error.option === 'lease.ttlMs'
  )
})
