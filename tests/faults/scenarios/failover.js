'use strict'

const { forgetting } = require('./going-back.js')

const SOME = { machineIds: { from: 0, to: 9 } }

/** The owner dies, and what takes over by itself has missed the last writes. */
const behind = forgetting(
  (coordinator) => coordinator.fallBehind(),
  async (coordinator, _kept, between) => {
    await coordinator.crash()
    between()
    await coordinator.takenOver()
  }
)

/** As an operator does it: nothing is lost, and whoever goes on asking the one before is told to go away. */
async function changedOver(stage) {
  const options = SOME
  const holders = await stage.holders(3, { options })
  await Promise.all(holders.map((holder) => holder.event('leaseRenewed')))
  stage.newcomer({ options })
  await stage.coordinator.changeOver()
  stage.faultEnds()
  stage.newcomer({ options })
  await stage.everybodyMints()
}

const of = (topology, title, run, more = {}) => ({ title, only: ['redis'], made: { topology }, run, ...more })

module.exports = {
  'sentinel-changeover': of('sentinel', 'Sentinel: SENTINEL FAILOVER', changedOver),
  'sentinel-failover': of('sentinel', 'Sentinel: a replica promoted that missed the last writes', behind, {
    short: true
  }),
  'cluster-failover': of('cluster', 'cluster: the owner killed, its replica missed the last writes', behind, {
    short: true,
    // It takes its nodes more than two seconds.
    lease: { ttlMs: 6000, firstTtlMs: 5000 }
  })
}
