'use strict'

// What happens to a lease reaches every handle in order, once, and minting keeps to what was told.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { IdGenerator } = require('mintid')
const { heard, reacquired, recorded } = require('../support/events.js')
const { assertDistinct } = require('../support/numbers.js')
const { Peer } = require('../support/peer.js')
const { Registry } = require('../support/registry.js')

const types = (events) => events.map(({ type }) => type)

test('the life of a lease in events: each once, in order, with its details', async () => {
  const from = Date.now()
  const ids = new IdGenerator({ coordinator: new Registry().coordinator })
  const events = recorded(ids)
  await ids.ready()
  ids.relinquish('moving house')
  await reacquired(ids)
  ids.relinquish()
  await reacquired(ids)
  await ids.close()

  const [acquired, lost, again, lostAgain, thirdTime, released] = events
  assert.deepEqual(types(events), [
    'leaseAcquired',
    'leaseLost',
    'leaseAcquired',
    'leaseLost',
    'leaseAcquired',
    'leaseReleased'
  ])
  assert.deepEqual(
    [acquired, again, thirdTime].map(({ source }) => source),
    ['initial', 'reacquire', 'reacquire']
  )
  assert.deepEqual([lost.machineId, lostAgain.machineId], [acquired.machineId, again.machineId])
  assert.deepEqual([lost.reason, lost.detail], ['relinquished', 'moving house'])
  assert.equal(lostAgain.reason, 'relinquished')
  assert.deepEqual([released.machineId, released.source], [thirdTime.machineId, 'shutdown'])
  for (const { type, at, durationMs } of events) {
    assert.ok(at instanceof Date && at >= from && at <= Date.now())
    if (type !== 'leaseLost') assert.ok(durationMs >= 0 && durationMs < 30_000, type)
  }
})

test('every handle hears every event; who joins later begins with the lease that is held', async (t) => {
  const { coordinator } = new Registry()
  const first = await IdGenerator.connect({ coordinator })
  const early = recorded(first)
  const second = new IdGenerator({ coordinator })
  t.after(() => Promise.all([first.close(), second.close()]))
  const late = recorded(second)
  await second.ready()
  second.relinquish('for both')
  await Promise.all([reacquired(first), reacquired(second)])
  const after = ({ type, source }) => !(type === 'leaseAcquired' && source === 'initial')
  for (const events of [early, late]) {
    const [lost, acquired, ...more] = events.filter(after)
    assert.deepEqual([lost.type, lost.detail, acquired.type, more], ['leaseLost', 'for both', 'leaseAcquired', []])
  }
  assert.equal(late[0].type, 'leaseAcquired')
  assert.equal(late[0].machineId, early.find(({ type }) => type === 'leaseLost').machineId)
})

test('after leaseLost was delivered on a thread nothing is minted there before leaseAcquired was', async (t) => {
  const rounds = 25
  const peer = new Peer(
    t,
    async ({ mintid, input, say, worker }) => {
      async function minting({ mintid, input, hear, tell }) {
        const ids = await mintid.IdGenerator.connect(input.options)
        const type = ids.type('', { kind: input.kind })
        const [numbers, heard, wrong] = [[], [], []]
        let [lost, left] = [false, input.rounds]
        const attempt = (where) => {
          try {
            numbers.push(type.nextDb())
            if (lost) wrong.push(`${where}: minted`)
          } catch (error) {
            // Refused before it was told is right too: the lease is lost first, and told then.
            if (error.code !== 'ERR_MINTID_LEASE_LOST') wrong.push(`${where}: ${error.code}`)
          }
        }
        ids.on('leaseLost', ({ machineId, detail }) => {
          lost = true
          heard.push(`lost ${machineId} ${detail}`)
          attempt('in the listener')
          queueMicrotask(() => attempt('in a microtask'))
        })
        ids.on('leaseAcquired', ({ machineId, source }) => {
          if (source !== 'reacquire') return
          lost = false
          left--
          heard.push(`acquired ${machineId}`)
          attempt('in the listener')
        })
        tell('ready')
        await hear()
        while (left > 0) {
          for (let n = 0; n < 50; n++) attempt('in the loop')
          await new Promise(setImmediate)
        }
        tell({ numbers: BigInt64Array.from(numbers), heard, wrong })
      }
      const hands = ['counter', 'counter', 'sortable'].map((kind) => worker(minting, { ...input, kind }))
      for (const hand of hands) await hand.next()
      const ids = await mintid.IdGenerator.connect(input.options)
      ids.on('leaseLost', () => {})
      for (const hand of hands) hand.tell('mint')
      for (let round = 0; round < input.rounds; round++) {
        const again = new Promise((resolve) =>
          ids.on('leaseAcquired', ({ source }) => source === 'reacquire' && resolve())
        )
        ids.relinquish(`round ${round}`)
        await again
        ids.removeAllListeners('leaseAcquired')
      }
      for (const hand of hands) say(await hand.next())
    },
    { rounds, options: { coordinator: new Registry().coordinator, machineIds: { from: 0, to: 2 } } }
  )
  const threads = [await peer.next(), await peer.next(), await peer.next()]
  for (const { heard, wrong } of threads) {
    assert.deepEqual(wrong, [])
    assert.equal(heard.length, 2 * rounds)
    for (let round = 0; round < rounds; round++) {
      assert.match(heard[2 * round], new RegExp(`^lost \\d round ${round}$`))
      assert.match(heard[2 * round + 1], /^acquired \d$/)
    }
    assert.deepEqual(heard, threads[0].heard)
  }
  assertDistinct([threads[0].numbers, threads[1].numbers])
  assertDistinct([threads[2].numbers])
  assert.equal((await peer.end()).code, 0)
})

