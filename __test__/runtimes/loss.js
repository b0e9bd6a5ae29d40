'use strict'

// Run by runtimes.test.js on each runtime. A Worker gives the lease up, and says when it has heard of the loss; the main
// thread meanwhile makes IDs in a loop that lets it do nothing else. What it gets after that must not be of that lease.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { Worker, isMainThread, parentPort, workerData } = require('node:worker_threads')
const { IdGenerator } = require('mintid')

const ROUNDS = 40
const END = 0n
const METHODS = ['next', 'nextDb', 'nextPair']
const LOST = { code: 'ERR_MINTID_LEASE_LOST' }

/** Many machine IDs, so that the next lease has another one; many IDs a millisecond, so that no loop waits. */
const LAYOUT = { time: 41, machine: 8, sequence: 15 }

/** In the memory that both threads see: the round whose loss the Worker has heard of, and when that was. */
const HEARD = 0
const WHEN = 1

/** Most of this long after the Worker has heard of a loss, slow loops have ended, too. */
const SOON_MS = 50

/** Loops that end with an error. Each is compiled for one method, so that the engine can do its best. */
const LOOPS = {
  /** Looks before each ID whether the loss was heard of, and gives back the first that was made after that. */
  watching: (method) => `
    for (;;) {
      const heard = Atomics.load(shared, ${HEARD}) === round
      const id = type.${method}()
      if (heard) return id
    }`,

  /** Does nothing else for so long that the engine may think that nothing changes. */
  blind: (method) => `
    for (;;) {
      const heard = Atomics.load(shared, ${HEARD}) === round
      const id = type.${method}()
      for (let i = 0; i < 20000; i++) type.${method}()
      if (heard) return id
    }`,

  /** Makes few IDs: those that are kept ready would last for a while. */
  slow: (method) => `
    for (let sum = 1; ; ) {
      const heard = Atomics.load(shared, ${HEARD}) === round
      const id = type.${method}()
      for (let i = 0; i < 300; i++) {
        type.${method}()
        for (let k = 0; k < 1000000; k++) sum = (Math.imul(sum, 31) + k) | 0
      }
      if (heard || sum === 0.5) return id
    }`
}

async function main() {
  const [coordinator] = process.argv.slice(2)
  const options = { coordinator, layout: LAYOUT }
  const ids = new IdGenerator(options)
  const [types, news] = [METHODS.map((method) => [method, ids.type(`${method}_`, { mask: false })]), []]
  ids.on('leaseAcquired', ({ machineId }) => news.push(machineId))
  ids.on('leaseLost', () => {
    news.push('lost')
    for (const [method, type] of types) assert.throws(() => type[method](), LOST)
  })
  ids.on('leaseReleased', () => news.push('released'))
  await ids.ready()
  assert.deepEqual(news, [ids.machineId], 'ready() settled before its leaseAcquired was heard')

  const shared = new BigInt64Array(new SharedArrayBuffer(16))
  const worker = new Worker(__filename, { workerData: { options, shared } })
  await once(worker, 'message')
  let round = 0n
  for (const [loop, source] of Object.entries(LOOPS)) {
    for (const [method, type] of types) {
      const run = new Function('type', 'shared', 'round', `'use strict'; ${source(method)}`)
      const delays = []
      let refused = 0
      for (let n = 0; n < ROUNDS; n++) {
        round++
        const lost = ids.machineId
        const told = once(worker, 'message')
        const heard = once(ids, 'leaseLost')
        worker.postMessage(round)
        refused += outcome(() => run(type, shared, round), type, lost)
        delays.push(Date.now() - Number(Atomics.load(shared, WHEN)))
        await heard
        await ids.ready()
        assert.deepEqual(news.slice(-2), ['lost', ids.machineId], 'ready() settled before its leaseAcquired was heard')
        await told
      }
      assert.ok(refused > 0, `${loop} ${method}: no loop met the time without a lease`)
      const delay = delays.sort((a, b) => a - b)[ROUNDS >> 1]
      if (loop === 'slow') assert.ok(delay < SOON_MS, `${method} went on for ${delay} ms`)
      console.log(`${loop} ${method}: ${refused} of ${ROUNDS} refused, ${delay} ms after the loss was heard of`)
    }
  }
  const closed = once(worker, 'message')
  worker.postMessage(END)
  await closed
  await worker.terminate()
  await ids.close()
  assert.equal(news.at(-1), 'released', 'close() settled before its leaseReleased was heard')
}

/** 1 if a loop was refused, 0 if it met the next lease first. */
function outcome(run, type, lost) {
  let made
  try {
    made = run()
  } catch (error) {
    if (error.code !== LOST.code) throw error
    return 1
  }
  const id = typeof made === 'bigint' ? type.fromDb(made) : (made.id ?? made)
  assert.notEqual(type.inspect(id).machineId, lost, 'an ID of a lease whose loss was heard of before')
  return 0
}

async function giveUp({ options, shared }) {
  const ids = await IdGenerator.connect(options)
  let round
  ids.on('leaseLost', () => {
    Atomics.store(shared, WHEN, BigInt(Date.now()))
    Atomics.store(shared, HEARD, round)
  })
  ids.on('leaseAcquired', () => parentPort.postMessage('held'))
  parentPort.on('message', async (next) => {
    round = next
    if (round !== END) return ids.relinquish()
    await ids.close()
    parentPort.postMessage('closed')
  })
  parentPort.postMessage('held')
}

if (isMainThread) main()
else giveUp(workerData)
