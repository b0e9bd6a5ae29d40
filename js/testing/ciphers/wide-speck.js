'use strict'

// Speck96/144 and Speck128/256 over one number, with words and keys in the order of ./speck.js.

const ROUNDS = { 96: 29, 128: 34 }

/**
 * @param {Buffer} key 18 or 32 bytes
 * @param {96 | 128} bits
 */
function wideSpeck(key, bits) {
  const width = bits / 2
  const word = (number) => BigInt.asUintN(width, number)
  const right = (number, by) => (number >> by) | word(number << (BigInt(width) - by))
  const left = (number, by) => right(number, BigInt(width) - by)
  const round = ([x, y], k) => {
    const newX = word(right(x, 8n) + y) ^ k
    return [newX, left(y, 3n) ^ newX]
  }
  const unround = ([x, y], k) => {
    const oldY = right(x ^ y, 3n)
    return [left(word((x ^ k) - oldY), 8n), oldY]
  }
  const through = (rounds, step) => (number) => {
    const [x, y] = rounds.reduce(step, [number >> BigInt(width), word(number)])
    return (x << BigInt(width)) | y
  }
  const keys = roundKeys(key, width / 8, ROUNDS[bits], round)
  return { encrypt: through(keys, round), decrypt: through(keys.toReversed(), unround) }
}

/** The key schedule is the round function again, with the round's number for a key. */
function roundKeys(key, size, rounds, round) {
  const hex = key.toString('hex')
  const words = hex.match(new RegExp(`.{${2 * size}}`, 'g')).map((word) => BigInt(`0x${word}`))
  const [first, ...l] = words.reverse()
  const keys = [first]
  for (let i = 0; i < rounds - 1; i++) {
    const [next, k] = round([l[i], keys[i]], BigInt(i))
    l.push(next)
    keys.push(k)
  }
  return keys
}

module.exports = { wideSpeck }
