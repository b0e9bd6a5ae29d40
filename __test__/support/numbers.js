'use strict'

const assert = require('node:assert/strict')

/**
 * Counts 64-bit numbers, and fails if one is there twice.
 *
 * @param {(BigInt64Array | BigUint64Array)[]} arrays
 * @returns {number} how many there are
 */
function assertDistinct(arrays) {
  const { total, distinct } = count(arrays)
  assert.equal(distinct, total, 'some numbers are there twice')
  return total
}

/**
 * Counts 64-bit numbers by sorting them: exact, and fast enough for tens of millions.
 *
 * @param {(BigInt64Array | BigUint64Array)[]} arrays
 * @returns {{ total: number, distinct: number }}
 */
function count(arrays) {
  const total = arrays.reduce((sum, { length }) => sum + length, 0)
  const all = new BigInt64Array(total)
  let at = 0
  for (const array of arrays) {
    all.set(array, at)
    at += array.length
  }
  all.sort()
  let distinct = Math.min(total, 1)
  for (let index = 1; index < total; index++) if (all[index] !== all[index - 1]) distinct++
  return { total, distinct }
}

/** The 64-bit numbers in a file's bytes, or a message's; an incomplete one at the end is left out. */
function numbersIn(bytes) {
  return new BigInt64Array(
    bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength - (bytes.byteLength % 8))
  )
}

module.exports = { assertDistinct, count, numbersIn }
