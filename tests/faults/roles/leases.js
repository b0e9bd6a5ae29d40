'use strict'

// A process that holds leases and mints nothing: one for each URL, which the pool takes for registries of their own. Its
// argument is JSON: { urls, options }.

const process = require('node:process')
const { IdGenerator, idType } = require('mintid')
const { now } = require('../clock.js')
const { described, hear, say } = require('../role.js')

const { urls, options } = JSON.parse(process.argv[2])
const generators = urls.map((coordinator) => new IdGenerator({ ...options, coordinator }))

for (const ids of generators) {
  ids.on('leaseRenewed', ({ durationMs, source }) => say({ event: 'renewed', durationMs, source }))
  ids.on('leaseRetry', ({ operation, error }) => say({ event: 'retry', operation, error: described(error) }))
  ids.on('leaseLost', ({ reason }) => say({ event: 'lost', reason }))
}

async function connected(ids) {
  const began = now()
  const acquired = new Promise((resolve) => ids.once('leaseAcquired', resolve))
  await ids.ready()
  const { durationMs, machineId } = await acquired
  say({ event: 'acquired', machineId, durationMs, waitedMs: now() - began })
}

hear({
  async connect() {
    await Promise.all(generators.map(connected))
  },

  async close() {
    await Promise.all(generators.map((ids) => ids.close()))
    return { minted: 0 }
  }
})

// Loads native code: what that takes is not the coordinator's.
idType('').fromDb(1n)
say({ event: 'up' })
