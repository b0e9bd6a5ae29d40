'use strict'

const { aes } = require('./aes.js')

const ROUNDS = 10n

/**
 * FF1 of NIST SP 800-38G over 64 bits (radix 2) with AES-256. Everything before a round's number and half goes through
 * the cipher once, as in src/cipher/ff1.rs.
 *
 * @param {Buffer} key 32 bytes
 * @param {Uint8Array} [tweak]
 */
function ff1(key, tweak = new Uint8Array()) {
  const block = aes(key).encrypt
  const padded = Buffer.alloc(Math.floor((tweak.length + 4) / 16) * 16 + 16)
  padded.set(tweak)
  let state = 0x0102_0100_0002_0a20_0000_0040_0000_0000n | BigInt(tweak.length)
  for (let at = 0; at < padded.length; at += 16) {
    state = block(state) ^ BigInt(`0x${padded.toString('hex', at, at + 16)}`)
  }
  const sum = (number, half) => BigInt.asUintN(32, block(state ^ (number << 32n) ^ half) >> 64n)
  return {
    encrypt(number) {
      let [x, y] = [number >> 32n, BigInt.asUintN(32, number)]
      for (let round = 0n; round < ROUNDS; round++) [x, y] = [y, BigInt.asUintN(32, x + sum(round, y))]
      return (x << 32n) | y
    },
    decrypt(number) {
      let [x, y] = [number >> 32n, BigInt.asUintN(32, number)]
      for (let round = ROUNDS - 1n; round >= 0n; round--) [x, y] = [BigInt.asUintN(32, y - sum(round, x)), x]
      return (x << 32n) | y
    }
  }
}

module.exports = { ff1 }