test('what a thread keeps ready under a lease that it was not told of is thrown away with the one before', async (t) => {
  const key = '0123456789abcdef0123456789abcdef'
  const ids = await IdGenerator.connect({ coordinator: new Registry().coordinator, key })
  t.after(() => ids.close())
  const types = [
    ids.type(''),
    ids.type('usr_', { mask: true }),
    ids.type('e.', { kind: 'encrypted' }),
    ids.type('', { kind: 'sortable' })
  ]
  const { machineId } = ids
  const told = []
  ids.on('leaseLost', () => {
    for (const type of types) {
      for (const mint of [type.next, type.nextDb, type.nextPair]) {
        assert.throws(() => mint.call(type), { code: 'ERR_MINTID_LEASE_LOST', machineId })
      }
    }
    told.push('lost')
  })
  ids.relinquish()
  // Nothing is told while this thread is busy, but the next lease is there already.
  while (ids.machineId === machineId || ids.machineId === null);
  for (let n = 0; n < 1000; n++) for (const type of types) type.next()
  assert.deepEqual(told, [])
  await reacquired(ids)
  assert.deepEqual(told, ['lost'])
  for (const type of types) type.next()
})

test('what nobody listens to becomes one process warning each', async (t) => {
  const peer = new Peer(
    t,
    async ({ mintid, input, say }) => {
      process.on('warning', ({ name, code, message }) => say({ name, code, message }))
      const first = await mintid.IdGenerator.connect(input)
      const ids = await mintid.IdGenerator.connect({ ...input, lease: { renewEveryMs: 10_000 } })
      await first.close()
      for (let round = 0; round < 3; round++) {
        const { machineId } = ids
        ids.relinquish()
        while (ids.machineId === null || ids.machineId === machineId) await new Promise(setImmediate)
        await ids.ready()
      }
      await ids.close()
    },
    { coordinator: new Registry().coordinator }
  )
  const { code, said } = await peer.end()
  assert.equal(code, 0)
  const warnings = said.filter(({ name }) => name === 'MintidWarning')
  assert.deepEqual(warnings.map(({ code }) => code).sort(), ['MINTID_LEASE_LOST', 'OPTIONS_REPLACED'])
  assert.equal(said.length, warnings.length, JSON.stringify(said))
})

test('a listener that throws surfaces as an uncaught exception, and keeps nobody from hearing', async (t) => {
  const peer = new Peer(
    t,
    async ({ mintid, input, say }) => {
      process.on('uncaughtException', ({ message }) => say(message))
      const ids = new mintid.IdGenerator(input)
      ids.on('leaseAcquired', () => {
        throw new Error('a fault of the user')
      })
      const second = new Promise((resolve) => ids.on('leaseAcquired', resolve))
      await Promise.all([ids.ready(), second])
      say(ids.type('').next().length)
      await ids.close()
    },
    { coordinator: new Registry().coordinator }
  )
  assert.deepEqual([await peer.next(), await peer.next()].sort(), [11, 'a fault of the user'])
  assert.equal((await peer.end()).code, 0)
})

test('a closed generator hears nothing more', async (t) => {
  const { coordinator } = new Registry()
  const [closed, open] = [await IdGenerator.connect({ coordinator }), await IdGenerator.connect({ coordinator })]
  t.after(() => open.close())
  await closed.close()
  const events = recorded(closed)
  open.relinquish()
  await reacquired(open)
  assert.deepEqual(events, [])
})

test('when ready() is through, the lease it waited for was announced', async (t) => {
  const ids = new IdGenerator({ coordinator: new Registry().coordinator })
  t.after(() => ids.close())
  const announced = []
  ids.on('leaseAcquired', ({ machineId }) => announced.push(machineId))
  for (let lease = 1; lease <= 20; lease++) {
    await ids.ready()
    assert.equal(announced.length, lease)
    assert.equal(announced.at(-1), ids.machineId)
    ids.relinquish()
    await heard(ids, 'leaseLost')
  }
})

test('a lease is given up once, however often that is asked', async (t) => {
  const ids = await IdGenerator.connect({ coordinator: new Registry().coordinator })
  t.after(() => ids.close())
  let lost = 0
  ids.on('leaseLost', () => lost++)
  for (let call = 0; call < 1000; call++) ids.relinquish()
  await heard(ids, 'leaseAcquired')
  await ids.ready()
  assert.equal(lost, 1)
})
