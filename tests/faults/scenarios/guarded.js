'use strict'

const assert = require('node:assert/strict')
const { now } = require('../clock.js')

const SEVEN = { machineId: 7 }

/** A process with a number of its own is killed, and started again under the same number; then it is closed instead. */
async function restarted(stage) {
  let [process] = await stage.holders(1, { options: SEVEN })
  for (const end of ['kill', 'close']) {
    await process.event('leaseRenewed')
    await process[end]()
    const ended = now()
    process = stage.newcomer({ options: SEVEN })
    await process.minted()
    stage.note(`back ${((now() - ended) / 1000).toFixed(1)} s after a ${end}`)
    const conflicts = process.of('conflict').length
    assert.equal(conflicts, end === 'kill' ? 1 : 0, `${conflicts} conflicts after a ${end}`)
  }
}

/**
 * Two processes have one number. The second waits, until the first is stopped for longer than its lease; then they change
 * places, and once more when the second is killed.
 */
async function twins(stage) {
  const [first] = await stage.holders(1, { options: SEVEN })
  const second = stage.newcomer({ options: SEVEN })
  await second.event('conflict')
  await first.event('leaseRenewed')
  assert.equal(second.of('leaseAcquired').length, 0, 'both had the lease')
  first.signal('SIGSTOP')
  await second.minted()
  first.signal('SIGCONT')
  await first.event('leaseLost')
  await first.event('conflict')
  await second.kill()
  stage.faultEnds()
  await stage.everybodyMints()
  assert.equal(second.of('leaseLost').length, 0, 'whoever was there first loses nothing')
}

/** Its renewals are executed, and their answers lost: what it finds to be held after that is its own. */
async function lostAnswers(stage) {
  const [holder] = await stage.holders(1, { options: SEVEN })
  await holder.event('leaseRenewed')
  await stage.proxy.loseAnswers()
  await holder.event('refusing')
  await stage.proxy.pass()
  stage.faultEnds()
  await stage.everybodyMints()
  assert.equal(holder.of('conflict').length, 0, 'it took itself for another')
}

module.exports = {
  'guard-restart': {
    title: 'a guarded machine ID: killed, then closed, and started again each time',
    server: true,
    run: restarted
  },
  'guard-twins': { title: 'two processes with one guarded machine ID', server: true, short: ['postgres'], run: twins },
  'guard-answers': { title: 'a guarded machine ID, only the answers lost', server: true, run: lostAnswers }
}
