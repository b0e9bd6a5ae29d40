'use strict'

const [PROCESSES, AT_ONCE] = [20, 2]
const OPTIONS = { machineIds: { from: 0, to: 59 } }
const PACE = { singles: 2, many: 8, everyMs: 20 }

/**
 * Twenty processes are replaced, two at a time, each as soon as its successor mints. In the middle of it the server dies,
 * and a replica that missed the last writes takes its place.
 */
async function run(stage) {
  stage.forgets = true
  const what = { options: OPTIONS, pace: PACE }
  const old = await stage.holders(PROCESSES, what)
  const replica = await stage.coordinator.replica()
  const middle = PROCESSES / 2
  for (let at = 0; at < PROCESSES; at += AT_ONCE) {
    if (at === middle - AT_ONCE) await replica.fallBehind()
    const successors = Array.from({ length: AT_ONCE }, () => stage.newcomer(what))
    if (at === middle) {
      await stage.coordinator.crash()
      await replica.promote()
      stage.faultEnds()
    }
    await Promise.all(successors.map((successor) => successor.minted()))
    await Promise.all(old.slice(at, at + AT_ONCE).map((process) => process.close()))
  }
  await stage.everybodyMints()
}

module.exports = {
  rolling: { title: `rolling restart of ${PROCESSES} processes during a failover`, needs: ['replica', 'crash'], run }
}
