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

/**
 * The primary is cut off from its replicas, not from those who hold leases, and goes on answering when another one has
 * been promoted: nobody believes what no replica has. (Nobody waits here until Sentinel demotes it.) As many come as there
 * are machine IDs left, and one more.
 */
async function cutOff(stage) {
  const options = { machineIds: { from: 0, to: 5 }, parameters: '?replicas=1' }
  const holders = await stage.holders(3, { options })
  await Promise.all(holders.map((holder) => holder.event('leaseRenewed')))
  await stage.coordinator.fallBehind()
  await stage.coordinator.changeOver()
  stage.faultEnds()
  const newcomers = Array.from({ length: 3 }, () => stage.newcomer({ options }))
  await Promise.all(newcomers.map((newcomer) => newcomer.minted()))
  const answered = ({ event, error }) =>
    event === 'minting' || (event === 'leaseRetry' && error.code === 'ERR_MINTID_EXHAUSTED')
  await stage.newcomer({ options }).until('an answer', answered)
  await newcomers[0].close()
  await stage.everybodyMints()
}

/** Longer than two servers grant at once. */
const LONG = { ttlMs: 20_000, firstTtlMs: 15_000 }

const of = (topology, title, run, more = {}) => ({ title, only: ['redis'], made: { topology }, run, ...more })

module.exports = {
  'sentinel-changeover': of('sentinel', 'Sentinel: SENTINEL FAILOVER, two primaries for a while', changedOver, {
    lease: LONG
  }),
  'sentinel-cut-off': of(
    'sentinel',
    'Sentinel: the primary cut off from its replicas, and used on (replicas=1)',
    cutOff,
    {
      made: { topology: 'sentinel', replicas: 2 }
    }
  ),
  'sentinel-failover': of('sentinel', 'Sentinel: a replica promoted that missed the last writes', behind, {
    short: true
  }),
  'cluster-failover': of('cluster', 'cluster: the owner killed, its replica missed the last writes', behind, {
    short: true,
    // It takes its nodes more than two seconds.
    lease: { ttlMs: 6000, firstTtlMs: 5000 }
  })
}
