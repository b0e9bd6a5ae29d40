'use strict'

const { record, integer, refuse, unexpected, isDate } = require('./check.js')

const NAMES = ['partition', 'time', 'machine', 'sequence', 'epoch']
const DEFAULT_EPOCH_MS = Date.UTC(2025, 0, 1)
/** However many bits there are for machine IDs. */
const MOST_MACHINES = 32_768
/** The year 2248; what comes later leaves the clock's range together with the widest time field. */
const LAST_EPOCH_MS = 2 ** 43
const WHOLE_BITS = 64
const MOST_COUNTED = 63
const ISO = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/

/**
 * How many bits of an ID each part has, and the moment that timestamps count from.
 *
 * @param {object} [layout] the user's `layout`
 * @returns {{ partition: number, time: number, machine: number, sequence: number, epochMs: number }}
 */
function layoutOptions(layout = {}) {
  record(layout, 'layout', NAMES)
  const { partition = 0, time = 42, machine = 9, sequence = 13, epoch = DEFAULT_EPOCH_MS } = layout
  integer(partition, 'layout.partition', 0, 16, 'bits')
  integer(time, 'layout.time', 32, 48, 'bits')
  integer(machine, 'layout.machine', 0, 31, 'bits')
  integer(sequence, 'layout.sequence', 1, 22, 'bits')
  const sum = partition + time + machine + sequence
  if (sum > WHOLE_BITS) {
    const parts = `partition ${partition}, time ${time}, machine ${machine}, sequence ${sequence}`
    refuse('layout', `expected at most ${WHOLE_BITS} bits together, found ${sum} (${parts})`)
  }
  // The machine ID stands above these in the word that is counted.
  if (time + sequence > MOST_COUNTED) {
    refuse('layout', `expected at most ${MOST_COUNTED} bits of time and sequence together, found ${time + sequence}`)
  }
  return { partition, time, machine, sequence, epochMs: epochMs(epoch) }
}

/** How many machine IDs a checked layout can tell apart. */
function machinesOf({ machine }) {
  return Math.min(2 ** machine, MOST_MACHINES)
}

function epochMs(epoch) {
  const ms = isDate(epoch) ? epoch.getTime() : typeof epoch === 'string' ? fromIso(epoch) : epoch
  if (Number.isInteger(ms) && ms >= 0 && ms <= LAST_EPOCH_MS) return ms
  const expected = 'a Date, a text like 2025-01-01T00:00:00Z, or milliseconds since 1970, from 1970 to 2248'
  return unexpected('layout.epoch', expected, epoch)
}

/** NaN for what is no ISO date; a time needs its zone, since an epoch must be the same on every machine. */
function fromIso(text) {
  const [, date] = ISO.exec(text) ?? []
  const midnight = new Date(`${date}T00:00:00Z`)
  // JavaScript reads the 30th of February as the 2nd of March.
  const exists = !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(date)
  return exists ? Date.parse(text) : NaN
}

module.exports = { layoutOptions, machinesOf }
