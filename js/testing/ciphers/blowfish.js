'use strict'

// Blowfish (Schneier, 1993) over one 64-bit number. Its tables begin as the digits of pi, which are computed here at
// first need: they are shorter to compute than to write down.

const ROUNDS = 16
const BOX = 256

let digits

/** @param {Buffer} key 16 bytes */
function blowfish(key) {
  digits ??= digitsOfPi(ROUNDS + 2 + 4 * BOX)
  const p = digits.slice(0, ROUNDS + 2)
  const s = digits.slice(ROUNDS + 2)
  for (let i = 0; i < p.length; i++) p[i] = (p[i] ^ key.readUInt32BE((4 * i) % key.length)) >>> 0
  const f = (x) =>
    (((s[x >>> 24] + s[BOX + ((x >>> 16) & 255)]) ^ s[2 * BOX + ((x >>> 8) & 255)]) + s[3 * BOX + (x & 255)]) >>> 0
  const through = (subkeys, [x, y]) => {
    for (let round = 0; round < ROUNDS; round++) {
      x = (x ^ subkeys[round]) >>> 0
      y = (y ^ f(x)) >>> 0
      ;[x, y] = [y, x]
    }
    return [(y ^ subkeys[ROUNDS + 1]) >>> 0, (x ^ subkeys[ROUNDS]) >>> 0]
  }
  let block = [0, 0]
  for (const table of [p, s]) {
    for (let i = 0; i < table.length; i += 2) {
      block = through(p, block)
      ;[table[i], table[i + 1]] = block
    }
  }
  const reversed = p.toReversed()
  return {
    encrypt: (number) => join(through(p, split(number))),
    decrypt: (number) => join(through(reversed, split(number)))
  }
}

/** The fraction of pi in words of 32 bits, by Machin's formula: pi / 4 = 4 arctan(1/5) - arctan(1/239). */
function digitsOfPi(words) {
  const GUARD = 64n
  const bits = BigInt(32 * words)
  const one = 1n << (bits + GUARD)
  const arctan = (divisor) => {
    let [power, sum, n] = [one / divisor, 0n, 1n]
    for (; power !== 0n; power /= -(divisor * divisor), n += 2n) sum += power / n
    return sum
  }
  const pi = (4n * (4n * arctan(5n) - arctan(239n))) >> GUARD
  const hex = BigInt.asUintN(Number(bits), pi)
    .toString(16)
    .padStart(8 * words, '0')
  return Array.from({ length: words }, (_, at) => Number.parseInt(hex.slice(8 * at, 8 * at + 8), 16))
}

function split(number) {
  return [Number(number >> 32n), Number(number & 0xffffffffn)]
}

function join([x, y]) {
  return (BigInt(x) << 32n) | BigInt(y)
}

module.exports = { blowfish }
