'use strict'

// Copies of the module in one process: by import and require, after a cleared cache, in two installed folders.

const assert = require('node:assert/strict')
const { cpSync, readdirSync } = require('node:fs')
const { dirname, join } = require('node:path')
const { test } = require('node:test')
const { assertDistinct } = require('../support/numbers.js')
const { Peer } = require('../support/peer.js')
const { Registry, temporaryDirectory } = require('../support/registry.js')

test('import and require give one module and share one lease', async (t) => {
  const peer = new Peer(
    t,
    async ({ mintid, input, say }) => {
      const imported = await import('mintid')
      const [one, other] = [await mintid.IdGenerator.connect(input), await imported.IdGenerator.connect(input)]
      say({
        same: Object.keys(mintid).every((name) => mintid[name] === imported[name]),
        machineIds: [one.machineId, other.machineId],
        numbers: [one, other].map((ids) => ids.type('').nextManyDb(1000))
      })
    },
    { coordinator: new Registry().coordinator }
  )
  const { numbers, ...seen } = await peer.next()
  assert.deepEqual(seen, { same: true, machineIds: [0, 0] })
  assertDistinct(numbers)
  assert.equal((await peer.end()).code, 0)
})

test('a copy from a cleared module cache shares lease, counters, default generator and errors', async (t) => {
  const peer = new Peer(
    t,
    async ({ mintid, input, say }) => {
      // What is read later comes from the newer copy.
      const { IdGenerator } = mintid
      const userId = mintid.idType('usr_')
      const ids = await mintid.start(input)
      const numbers = [ids.type('').nextManyDb(10_000)]
      const root = require('node:path').dirname(require.resolve('mintid'))
      const cleared = Object.keys(require.cache).filter((file) => file.startsWith(root) && !file.includes('__test__'))
      for (const file of cleared) delete require.cache[file]
      const copy = require('mintid')
      const other = await copy.IdGenerator.connect(input)
      numbers.push(other.type('').nextManyDb(10_000), ids.type('').nextManyDb(10_000))
      const orderId = copy.idType('ord_')
      const error = (() => {
        try {
          copy.idType('usr_').toDb('usr_')
        } catch (error) {
          return error
        }
      })()
      const rounds = new BigInt64Array(2000).map((_, index) => (index % 2 ? orderId : userId).nextPair().db)
      say({
        addonWasCleared: cleared.some((file) => file.endsWith('.node')),
        copied: copy.IdGenerator !== IdGenerator,
        machineIds: [ids.machineId, other.machineId],
        numbers: [...numbers, rounds],
        bound: copy.idType('x', { generator: ids }).next().length,
        instances: [error instanceof mintid.InvalidIdError, error instanceof copy.MintidError]
      })
      await ids.close()
      const refused = (() => {
        try {
          orderId.next()
        } catch (error) {
          return error instanceof mintid.ClosedError
        }
      })()
      say({ refused, goesOn: other.type('').next().length })
    },
    { coordinator: new Registry().coordinator }
  )
  const { numbers, ...seen } = await peer.next()
  assert.deepEqual(seen, {
    addonWasCleared: true,
    copied: true,
    machineIds: [0, 0],
    bound: 12,
    instances: [true, true]
  })
  assert.equal(assertDistinct(numbers), 32_000)
  assert.deepEqual(await peer.next(), { refused: true, goesOn: 11 })
  assert.equal((await peer.end()).code, 0)
})

test('two installed copies take two leases', async (t) => {
  const [one, other] = [installedCopy(), installedCopy()]
  const peer = new Peer(
    t,
    async ({ input, say }) => {
      const [one, other] = input.copies.map((folder) => require(folder))
      const [mine, theirs] = [
        await one.IdGenerator.connect(input.options),
        await other.IdGenerator.connect(input.options)
      ]
      say({
        machineIds: [mine.machineId, theirs.machineId],
        numbers: [mine, theirs].map((ids) => ids.type('').nextManyDb(50_000))
      })
      await mine.close()
      say(theirs.type('').next().length)
    },
    { copies: [one, other], options: { coordinator: new Registry().coordinator } }
  )
  const { machineIds, numbers } = await peer.next()
  assert.deepEqual(machineIds, [0, 1])
  assert.equal(assertDistinct(numbers), 100_000)
  assert.equal(await peer.next(), 11)
  assert.equal((await peer.end()).code, 0)
})

/** A folder with what the package consists of. */
function installedCopy() {
  const root = dirname(require.resolve('mintid'))
  const folder = temporaryDirectory()
  const parts = readdirSync(root).filter((name) => /^(?:index\.js|binding\.js|package\.json|js|.*\.node)$/.test(name))
  for (const part of parts) cpSync(join(root, part), join(folder, part), { recursive: true })
  return folder
}
