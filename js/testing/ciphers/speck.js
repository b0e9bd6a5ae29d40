'use strict'

// Speck64/128 (Beaulieu and others, 2013) over one 64-bit number. Words are big-endian and read as the paper prints
// them: x before y, the highest key word first.

const ROUNDS = 27

/**
 * The cipher of an explicit key.
 *
 * @param {Buffer} key 16 bytes
 * @returns {{ encrypt (number: bigint): bigint, decrypt (number: bigint): bigint }} unsigned 64-bit numbers in and out
 */
function speck(key) {
  const keys = roundKeys(key)
  const reversed = keys.toReversed()
  return {
    encrypt: (number) => join(keys.reduce(([x, y], k) => round(x, y, k), split(number))),
    decrypt: (number) => join(reversed.reduce(([x, y], k) => unround(x, y, k), split(number)))
  }
}

/** The key schedule is the round function again, with the round's number for a key. */
function roundKeys(key) {
  const [l2, l1, l0, k0] = [0, 4, 8, 12].map((at) => key.readUInt32BE(at))
  const l = [l0, l1, l2]
  const keys = [k0]
  for (let i = 0; i < ROUNDS - 1; i++) [l[i + 3], keys[i + 1]] = round(l[i], keys[i], i)
  return keys
}

function round(x, y, k) {
  const newX = ((rotateRight(x, 8) + y) ^ k) >>> 0
  return [newX, (rotateRight(y, 29) ^ newX) >>> 0]
}

function unround(x, y, k) {
  const oldY = rotateRight(x ^ y, 3)
  return [rotateRight((x ^ k) - oldY, 24), oldY]
}

function rotateRight(word, bits) {
  return ((word >>> bits) | (word << (32 - bits))) >>> 0
}

function split(number) {
  return [Number(number >> 32n), Number(number & 0xffffffffn)]
}

function join([x, y]) {
  return (BigInt(x) << 32n) | BigInt(y)
}

module.exports = { speck }
