'use strict'

/** Three holders are killed one after the other, each in the middle of minting, and replaced at once. */
async function run(stage) {
  const holders = await stage.holders(3, { options: { machineIds: { from: 0, to: 5 } } })
  for (const victim of holders) {
    await stage.everybodyMints()
    await victim.kill()
    const heir = stage.newcomer({ options: { machineIds: { from: 0, to: 5 } } })
    stage.faultEnds()
    await heir.minted()
  }
  await stage.everybodyMints()
}

module.exports = { kill: { title: 'kill -9 and replacement, three times', short: true, run } }
