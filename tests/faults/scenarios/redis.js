'use strict'

// What happens to servers that keep everything in memory, and forget it.

const assert = require('node:assert/strict')
const { now } = require('../clock.js')

const SOME = { machineIds: { from: 0, to: 11 } }

/** Everything is gone three times: twice while newcomers wait because of the time before, then when they hold leases. */
async function flushed(stage) {
  const options = SOME
  await stage.holders(3, { options })
  for (let round = 1; round <= 3; round++) {
    await stage.coordinator.flush()
    stage.faultEnds()
    const newcomers = [stage.newcomer({ options }), stage.newcomer({ options })]
    const told = ({ event, code }) => (event === 'warning' && code === 'REGISTRY_RESET') || event === 'minting'
    await Promise.all(newcomers.map((newcomer) => newcomer.until('an answer', told)))
    if (round > 1) await stage.everybodyMints()
  }
}

/** Scripts that the server no longer knows are sent again, and nobody notices. */
async function withoutScripts(stage) {
  const holders = await stage.holders(3, { options: SOME })
  for (let round = 1; round <= 3; round++) {
    await stage.coordinator.forgetScripts()
    const moment = now()
    await Promise.all(holders.map((holder) => holder.event('leaseRenewed', { after: moment })))
  }
  await stage.coordinator.forgetScripts()
  stage.faultEnds()
  stage.newcomer({ options: SOME })
  await stage.everybodyMints()
  neverStopped(holders)
  assert.deepEqual(retriesOf(holders, 'NOSCRIPT'), [])
}

/** Another application fills the memory until the registry has to go. */
async function evicted(stage) {
  const options = SOME
  await stage.holders(3, { options })
  await stage.coordinator.crowdOut()
  for (let left = 2; left > 0; left--) stage.newcomer({ options })
  await stage.coordinator.makeRoom()
  stage.faultEnds()
  await stage.everybodyMints()
}

/** A renewal needs no more room: all of them go on. No room for a claim: whoever comes waits for it. */
async function full(stage) {
  const options = SOME
  const holders = await stage.holders(3, { options })
  await stage.coordinator.fillUp()
  const moment = now()
  await toldOfNoRoom(stage.newcomer({ options }))
  await Promise.all(holders.map((holder) => holder.event('leaseRenewed', { after: moment })))
  await stage.coordinator.makeRoom()
  stage.faultEnds()
  await stage.everybodyMints()
  neverStopped(holders)
  assert.deepEqual(retriesOf(holders, 'OOM'), [])
}

function toldOfNoRoom(process) {
  const refused = ({ event, error }) => event === 'leaseRetry' && error.serverCode === 'OOM'
  return process.until('an answer that there is no room', refused)
}

/** Connections that end between two renewals: the next one is made on another. */
async function idle(stage) {
  await stage.coordinator.closeIdle(1)
  const holders = await stage.holders(3, { options: SOME })
  const [before, renewals] = [stage.proxy.accepted, 3]
  const often = (holder) => () => holder.of('leaseRenewed').length >= renewals
  await Promise.all(holders.map((holder) => holder.until(`${renewals} renewals`, often(holder))))
  const made = stage.proxy.accepted - before
  stage.faultEnds()
  stage.newcomer({ options: SOME })
  await stage.everybodyMints()
  assert.ok(made >= holders.length, `only ${made} connections were made anew`)
  neverStopped(holders)
}

function neverStopped(holders) {
  for (const holder of holders) {
    assert.deepEqual([...holder.of('refusing'), ...holder.of('leaseLost')], [], `${holder.name} stopped`)
  }
}

const retriesOf = (holders, serverCode) =>
  holders.flatMap((holder) => holder.of('leaseRetry').filter(({ error }) => error.serverCode === serverCode))

module.exports = {
  flushed: { title: 'FLUSHALL, three times', needs: ['flush'], short: true, run: flushed },
  'scripts-flushed': { title: 'SCRIPT FLUSH', needs: ['forgetScripts'], run: withoutScripts },
  evicted: { title: 'the registry evicted (allkeys-lru)', needs: ['crowdOut', 'makeRoom'], short: true, run: evicted },
  'memory-full': { title: 'maxmemory reached (noeviction)', needs: ['fillUp', 'makeRoom'], short: true, run: full },
  'idle-closed': {
    title: 'idle connections closed by the server (timeout 1)',
    needs: ['closeIdle'],
    lease: { ttlMs: 12_000, firstTtlMs: 9000, renewEveryMs: 3000 },
    run: idle
  }
}
