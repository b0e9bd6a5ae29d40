'use strict'

// One lease for all threads and all handles of a process.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { assertDistinct } = require('../support/numbers.js')
const { Peer } = require('../support/peer.js')
const { Registry } = require('../support/registry.js')
const { assertFree, successor } = require('../support/succession.js')

test('all threads of a process mint under one machine ID, each nonce once', async (t) => {
  const { coordinator } = new Registry()
  const peer = new Peer(
    t,
    async ({ mintid, input, say, worker }) => {
      async function minting({ mintid, input, tell, hear }) {
        const ids = await mintid.IdGenerator.connect(input)
        tell('ready')
        await hear()
        const type = ids.type('')
        const numbers = new BigInt64Array(20_000).map(() => type.nextDb())
        tell({ machineId: ids.machineId, numbers })
      }
      const ids = await mintid.IdGenerator.connect(input)
      const workers = [1, 2, 3].map(() => worker(minting, input))
      await Promise.all(workers.map((hand) => hand.next()))
      for (const hand of workers) hand.tell('mint')
      const type = ids.type('')
      say({ machineId: ids.machineId, numbers: type.nextManyDb(20_000) })
      for (const hand of workers) say(await hand.next())
    },
    { coordinator }
  )
  const threads = [await peer.next(), await peer.next(), await peer.next(), await peer.next()]
  assert.equal(new Set(threads.map(({ machineId }) => machineId)).size, 1)
  assert.equal(assertDistinct(threads.map(({ numbers }) => numbers)), 80_000)
  for (const { numbers } of threads) assert.deepEqual(numbers, numbers.slice().sort())
  assert.equal((await peer.end()).code, 0)
})

test('a Worker that loaded the addon first ends: the next one goes on after it', async (t) => {
  const registry = new Registry()
  for (const source of [registry.only(4), { machineId: 4 }]) {
    const peer = new Peer(
      t,
      async ({ input, say, worker }) => {
        async function minting({ mintid, input, tell }) {
          const ids = await mintid.IdGenerator.connect(input)
          tell(ids.type('').nextManyDb(50_000))
        }
        for (let round = 0; round < 6; round++) {
          const hand = worker(minting, input)
          const numbers = await hand.next()
          if (round % 2) await hand.terminate()
          else await hand.ended
          const maps = process.platform === 'linux' && require('node:fs').readFileSync('/proc/self/maps', 'utf8')
          say({ numbers, pinned: maps ? /mintid\S*\.node/.test(maps) : true })
        }
      },
      source
    )
    let last = 0n
    for (let round = 0; round < 6; round++) {
      const { numbers, pinned } = await peer.next()
      assert.ok(numbers[0] > last)
      assert.ok(pinned, 'the addon was unloaded with the Worker')
      last = numbers.at(-1)
    }
    assert.equal((await peer.end()).code, 0)
  }
})

test('one of two generators closes: the other goes on; the last one releases the lease', async (t) => {
  const registry = new Registry()
  const peer = new Peer(
    t,
    async ({ mintid, input, use, say, hear }) => {
      const connect = () => mintid.IdGenerator.connect(input)
      const [one, other] = [await connect(), await connect()]
      const type = one.type('')
      type.next()
      await one.close()
      const refused = (() => {
        try {
          type.next()
        } catch (error) {
          return error.code
        }
      })()
      use(other)
      say({ refused, machineId: other.machineId, closed: one.machineId })
      await hear()
      const last = use(other)
      await other.close()
      say({ last })
      await hear()
    },
    registry.only(3)
  )
  assert.deepEqual(await peer.next(), { refused: 'ERR_MINTID_CLOSED', machineId: 3, closed: null })
  const early = new Peer(t, successor, { ...registry.only(3), lease: { acquireTimeoutMs: 20 } })
  const { code, stderr } = await early.end()
  assert.notEqual(code, 0)
  assert.match(stderr, /ERR_MINTID_EXHAUSTED/)
  peer.tell('close the other')
  const { last } = await peer.next()
  assert.equal(registry.endOf(3), last)
  await assertFree(t, registry, 3, last)
})

test('the end of the last Worker releases the lease, however it ends', async (t) => {
  const ends = ['by itself', 'process.exit', 'terminate']
  for (const how of ends) {
    const registry = new Registry()
    const peer = new Peer(
      t,
      async ({ input, say, hear, worker }) => {
        async function minting({ mintid, input, use, tell, hear }) {
          tell(use(await mintid.IdGenerator.connect(input.options)))
          if (input.how === 'process.exit') process.exit()
          if (input.how === 'terminate') await hear()
        }
        const [hand, other] = [worker(minting, input), worker(minting, { ...input, how: 'by itself' })]
        const last = Math.max(await hand.next(), await other.next())
        await other.ended
        if (input.how === 'terminate') await hand.terminate()
        await hand.ended
        say(last)
        await hear()
      },
      { how, options: registry.only(3) }
    )
    const last = await peer.next()
    assert.equal(registry.endOf(3), last, how)
    await assertFree(t, registry, 3, last)
  }
})

test('a generator that was forgotten gives its lease up', async (t) => {
  const registry = new Registry()
  const peer = new Peer(
    t,
    async ({ mintid, input, say, hear }) => {
      const collected = new Promise((resolve) => {
        globalThis.finalization = new FinalizationRegistry(resolve)
      })
      await (async () => {
        const ids = await mintid.IdGenerator.connect(input)
        ids.on('leaseLost', () => ids.machineId)
        const type = ids.type('')
        type.next()
        globalThis.finalization.register(ids)
      })()
      let gone = false
      collected.then(() => {
        gone = true
      })
      while (!gone) {
        await new Promise(setImmediate)
        globalThis.gc()
      }
      say('forgotten')
      await hear()
    },
    registry.only(2),
    { execArgv: ['--expose-gc'] }
  )
  assert.equal(await peer.next(), 'forgotten')
  const { machineId } = await new Peer(t, successor, registry.only(2)).next()
  assert.equal(machineId, 2)
})

test('a type keeps its generator: what is still used is not given up', async (t) => {
  const registry = new Registry()
  const peer = new Peer(
    t,
    async ({ mintid, input, say }) => {
      const type = (await mintid.IdGenerator.connect(input)).type('')
      for (let round = 0; round < 20; round++) {
        await new Promise(setImmediate)
        globalThis.gc()
      }
      say(type.nextDb())
    },
    registry.only(2),
    { execArgv: ['--expose-gc'] }
  )
  assert.ok((await peer.next()) > 0n)
})
