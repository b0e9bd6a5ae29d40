'use strict'

const assert = require('node:assert/strict')

const ONE = { machineIds: { from: 7, to: 7 } }
const STILL = 300

/**
 * A holder of the only machine ID is stopped in the middle of a synchronous batch, until its lease is over and another
 * process mints under the same machine ID. Then it goes on, in the middle of the batch.
 */
async function run(stage) {
  const [holder] = await stage.holders(1, { options: ONE })
  await holder.event('leaseRenewed')
  const batch = holder.asked('burst', { after: STILL })
  await holder.event('burst')
  holder.signal('SIGSTOP')
  const newcomer = stage.newcomer({ options: ONE })
  await newcomer.minted()
  holder.signal('SIGCONT')
  const { value } = await batch
  assert.ok(value.pausedMs > 1500, `it was stopped for ${value.pausedMs} ms only`)
  assert.ok(value.refused > 0, 'nothing was refused after its lease was over')
  stage.note(`stopped for ${(value.pausedMs / 1000).toFixed(1)} s; ${value.made} IDs of its batch made after that`)
  await newcomer.kill()
  stage.faultEnds()
  await stage.everybodyMints()
}

/** The same where a lease ends with its process: it goes on, and nobody else gets its machine ID meanwhile. */
async function held(stage) {
  const [holder] = await stage.holders(1)
  const batch = holder.asked('burst', { after: STILL })
  await holder.event('burst')
  holder.signal('SIGSTOP')
  const newcomer = stage.newcomer()
  await newcomer.minted()
  await stage.pass(stage.lease.ttlMs)
  holder.signal('SIGCONT')
  stage.faultEnds()
  const { value } = await batch
  assert.equal(value.refused, 0)
  await stage.everybodyMints()
}

const title = 'SIGSTOP past the ttl inside a synchronous batch'

module.exports = {
  pause: { title, short: ['postgres'], server: true, run },
  'pause-held': { title: `${title}, the lease ends with the process`, only: ['directory'], run: held }
}
