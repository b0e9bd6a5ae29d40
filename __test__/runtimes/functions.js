'use strict'

// Run by runtimes.test.js on each runtime: the functions of a custom coordinator are called, whatever they do, and keep
// nothing alive.

const { IdGenerator } = require('mintid')
const { heard } = require('../support/events.js')
const { MapCoordinator } = require('../support/map-coordinator.js')

async function main() {
  const coordinator = new MapCoordinator()
  const ids = await IdGenerator.connect({
    coordinator,
    lease: { ttlMs: 30_000, firstTtlMs: 3000, renewEveryMs: 100, requestTimeoutMs: 100 }
  })
  await heard(ids, 'leaseRenewed')
  const { renew } = coordinator
  coordinator.renew = () => {
    throw new Error('no route')
  }
  console.log((await heard(ids, 'leaseRetry')).error.message)
  coordinator.renew = ({ signal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', reject))
  console.log((await heard(ids, 'leaseRetry', ({ error }) => /answer/.test(error.message))).error.message)
  coordinator.renew = renew
  await heard(ids, 'leaseRenewed')
  ids.type('').next()
  await ids.close()
  console.log(coordinator.requests('release').length)
  const forgotten = await IdGenerator.connect({ coordinator })
  console.log(forgotten.machineId)
}

main()
