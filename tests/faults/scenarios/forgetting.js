'use strict'

const { forgetting } = require('./going-back.js')

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
    short: ['postgres'],
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
  'hash-deleted': {
    title: "the registry's hash deleted",
    needs: ['deleteHash'],
    run: forgetting(nothing, (coordinator) => coordinator.deleteHash())
  },
  'incarnation-gone': {
    title: 'the incarnation gone, nothing else lost',
    needs: ['forgetIncarnation'],
    short: ['postgres'],
    run: forgetting(nothing, (coordinator) => coordinator.forgetIncarnation())
  }
}
