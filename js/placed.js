'use strict'

const { mintOptions, partitionOption } = require('./options/place.js')

/**
 * The functions of a binding whose IDs have a place in the key space: a partition, a time. Those with partitions are made
 * one by one: nothing is kept ready for a partition that may not come again.
 *
 * @param {{ binding: object }} bound
 * @param {object} spec the type's
 * @returns {{ binding: object }} the same for types without
 */
function withPlaces(bound, spec) {
  const { binding } = bound
  // Wide types have no place.
  if (binding.partitions === undefined) return bound
  const hasPartitions = binding.partitions > 1 || spec.partition !== undefined
  const hasTime = spec.kind === 'sortable' || spec.base === 'sortable'
  if (!hasPartitions && !hasTime) return bound
  const { partition: own } = spec
  const partitionOf = (given) => given ?? (typeof own === 'function' ? partitionOption(own()) : (own ?? 0))
  const names = hasTime ? ['partition', 'time'] : ['partition']

  const one = (next, nextIn) => (options) => {
    if (options === undefined && !hasPartitions) return next()
    const { partition, time } = mintOptions(options ?? {}, names)
    return nextIn(partitionOf(partition), time)
  }
  const many = (nextManyIn) => (n, options) =>
    nextManyIn(n, partitionOf(mintOptions(options ?? {}, ['partition']).partition))

  const placed = { ...binding, next: one(binding.next, binding.nextIn), nextDb: one(binding.nextDb, binding.nextDbIn) }
  if (!hasPartitions) return { ...bound, binding: placed }
  const { bodyLength: _, countsAhead: __, ...rest } = placed
  const lists = { nextMany: many(binding.nextManyIn), nextManyDb: many(binding.nextManyDbIn) }
  return { ...bound, binding: { ...rest, ...lists } }
}

module.exports = { withPlaces }
