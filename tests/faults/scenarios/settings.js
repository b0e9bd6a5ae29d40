'use strict'

const { now } = require('../clock.js')

const FEW = { machineIds: { from: 0, to: 2 } }
const FAR = 'Pacific/Kiritimati'

/**
 * Two holders whose sessions are in UTC, then both and a third in a zone that is 14 h ahead. The next newcomers get the
 * machine ID of one that was killed, as soon as its lease is over and not before, and that of one that was closed.
 */
async function timeZone(stage) {
  const options = FEW
  const [first, second] = await stage.holders(2, { options })
  await stage.coordinator.setTimeZone(FAR)
  stage.proxy.reset()
  const moment = now()
  await Promise.all([first, second].map((holder) => holder.event('leaseRenewed', { after: moment })))
  await stage.holders(1, { options })
  await first.kill()
  stage.faultEnds()
  await stage.newcomer({ options }).minted()
  await second.close()
  await stage.newcomer({ options }).minted()
  await stage.everybodyMints()
}

/** Leases that were confirmed before they were safe, and a crash that loses them. */
const early = (confirmEarly) => async (stage) => {
  stage.forgets = true
  const options = { machineIds: { from: 0, to: 9 } }
  await confirmEarly(stage.coordinator)
  stage.proxy.reset()
  await stage.holders(3, { options })
  await stage.coordinator.crash()
  for (let left = 3; left > 0; left--) stage.newcomer({ options })
  await stage.coordinator.start()
  stage.faultEnds()
  await stage.everybodyMints()
}

module.exports = {
  'time-zone': { title: `session time zone ${FAR}`, needs: ['setTimeZone'], short: true, run: timeZone },
  'early-commit': {
    title: 'synchronous_commit off, and the server killed',
    needs: ['confirmEarly', 'crash', 'start'],
    run: early((coordinator) => coordinator.confirmEarly())
  },
  'late-flush': {
    title: 'innodb_flush_log_at_trx_commit=0, and the server killed',
    needs: ['flushLate', 'crash', 'start'],
    run: early((coordinator) => coordinator.flushLate())
  }
}
