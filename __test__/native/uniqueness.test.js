'use strict'

// Several processes and their Workers at once on one directory: no number twice.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { assertDistinct } = require('../support/numbers.js')
const { Peer } = require('../support/peer.js')
const { Registry } = require('../support/registry.js')

const KEY = '0123456789abcdef0123456789abcdef'
const KINDS = {
  counter: { kind: 'counter' },
  masked: { kind: 'counter', mask: true },
  sortable: { kind: 'sortable' },
  encrypted: { kind: 'encrypted' },
  'encrypted and sortable': { kind: 'encrypted', base: 'sortable' }
}
/** What shares a sequence: the first two are one space. */
const SPACES = [['counter', 'masked'], ['sortable'], ['encrypted'], ['encrypted and sortable']]
const [PROCESSES, WORKERS, ROUNDS, AT_ONCE] = [3, 2, 20, 500]

/** Mints under every kind in turn, in every way, and says the numbers of each kind. */
async function crowd({ input, say, hear, worker }) {
  async function minting({ mintid, input, hear, tell }) {
    const ids = await mintid.IdGenerator.connect(input.options)
    const types = Object.entries(input.kinds).map(([name, options]) => [name, ids.type('t.', options), []])
    tell('ready')
    await hear()
    for (let round = 0; round < input.rounds; round++) {
      for (const [, type, numbers] of types) {
        numbers.push(type.nextDb(), type.toDb(type.next()), type.nextPair().db)
        numbers.push(...type.nextManyDb(input.atOnce), ...type.toDbMany(type.nextMany(10)))
      }
    }
    const machineIds = types
      .slice(0, 3)
      .flatMap(([, type, numbers]) => numbers.map((number) => type.inspect(type.fromDb(number)).machineId))
    const byKind = types.map(([name, , numbers]) => [name, BigInt64Array.from(numbers)])
    tell({ machineIds: [...new Set(machineIds)], numbers: Object.fromEntries(byKind) })
  }
  const hands = Array.from({ length: input.workers }, () => worker(minting, input))
  for (const hand of hands) await hand.next()
  say('ready')
  await hear()
  for (const hand of hands) hand.tell('go')
  for (const hand of hands) say(await hand.next())
}

test('processes and Workers at once, all kinds: every number once, a machine ID for each process', async (t) => {
  const input = {
    options: { coordinator: new Registry().coordinator, key: KEY },
    kinds: KINDS,
    workers: WORKERS,
    rounds: ROUNDS,
    atOnce: AT_ONCE
  }
  const peers = Array.from({ length: PROCESSES }, () => new Peer(t, crowd, input))
  for (const peer of peers) await peer.next()
  for (const peer of peers) peer.tell('go')
  const threads = []
  const machineIds = []
  for (const peer of peers) {
    const own = [await peer.next(), await peer.next()]
    assert.deepEqual(own[0].machineIds, own[1].machineIds)
    assert.equal(own[0].machineIds.length, 1)
    machineIds.push(...own[0].machineIds)
    threads.push(...own)
    assert.equal((await peer.end()).code, 0)
  }
  assert.equal(new Set(machineIds).size, PROCESSES)
  const each = PROCESSES * WORKERS * ROUNDS * (AT_ONCE + 13)
  for (const kinds of SPACES) {
    const arrays = threads.flatMap(({ numbers }) => kinds.map((kind) => numbers[kind]))
    assert.equal(assertDistinct(arrays), each * kinds.length)
  }
})

test('a machine ID that goes from hand to hand mints no number twice', async (t) => {
  const registry = new Registry()
  const hands = 4
  const peers = Array.from(
    { length: hands },
    () =>
      new Peer(
        t,
        async ({ mintid, input, say }) => {
          const numbers = { counter: [], sortable: [] }
          for (let round = 0; round < 5; round++) {
            const ids = await mintid.IdGenerator.connect(input, { acquireTimeoutMs: Infinity })
            for (const kind of Object.keys(numbers)) numbers[kind].push(...ids.type('', { kind }).nextManyDb(2000))
            await ids.close()
          }
          say(Object.values(numbers).map((list) => BigInt64Array.from(list)))
        },
        registry.only(7)
      )
  )
  const said = await Promise.all(peers.map((peer) => peer.next()))
  for (const kind of [0, 1]) assert.equal(assertDistinct(said.map((numbers) => numbers[kind])), hands * 5 * 2000)
})

test('machine IDs by hand: one after another in a process, every number once', async (t) => {
  const peer = new Peer(t, async ({ mintid, say }) => {
    const numbers = { counter: [], sortable: [] }
    for (let round = 0; round < 200; round++) {
      const ids = await mintid.IdGenerator.connect({ machineId: 5 })
      for (const kind of Object.keys(numbers)) numbers[kind].push(...ids.type('', { kind }).nextManyDb(100))
      await ids.close()
    }
    say(Object.values(numbers).map((list) => BigInt64Array.from(list)))
  })
  for (const numbers of await peer.next()) assert.equal(assertDistinct([numbers]), 20_000)
})
