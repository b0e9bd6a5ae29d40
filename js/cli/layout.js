'use strict'

const { UsageError } = require('./arguments.js')

/** The flags of every command that must know how IDs are laid out. */
const layoutFlags = {
  layout: { type: 'string', value: 'bits', about: 'partition/time/machine/sequence; by default 0/42/9/13' },
  epoch: { type: 'string', value: 'time', about: 'what timestamps count from; by default 2025-01-01T00:00:00Z' }
}

/** The `layout` of a generator, as the flags have it; undefined for the default. */
function layoutOf({ layout, epoch }) {
  if (layout === undefined && epoch === undefined) return undefined
  const bits = /^(\d+)\/(\d+)\/(\d+)\/(\d+)$/.exec(layout ?? '0/42/9/13')
  if (!bits) throw new UsageError('--layout: expected partition/time/machine/sequence in bits, like 0/42/9/13')
  const [partition, time, machine, sequence] = bits.slice(1).map(Number)
  return present({ partition, time, machine, sequence, epoch })
}

/** An object without its undefined members. */
function present(options) {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}

module.exports = { layoutFlags, layoutOf, present }
