'use strict'

// What a registry may forget: claims that somebody mints under. Everywhere the same play: some hold a lease; the state
// is kept to which the registry will go back; some more take leases, which it will forget; it goes back; newcomers come.

const SOME = { machineIds: { from: 0, to: 11 } }
const [EARLIER, LATER, NEWCOMERS] = [2, 2, 3]

/**
 * @param {(coordinator: object) => Promise<unknown>} keep makes what the registry goes back to
 * @param {(coordinator: object, kept: unknown, between: () => void) => Promise<void>} goBack `between()`: the registry
 *   cannot be reached for the moment, newcomers come; they come at the latest when it has gone back
 */
const forgetting = (keep, goBack) => async (stage) => {
  stage.forgets = true
  const options = SOME
  const newcomers = () => {
    for (let left = NEWCOMERS; left > 0; left--) stage.newcomer({ options })
    newcomersCame = true
  }
  let newcomersCame = false
  await stage.holders(EARLIER, { options })
  const kept = await keep(stage.coordinator)
  const later = await stage.holders(LATER, { options })
  await Promise.all(later.map((holder) => holder.event('leaseRenewed')))
  await goBack(stage.coordinator, kept, newcomers)
  if (!newcomersCame) newcomers()
  stage.faultEnds()
  await stage.everybodyMints()
}

module.exports = { forgetting }
