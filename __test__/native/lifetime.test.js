'use strict'

// A generator never keeps a process alive, except for a pending ready or close; and however a process ends, its machine
// ID is free at once.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Peer } = require('../support/peer.js')
const { Registry } = require('../support/registry.js')
const { assertFree, assertGivenBack } = require('../support/succession.js')

/** Ways for a process to forget `close()`. Each says the last timestamp that it used. */
const FORGETFUL = {
  'right after the first ID': async ({ mintid, input, use, say }) => {
    const ids = await mintid.IdGenerator.connect(input)
    say(use(ids))
  },
  'as the default generator': async ({ mintid, input, use, say }) => {
    const ids = await mintid.start(input)
    mintid.idType('usr_').next()
    say(use(ids))
  },
  'with listeners, timeouts and signals attached': async ({ mintid, input, use, say }) => {
    const ids = new mintid.IdGenerator(input)
    for (const event of ['leaseAcquired', 'leaseRenewed', 'leaseRetry', 'leaseLost', 'warning']) ids.on(event, () => {})
    const options = { signal: new AbortController().signal, acquireTimeoutMs: Infinity }
    await Promise.all([ids.ready(options), ids.ready(options), ids.ready()])
    say(use(ids))
  },
  'after a loss, while the next lease is on its way': async ({ mintid, input, use, say }) => {
    const ids = await mintid.IdGenerator.connect(input)
    say(use(ids))
    ids.on('leaseLost', () => {})
    ids.relinquish('and leave')
  },
  'with a Worker that forgot it too': async ({ mintid, input, say, worker }) => {
    const hand = worker(async ({ mintid, input, use, tell }) => {
      const ids = await mintid.IdGenerator.connect(input)
      tell(use(ids))
    }, input)
    await hand.next()
    const ids = await mintid.IdGenerator.connect(input)
    say(use(ids))
  }
}

for (const [how, body] of Object.entries(FORGETFUL)) {
  test(`a process that forgets close() ends by itself and gives its lease back: ${how}`, async (t) => {
    const registry = new Registry()
    const peer = new Peer(t, body, registry.only(1))
    const last = await peer.next()
    const { code, stderr } = await peer.end()
    assert.deepEqual([code, stderr], [0, ''])
    assertGivenBack(registry, 1, last)
    await assertFree(t, registry, 1, last)
  })
}

/** Ways to end in the middle of work. Each says the last timestamp that it used, and ends with the given code. */
const ENDING = {
  'process.exit': [
    3,
    async ({ mintid, input, use, say }) => {
      const ids = await mintid.IdGenerator.connect(input)
      say(use(ids))
      process.exit(3)
    }
  ],
  'process.exit while ready() is pending': [
    4,
    async ({ mintid, input, use, say }) => {
      const ids = await mintid.IdGenerator.connect(input)
      ids.ready()
      new mintid.IdGenerator(input).ready()
      say(use(ids))
      process.exit(4)
    }
  ],
  'an exception that nobody catches': [
    1,
    async ({ mintid, input, use, say }) => {
      const ids = await mintid.IdGenerator.connect(input)
      say(use(ids))
      setImmediate(() => {
        throw new Error('nobody catches this')
      })
    }
  ],
  'minting until the last moment': [
    0,
    async ({ mintid, input, use, say }) => {
      const ids = await mintid.IdGenerator.connect(input)
      process.on('exit', () => say(use(ids)))
    }
  ]
}

for (const [how, [expected, body]] of Object.entries(ENDING)) {
  test(`a lease is given back by ${how}`, async (t) => {
    const registry = new Registry()
    const peer = new Peer(t, body, registry.only(1))
    const last = await peer.next()
    const { code, signal, stderr } = await peer.end()
    assert.deepEqual([code, signal], [expected, null])
    assert.equal(stderr.includes('nobody catches this'), code === 1)
    assertGivenBack(registry, 1, last)
    await assertFree(t, registry, 1, last)
  })
}

for (const signal of ['SIGTERM', 'SIGINT', 'SIGKILL']) {
  test(`${signal} ends a holder as it ends any process, and its machine ID is free at once`, async (t) => {
    const registry = new Registry()
    const peer = new Peer(
      t,
      async ({ mintid, input, use, say }) => {
        const ids = await mintid.IdGenerator.connect(input)
        say(use(ids))
        setInterval(() => {}, 1 << 30)
      },
      registry.only(1)
    )
    const last = await peer.next()
    peer.kill(signal)
    assert.deepEqual(await peer.end(), { code: null, signal, said: [], stderr: '' })
    await assertFree(t, registry, 1, last)
  })
}

test('a pending ready() keeps the process alive until there is a lease', async (t) => {
  const registry = new Registry()
  const holder = new Peer(
    t,
    async ({ mintid, input, say, hear }) => {
      const ids = await mintid.IdGenerator.connect(input)
      say('held')
      await hear()
      await ids.close()
    },
    registry.only(1)
  )
  await holder.next()
  const waiting = new Peer(
    t,
    async ({ mintid, input, say }) => {
      const ids = new mintid.IdGenerator(input)
      ids.once('leaseRetry', () => say('waiting'))
      ids.ready({ acquireTimeoutMs: Infinity }).then(() => say(ids.machineId))
    },
    registry.only(1)
  )
  assert.equal(await waiting.next(), 'waiting')
  holder.tell('go')
  assert.equal(await waiting.next(), 1)
  assert.equal((await waiting.end()).code, 0)
})

test('a ready() that was aborted keeps nothing alive', async (t) => {
  const registry = new Registry()
  const holder = new Peer(
    t,
    async ({ mintid, input, say, hear }) => {
      await mintid.IdGenerator.connect(input)
      say('held')
      await hear()
    },
    registry.only(1)
  )
  await holder.next()
  const waiting = new Peer(
    t,
    async ({ mintid, input, say }) => {
      const ids = new mintid.IdGenerator(input)
      const controller = new AbortController()
      ids.once('leaseRetry', () => controller.abort(new Error('enough')))
      await ids.ready({ signal: controller.signal, acquireTimeoutMs: Infinity }).catch(say)
    },
    registry.only(1)
  )
  assert.equal((await waiting.next()).message, 'enough')
  assert.equal((await waiting.end()).code, 0)
})

test('a pending close() keeps the process alive until the lease is given back', async (t) => {
  const registry = new Registry()
  const peer = new Peer(
    t,
    async ({ mintid, input, say }) => {
      const ids = await mintid.IdGenerator.connect(input)
      ids.close().then(() => say('closed'))
    },
    registry.only(1)
  )
  assert.equal(await peer.next(), 'closed')
  assert.equal((await peer.end()).code, 0)
})
