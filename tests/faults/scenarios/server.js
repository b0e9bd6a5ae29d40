'use strict'

const assert = require('node:assert/strict')

const SOME = { machineIds: { from: 0, to: 9 } }

/** The server dies without writing anything more, and is there again; a newcomer knocks meanwhile. */
async function killed(stage) {
  stage.forgets = true
  const options = SOME
  await stage.holders(3, { options })
  await stage.coordinator.crash()
  stage.newcomer({ options })
  await stage.coordinator.start()
  stage.faultEnds()
  stage.newcomer({ options })
  await stage.everybodyMints()
}

/** The server is away until every lease has run out: minting goes on until then, stops, and comes back by itself. */
async function stopped(stage) {
  const holders = await stage.holders(3, { options: SOME })
  await Promise.all(holders.map((holder) => holder.event('leaseRenewed')))
  await stage.coordinator.stop()
  await Promise.all(holders.map((holder) => endsWithItsFence(holder, stage.lease)))
  stage.newcomer({ options: SOME })
  await stage.coordinator.start()
  stage.faultEnds()
  await stage.everybodyMints()
}

/** Waits until a holder refuses, and compares that moment with its last renewal. */
async function endsWithItsFence(holder, { ttlMs, renewEveryMs }) {
  const { at, code } = await holder.event('refusing')
  assert.equal(code, 'ERR_MINTID_LEASE_LOST')
  const renewed = holder.of('leaseRenewed').findLast((event) => event.at < at)
  const lasted = at - renewed.at + renewed.durationMs
  assert.ok(lasted > ttlMs - renewEveryMs && lasted < ttlMs + 500, `it minted for ${lasted} ms after its last renewal`)
}

/** The server is away for less than a lease: nobody notices. */
async function restarted(stage) {
  await stage.holders(3, { options: SOME })
  await stage.coordinator.stop()
  await stage.coordinator.start()
  stage.faultEnds()
  stage.newcomer({ options: SOME })
  await stage.everybodyMints()
}

module.exports = {
  'server-killed': {
    title: 'server killed and restarted',
    needs: ['crash', 'start'],
    short: true,
    run: killed
  },
  'server-restarted': { title: 'server stopped and restarted', needs: ['stop', 'start'], run: restarted },
  'server-stopped': {
    title: 'server stopped for longer than the ttl',
    needs: ['stop', 'start'],
    short: ['postgres'],
    run: stopped
  }
}
