'use strict'

// A custom coordinator's functions belong to one thread: however that thread or the process ends, nothing hangs, nothing
// crashes, and nothing is kept alive.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Peer } = require('../support/peer.js')

/** Ways for a process to end while a function is at work, or a lease is held. */
const ENDS = {
  'a lease is held': async ({ mintid, say }) => {
    const { MapCoordinator } = require('./map-coordinator.js')
    const ids = await mintid.IdGenerator.connect({ coordinator: new MapCoordinator() })
    ids.type('').next()
    say('there')
  },
  'an acquire never ends': async ({ mintid, say }) => {
    const acquire = () => new Promise(() => say('there'))
    const ids = new mintid.IdGenerator({ coordinator: { acquire, renew() {}, release() {} } })
    ids.ready({ signal: AbortSignal.timeout(50) }).catch(() => {})
  },
  'a renewal never ends': async ({ mintid, say }) => {
    const { MapCoordinator } = require('./map-coordinator.js')
    const coordinator = new MapCoordinator()
    const renewing = new Promise((resolve) => {
      coordinator.renew = () => new Promise(resolve)
    })
    const ids = await mintid.IdGenerator.connect({ coordinator, lease: { ttlMs: 3000, renewEveryMs: 100 } })
    const alive = setInterval(() => {}, 1000)
    await Promise.race([renewing, new Promise((resolve) => ids.once('leaseRetry', resolve))])
    clearInterval(alive)
    ids.type('').next()
    say('there')
  }
}

for (const [when, scene] of Object.entries(ENDS)) {
  test(`a process ends by itself while ${when}`, async (t) => {
    const peer = new Peer(t, scene)
    assert.deepEqual(await peer.end(), { code: 0, signal: null, said: ['there'], stderr: '' })
  })

  test(`process.exit while ${when}`, async (t) => {
    const exiting = `async (scene) => {
      const say = (value) => { scene.say(value); process.exit(7) }
      await (${scene})({ ...scene, say })
      setInterval(() => {}, 1000)
    }`
    const peer = new Peer(t, exiting)
    assert.deepEqual(await peer.end(), { code: 7, signal: null, said: ['there'], stderr: '' })
  })

  test(`a Worker is terminated, and another ends by itself, while ${when}`, async (t) => {
    const peer = new Peer(
      t,
      async ({ worker, say, input }) => {
        const scene = `async (scene) => {
          if (scene.input.stays) scene.hear()
          await (${input.scene})({ ...scene, say: scene.tell })
        }`
        const [terminated, other] = [worker(scene, { stays: true }), worker(scene)]
        say([await terminated.next(), await other.next()])
        await terminated.terminate()
        await Promise.all([terminated.ended, other.ended])
        say('alive')
      },
      { scene: String(scene) }
    )
    const { said, ...end } = await peer.end()
    assert.deepEqual(end, { code: 0, signal: null, stderr: '' })
    assert.deepEqual(said, [['there', 'there'], 'alive'])
  })
}

test('a pending ready() keeps the process alive, and its functions are called', async (t) => {
  const peer = new Peer(t, async ({ mintid, say }) => {
    const { MapCoordinator } = require('./map-coordinator.js')
    const coordinator = new MapCoordinator()
    let left = 3
    const acquire = coordinator.acquire
    coordinator.acquire = (request) => (left-- > 0 ? null : acquire.call(coordinator, request))
    const ids = new mintid.IdGenerator({ coordinator })
    ids.ready().then(() => say(ids.machineId))
  })
  assert.deepEqual(await peer.end(), { code: 0, signal: null, said: [0], stderr: '' })
})

test('a pending close() keeps the process alive until the lease is given back', async (t) => {
  const peer = new Peer(t, async ({ mintid, say }) => {
    const { MapCoordinator } = require('./map-coordinator.js')
    const coordinator = new MapCoordinator()
    coordinator.release = async () => {
      await new Promise((resolve) => setTimeout(resolve, 50).unref())
      say('given back')
    }
    const ids = await mintid.IdGenerator.connect({ coordinator })
    ids.close().then(() => say('closed'))
  })
  assert.deepEqual(await peer.end(), { code: 0, signal: null, said: ['given back', 'closed'], stderr: '' })
})

