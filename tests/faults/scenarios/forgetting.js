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

const nothing = async () => {}

const promoted = forgetting(
  async (coordinator) => {
    const replica = await coordinator.replica()
    await replica.fallBehind()
    return replica
  },
  async (coordinator, replica, between) => {
    await coordinator.crash()
    between()
    await replica.promote()
  }
)

const coldCopy = forgetting(
  (coordinator) => coordinator.coldCopy(),
  async (coordinator, copy, between) => {
    await coordinator.crash()
    between()
    await coordinator.putBack(copy)
  }
)

module.exports = {
  'replica-promoted': {
    title: 'a replica promoted that missed the last writes',
    needs: ['replica', 'crash'],
    short: true,
    run: promoted
  },
  restored: {
    title: 'a dump restored over the same database',
    needs: ['dump', 'restore'],
    run: forgetting(
      (coordinator) => coordinator.dump(),
      (coordinator, dump) => coordinator.restore(dump)
    )
  },
  'restored-elsewhere': {
    title: 'a dump restored into another database, which takes its place',
    needs: ['dump', 'restoreElsewhere'],
    run: forgetting(
      (coordinator) => coordinator.dump(),
      (coordinator, dump) => coordinator.restoreElsewhere(dump)
    )
  },
  'cold-copy': {
    title: 'a cold copy of the data folder put back',
    needs: ['coldCopy', 'putBack', 'crash'],
    run: coldCopy
  },
  'leases-dropped': {
    title: 'the table of leases dropped, and made again by mintid',
    needs: ['wipe'],
    short: true,
    run: forgetting(nothing, (coordinator) => coordinator.wipe())
  },
  'all-dropped': {
    title: 'all tables dropped, and made again by mintid',
    needs: ['wipe'],
    run: forgetting(nothing, (coordinator) => coordinator.wipe({ everything: true }))
  },
  'incarnation-gone': {
    title: 'the incarnation gone, nothing else lost',
    needs: ['forgetIncarnation'],
    short: true,
    run: forgetting(nothing, (coordinator) => coordinator.forgetIncarnation())
  }
}
