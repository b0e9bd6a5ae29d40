'use strict'

const { now } = require('../clock.js')
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

/**
 * As an operator does it: Sentinel demotes the primary about ten seconds after it has promoted another, and until then
 * both grant. Whoever holds a lease of the first is put back by the second before that grants anything to newcomers.
 */
async function changedOver(stage) {
  const options = SOME
  const holders = await stage.holders(3, { options })
  await Promise.all(holders.map((holder) => holder.event('leaseRenewed')))
  const late = stage.newcomer({ options })
  await stage.coordinator.changeOver()
  stage.faultEnds()
  stage.newcomer({ options })
  await stage.coordinator.demoted()
  const moment = now()
  await Promise.all([...holders, late].map((holder) => holder.event('leaseRenewed', { after: moment })))
  await stage.everybodyMints()
}

/** Longer than two servers grant at once. */
const LONG = { ttlMs: 20_000, firstTtlMs: 15_000 }

const of = (topology, title, run, more = {}) => ({ title, only: ['redis'], made: { topology }, run, ...more })

module.exports = {
  'sentinel-changeover': of('sentinel', 'Sentinel: SENTINEL FAILOVER, two primaries for a while', changedOver, {
    lease: LONG
  }),
  'sentinel-failover': of('sentinel', 'Sentinel: a replica promoted that missed the last writes', behind, {
    short: true
  }),
  'cluster-failover': of('cluster', 'cluster: the owner killed, its replica missed the last writes', behind, {
    short: true,
    // It takes its nodes more than two seconds.
    lease: { ttlMs: 6000, firstTtlMs: 5000 }
  })
}
