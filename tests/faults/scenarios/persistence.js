'use strict'

const assert = require('node:assert/strict')
const { now } = require('../clock.js')

const SOME = { machineIds: { from: 0, to: 9 } }

/** What is confirmed is on disk, once a second: an answer takes as long, and a lease outlasts some of them. */
const SYNCED = {
  made: { settings: { appendonly: 'yes', appendfsync: 'everysec' } },
  lease: { ttlMs: 8000, firstTtlMs: 6000, requestTimeoutMs: 2500 }
}

/** A server that comes back with what it kept: newcomers have to wait unless that is certain to be all. */
const again = (stop, isAll) => async (stage) => {
  const options = SOME
  const holders = await stage.holders(3, { options })
  await Promise.all(holders.map((holder) => holder.event('leaseRenewed')))
  await stop(stage.coordinator)
  const newcomers = [stage.newcomer({ options })]
  const moment = now()
  await stage.coordinator.start()
  stage.faultEnds()
  newcomers.push(stage.newcomer({ options }))
  await stage.everybodyMints()
  for (const newcomer of newcomers) {
    const [{ at }] = newcomer.of('leaseAcquired')
    if (!isAll(stage.coordinator)) assert.ok(at - moment > stage.lease.ttlMs, `a lease after ${at - moment} ms`)
    else assert.deepEqual(newcomer.of('warning'), [])
  }
}

const stopped = (coordinator) => coordinator.stop()
const killed = (coordinator) => coordinator.crash()
const ifConfirmed = (coordinator) => coordinator.keepsWord

/** Claims that only the server's memory has, and a power cut: whoever was not told otherwise has no lease. */
async function powerCut(stage) {
  const options = SOME
  await stage.holders(3, { options })
  const synced = await stage.coordinator.stopSyncing()
  const newcomers = [stage.newcomer({ options }), stage.newcomer({ options })]
  const answered = ({ event }) => event === 'leaseRetry' || event === 'minting'
  await Promise.all(newcomers.map((newcomer) => newcomer.until('an answer', answered)))
  await stage.coordinator.powerCut(synced)
  stage.faultEnds()
  for (let left = 2; left > 0; left--) stage.newcomer({ options })
  await stage.everybodyMints()
}

module.exports = {
  'rdb-restarted': {
    title: 'server stopped and restarted, with a snapshot of all (RDB)',
    needs: ['keepsWord'],
    made: { settings: { save: '3600 1' } },
    run: again(stopped, () => false)
  },
  'aof-restarted': {
    title: 'server stopped and restarted, appendfsync everysec',
    needs: ['keepsWord'],
    ...SYNCED,
    run: again(stopped, ifConfirmed)
  },
  'aof-killed': {
    title: 'server killed and restarted, appendfsync everysec',
    needs: ['keepsWord'],
    short: true,
    ...SYNCED,
    run: again(killed, ifConfirmed)
  },
  'aof-power-cut': {
    title: 'power cut, appendfsync everysec: what was not synced is lost',
    needs: ['stopSyncing', 'powerCut'],
    ...SYNCED,
    run: powerCut
  }
}
