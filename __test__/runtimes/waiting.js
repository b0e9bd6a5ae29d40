'use strict'

// Run by runtimes.test.js on each runtime: a pending ready() keeps the process alive, a generator with listeners does not.

const { IdGenerator } = require('mintid')

const [occupied, free] = process.argv.slice(2).map((coordinator) => ({ coordinator, machineIds: { from: 1, to: 1 } }))

async function main() {
  await new IdGenerator(occupied).ready({ acquireTimeoutMs: 300 }).catch(({ code }) => console.log(code))
  const ids = new IdGenerator(free)
  for (const event of ['leaseAcquired', 'leaseRenewed', 'leaseRetry', 'leaseLost']) ids.on(event, () => {})
  await ids.ready()
  console.log(ids.type('usr_').next().length)
}

main()
