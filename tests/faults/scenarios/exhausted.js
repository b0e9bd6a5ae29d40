'use strict'

const THREE = { machineIds: { from: 4, to: 6 } }

/** All machine IDs are leased; who comes then is told, and gets the one that becomes free. */
async function run(stage) {
  const holders = await stage.holders(3, { options: THREE })
  const newcomer = stage.newcomer({ options: THREE })
  await newcomer.until('told', ({ event, error }) => event === 'leaseRetry' && error.code === 'ERR_MINTID_EXHAUSTED')
  await holders[1].close()
  stage.faultEnds()
  await stage.everybodyMints()
}

module.exports = { exhausted: { title: 'every machine ID taken, then one freed', short: true, run } }
