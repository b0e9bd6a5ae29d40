'use strict'

// A process whose generators are closed while they are renewed. Its argument is JSON: { options, files, rounds,
// renews }: for each file's namespace `rounds` generators, one after the other.

const { openSync } = require('node:fs')
const process = require('node:process')
const { setTimeout: pause } = require('node:timers/promises')
const { IdGenerator } = require('mintid')
const { Minter } = require('../minter.js')
const { hear, say } = require('../role.js')

const { options, files, rounds, renews } = JSON.parse(process.argv[2])
/** A renewal takes about 10 ms through the scenario's proxy: this goes through all the moments around its beginning. */
const BESIDE_MS = 12
const AGAIN = ['ERR_MINTID_EXHAUSTED', 'ERR_MINTID_ACQUIRE_TIMEOUT']
const PACE = { singles: 2, many: 20 }
/** Nobody else holds a generator that only waits for its own event: it would be collected, and the wait with it. */
const alive = new Set()
const totals = { closed: 0, renewed: 0, released: 0, late: 0 }

async function main() {
  hear({ close: () => ({ minted: 0 }) })
  await Promise.all(files.map(inNamespace))
  say({ event: 'done', ...totals })
}

async function inNamespace({ namespace, file }, index) {
  const records = openSync(file, 'a')
  for (let round = 0; round < rounds; round++) await closedInTime({ ...options, namespace }, records, index + round)
}

/** Mints, waits until a renewal is about to begin, under way or just over, and closes. */
async function closedInTime(options, records, round) {
  const ids = new IdGenerator(options)
  ids.on('leaseRenewed', () => totals.renewed++)
  ids.on('leaseReleased', () => totals.released++)
  for (const event of ['warning', 'leaseLost']) ids.on(event, () => {})
  alive.add(ids)
  await patiently(ids)
  const minter = new Minter(ids, records, (event) => event.event === 'unexpected' && say(event))
  minter.round(PACE)
  const beside = (round % (2 * BESIDE_MS)) - BESIDE_MS
  if (renews) {
    await new Promise((resolve) => ids.once('leaseRenewed', resolve))
    await pause(options.lease.renewEveryMs + beside)
  } else await pause(BESIDE_MS + beside)
  minter.round(PACE)
  const closed = ids.close()
  minter.round(PACE)
  await closed
  const before = minter.made
  minter.round(PACE)
  if (minter.made > before) say({ event: 'unexpected', code: 'MINTED_AFTER_CLOSE', message: options.namespace })
  alive.delete(ids)
  totals.closed++
}

/** Waits for the one machine ID; if the one before did not give it back, until its lease has run out. */
async function patiently(ids) {
  let refused = false
  ids.on('leaseRetry', ({ error }) => {
    if (error.code === 'ERR_MINTID_EXHAUSTED' && !refused) totals.late++
    refused = true
  })
  for (;;) {
    try {
      return await ids.ready()
    } catch (error) {
      if (!AGAIN.includes(error.code)) throw error
    }
  }
}

main()
