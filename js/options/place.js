'use strict'

const { integer, oneOf, record, refuse, unexpected, isDate } = require('./check.js')
const { layoutOptions } = require('./layout.js')

const SPACE = /^[A-Za-z0-9._-]{1,64}$/
/** The last one that any layout has room for. */
const LAST_PARTITION = 2 ** 16 - 1

/** Where in the key space a type counts, and with whom. */
function placeOptions({ bits, kind, layout, space, overflow, partition }) {
  if (bits !== 64) {
    for (const [option, value] of Object.entries({ layout, overflow, partition })) {
      if (value !== undefined) refuse(option, `expected none with ${bits} bits, but with 64`)
    }
  }
  if (space !== undefined && !SPACE.test(typeof space === 'string' ? space : '')) {
    unexpected('space', '1 to 64 characters of A-Z a-z 0-9 . _ -', space)
  }
  if (overflow !== undefined) {
    oneOf(overflow, 'overflow', ['wait', 'drift'])
    if (kind !== 'sortable') refuse('overflow', `expected none with kind '${kind}', but with 'sortable'`)
  }
  const checked = layout === undefined ? undefined : layoutOptions(layout)
  if (partition !== undefined && typeof partition !== 'function') {
    partitionOption(partition, checked ? 2 ** checked.partition - 1 : LAST_PARTITION)
  }
  return { layout: checked, space, overflow, partition }
}

/** The number of a partition. */
function partitionOption(partition, last = LAST_PARTITION) {
  return integer(partition, 'partition', 0, last, 'as the layout has bits for')
}

/**
 * What one call says of the IDs that it makes.
 *
 * @param {object} options the user's
 * @param {string[]} names what it may say: 'partition', 'time'
 * @returns {{ partition: number | undefined, time: number | undefined }}
 */
function mintOptions(options, names) {
  record(options, '', names)
  const { partition, time } = options
  return {
    partition: partition === undefined ? undefined : partitionOption(partition),
    time: time === undefined ? undefined : milliseconds(time, 'time')
  }
}

/** A moment in milliseconds since 1970. */
function milliseconds(value, option) {
  const ms = isDate(value) ? value.getTime() : value
  return Number.isSafeInteger(ms) ? ms : unexpected(option, 'a valid Date, or whole milliseconds since 1970', value)
}

module.exports = { placeOptions, partitionOption, mintOptions, milliseconds }
