'use strict'

// ready(), connect(), start() and close(), in every order.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { ClosedError, ConfigError, IdGenerator, idType, start, stop } = require('mintid')
const { heard, recorded } = require('../support/events.js')
const { Peer } = require('../support/peer.js')
const { Registry } = require('../support/registry.js')

/** A registry whose only machine ID somebody else holds. */
async function occupied(t) {
  const registry = new Registry()
  const holder = new Peer(
    t,
    async ({ mintid, input, say, hear }) => {
      const ids = await mintid.IdGenerator.connect(input)
      say('held')
      await hear()
      await ids.close()
    },
    registry.only(0)
  )
  await holder.next()
  return { options: registry.only(0), free: () => holder.tell('go') }
}

test('close is idempotent, and ready afterwards is refused', async () => {
  const ids = await IdGenerator.connect({ coordinator: new Registry().coordinator })
  const events = recorded(ids)
  const [first, second] = [ids.close(), ids.close()]
  assert.equal(first, second)
  assert.equal(await first, undefined)
  assert.equal(await ids.close(), undefined)
  await assert.rejects(ids.ready(), (error) => error instanceof ClosedError)
  assert.deepEqual([ids.machineId, ids.lease], [null, null])
  ids.relinquish('no effect')
  assert.equal(events.filter(({ type }) => type === 'leaseLost').length, 0)
})

test('close without any lease opens nothing and releases nothing', async () => {
  const registry = new Registry()
  const ids = new IdGenerator(registry.only(0))
  await ids.close()
  assert.throws(() => registry.endOf(0), { code: 'ENOENT' })
})

test("close ends every pending ready of its own, and no one else's", async (t) => {
  const { options, free } = await occupied(t)
  const [closing, staying] = [new IdGenerator(options), new IdGenerator(options)]
  t.after(() => staying.close())
  const waits = [closing.ready({ acquireTimeoutMs: Infinity }), closing.ready(), closing.ready()]
  const ended = waits.map((wait) => assert.rejects(wait, { code: 'ERR_MINTID_CLOSED' }))
  const patient = staying.ready({ acquireTimeoutMs: Infinity })
  await heard(closing, 'leaseRetry')
  await closing.close()
  await Promise.all(ended)
  free()
  await patient
  assert.equal(staying.machineId, 0)
})

test('close while the very first ready is under way leaves no lease behind', async () => {
  const registry = new Registry()
  for (let round = 0; round < 20; round++) {
    const ids = new IdGenerator(registry.only(0))
    const ready = ids.ready()
    const closed = ids.close()
    await assert.rejects(ready, { code: 'ERR_MINTID_CLOSED' })
    await closed
  }
  const last = await IdGenerator.connect(registry.only(0))
  assert.equal(last.machineId, 0)
  await last.close()
})

test('each caller gives up alone: by its signal, by its own timeout', async (t) => {
  const { options, free } = await occupied(t)
  const ids = new IdGenerator({ ...options, lease: { acquireTimeoutMs: Infinity } })
  t.after(() => ids.close())
  const controller = new AbortController()
  const aborted = ids.ready({ signal: controller.signal })
  const timed = ids.ready({ acquireTimeoutMs: 30 })
  const patient = [ids.ready(), ids.ready({ signal: new AbortController().signal })]
  const reason = new Error('the client is gone')
  controller.abort(reason)
  await assert.rejects(aborted, (error) => error === reason)
  await assert.rejects(timed, { code: 'ERR_MINTID_EXHAUSTED', capacity: 1 })
  await assert.rejects(ids.ready({ signal: AbortSignal.timeout(10) }), { name: 'TimeoutError' })
  await assert.rejects(ids.ready({ signal: AbortSignal.abort(reason) }), (error) => error === reason)
  await assert.rejects(
    ids.ready({ signal: 'soon' }),
    (error) => error instanceof ConfigError && error.option === 'signal'
  )
  free()
  await Promise.all(patient)
  await ids.ready({ acquireTimeoutMs: 1 })
})