test('what was forgotten is collected, and gives its lease back', async (t) => {
  const peer = new Peer(
    t,
    async ({ mintid, say }) => {
      const { MapCoordinator } = require('./map-coordinator.js')
      const coordinator = new MapCoordinator()
      const connect = async () => {
        await mintid.IdGenerator.connect({ coordinator })
      }
      await connect()
      while (coordinator.requests('release').length === 0) {
        globalThis.gc()
        await new Promise((resolve) => setImmediate(resolve))
      }
      say(coordinator.requests('release')[0].machineId)
    },
    {},
    { execArgv: ['--expose-gc'] }
  )
  assert.deepEqual(await peer.end(), { code: 0, signal: null, said: [0], stderr: '' })
})

test('functions run on the thread that made the generator, and no two threads share a lease', async (t) => {
  const peer = new Peer(t, async ({ worker, say }) => {
    async function minting({ mintid, tell, hear }) {
      const { threadId } = require('node:worker_threads')
      const { MapCoordinator } = require('./map-coordinator.js')
      const coordinator = new MapCoordinator()
      const { acquire } = coordinator
      const threads = []
      coordinator.acquire = (request) => {
        threads.push(require('node:worker_threads').threadId === threadId)
        return acquire.call(coordinator, request)
      }
      const machineIds = { from: threadId, to: threadId }
      const ids = await mintid.IdGenerator.connect({ coordinator, machineIds })
      tell({ threads, own: ids.machineId === threadId })
      await hear()
      await ids.close()
      tell(coordinator.requests('release').length)
    }
    const hands = [worker(minting), worker(minting)]
    say(await Promise.all(hands.map((hand) => hand.next())))
    for (const hand of hands) hand.tell('go')
    say(await Promise.all(hands.map((hand) => hand.next())))
  })
  const each = { threads: [true], own: true }
  assert.deepEqual((await peer.end()).said, [
    [each, each],
    [1, 1]
  ])
})

test('the end of a thread waits for none of its own functions', async (t) => {
  const peer = new Peer(t, async ({ worker, say }) => {
    async function minting({ mintid }) {
      const acquire = () => new Promise(() => {})
      const ids = new mintid.IdGenerator({ coordinator: { acquire, renew() {}, release() {} } })
      await ids.ready({ signal: AbortSignal.timeout(10) }).catch(() => {})
    }
    const began = performance.now()
    for (let count = 0; count < 10; count++) await worker(minting).ended
    say(performance.now() - began)
  })
  // Half a second each is what the end of a thread waits for others.
  assert.ok((await peer.next()) < 4000)
})

test('the end of a process waits for none of its functions, wherever they are', async (t) => {
  async function exiting({ mintid, say, worker }) {
    async function acquiring({ mintid, tell, hear }) {
      const acquire = () => new Promise(() => tell('asked'))
      new mintid.IdGenerator({ coordinator: { acquire, renew() {}, release() {} } }).ready().catch(() => {})
      await hear()
    }
    await worker(acquiring).next()
    const acquire = () => {
      process.once('exit', () => say(Date.now()))
      process.exit()
    }
    await new mintid.IdGenerator({ coordinator: { acquire, renew() {}, release() {} } }).ready()
  }
  // The best of a few, since others may keep this machine busy: half a second each is what would be waited.
  const took = []
  while (took.length < 5 && !(Math.min(...took) < 400)) {
    const peer = new Peer(t, exiting)
    const began = await peer.next()
    assert.deepEqual(await peer.end(), { code: 0, signal: null, said: [], stderr: '' })
    took.push(Date.now() - began)
  }
  assert.ok(Math.min(...took) < 400, `${took} ms`)
})
