'use strict'

const { IDS } = require('../js/bench/harness.js')

/**
 * What the least costs that a call could do, in JavaScript alone, so that the tables show what is left.
 *
 * @returns {object[]} contenders as `measure` takes them
 */
function floors() {
  const dbs = BigInt64Array.from({ length: IDS }, (_, index) => 2n ** 60n + BigInt(index))
  const words = new Uint32Array(new SharedArrayBuffer(64))
  return [
    text(),
    { name: 'a bigint of a ready array', gives: 'bigint', call: 'dbs[i]', scope: { dbs } },
    {
      name: 'the same after Atomics.load',
      gives: 'bigint',
      call: 'Atomics.load(words, 0) === 0 ? dbs[i] : 0n',
      scope: { dbs, words }
    },
    { name: 'an empty BigInt64Array(1000)', gives: 'bigint', call: 'new BigInt64Array(1000)', atOnce: 1000, scope: {} }
  ]
}

/** Any text of 15 characters: 4 that never change and 11 out of an array of ready numbers. */
function text() {
  const ready = Array.from({ length: IDS }, (_, index) => String(10_000_000_000 + index))
  const numbers = Array.from({ length: 11 }, (_, index) => `codes[11 * i + ${index}]`)
  return {
    name: 'floor',
    gives: 'text',
    call: `String.fromCharCode(117, 115, 114, 95, ${numbers.join(', ')})`,
    scope: { codes: Uint8Array.from(Buffer.from(ready.join(''))) }
  }
}

module.exports = { floors }