test('ready after a loss waits for the next lease', async (t) => {
  const ids = await IdGenerator.connect({ coordinator: new Registry().coordinator })
  t.after(() => ids.close())
  const type = ids.type('')
  for (let round = 0; round < 10; round++) {
    ids.relinquish(`round ${round}`)
    await heard(ids, 'leaseLost')
    await ids.ready()
    type.next()
  }
})

test('a loop of ready and next waits for a lease that is gone, before it was told so', async (t) => {
  const peer = new Peer(
    t,
    async ({ mintid, input, say }) => {
      const { rmSync, writeFileSync } = require('node:fs')
      const ids = await mintid.IdGenerator.connect(input.options)
      ids.on('leaseLost', ({ reason }) => say(reason))
      const type = ids.type('')
      // Whoever takes the directory away takes the lease away, and there is no other one.
      rmSync(input.directory, { recursive: true })
      writeFileSync(input.directory, '')
      const until = Date.now() + 10_000
      let failure = null
      while (failure === null && Date.now() < until) {
        await ids.ready({ acquireTimeoutMs: 300 }).catch(({ code }) => {
          failure = code
        })
        try {
          // Many, since every count is credit until the lease's age is used up: only then does one look at the directory.
          type.nextManyDb(10_000)
        } catch {}
      }
      say(failure)
    },
    gone()
  )
  assert.equal(await peer.next(), 'rejected')
  assert.equal(await peer.next(), 'ERR_MINTID_ACQUIRE_TIMEOUT')
  assert.equal((await peer.end()).code, 0)
})

function gone() {
  const { directory, coordinator } = new Registry()
  return { directory, options: { coordinator } }
}

test('what connect could not start it closes', async (t) => {
  const { options, free } = await occupied(t)
  await assert.rejects(IdGenerator.connect(options, { acquireTimeoutMs: 20 }), { code: 'ERR_MINTID_EXHAUSTED' })
  free()
  const ids = await IdGenerator.connect(options)
  await ids[Symbol.asyncDispose]()
  assert.throws(() => ids.type('').next(), { code: 'ERR_MINTID_CLOSED' })
})

const awaitUsing = compiled('async (make, use) => { await using ids = await make(); use(ids) }')

test('await using closes', { skip: !awaitUsing && 'this runtime does not know the syntax' }, async () => {
  let ids
  await awaitUsing(
    () => IdGenerator.connect(new Registry().only(0)),
    (made) => {
      ids = made
      ids.type('').next()
    }
  )
  assert.throws(() => ids.type('').next(), { code: 'ERR_MINTID_CLOSED' })
})

/** A function from its text; undefined where the syntax is too new. */
function compiled(text) {
  try {
    return Function(`return ${text}`)()
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
}

test('start makes the default; a second start replaces it without a gap; a failed one changes nothing', async () => {
  const { coordinator } = new Registry()
  const userId = idType('usr_')
  const first = await start({ coordinator })
  const before = userId.nextDb()
  const starting = start({ coordinator })
  userId.next()
  const second = await starting
  assert.equal(second.machineId, 0)
  assert.ok(userId.nextDb() > before)
  assert.throws(() => first.type('').next(), { code: 'ERR_MINTID_CLOSED' })
  await assert.rejects(start({ coordinator, layout: { machine: 8 } }), { code: 'ERR_MINTID_CONFIG', option: 'layout' })
  userId.next()
  await stop()
  await stop()
  assert.throws(() => userId.next(), { code: 'ERR_MINTID_CLOSED' })
  await start({ coordinator })
  userId.next()
  await stop()
})

test('what lease says is when and until when', async (t) => {
  const from = Date.now()
  const ids = await IdGenerator.connect({ coordinator: new Registry().coordinator })
  t.after(() => ids.close())
  const { machineId, acquiredAt, expiresAt } = ids.lease
  assert.equal(machineId, ids.machineId)
  assert.ok(acquiredAt >= from && acquiredAt <= Date.now())
  assert.equal(expiresAt, null)
})
