'use strict'

const { Failure } = require('./failure.js')

/** The parts of a nonce, `timestamp · machine ID · count`, as src/layout.rs packs them. Parts are BigInts. */
class Layout {
  #time
  #machine
  #sequence
  #epochMs

  /** @param {{ time: number, machine: number, sequence: number, epochMs: number }} layout bits, checked */
  constructor({ time, machine, sequence, epochMs }) {
    this.#time = BigInt(time)
    this.#machine = BigInt(machine)
    this.#sequence = BigInt(sequence)
    this.#epochMs = epochMs
  }

  /** The first timestamp that no nonce has. */
  get end() {
    return (1n << this.#time) - 1n
  }

  /** The first word of a timestamp. A word is a nonce without its machine ID: the count carries into the timestamp. */
  firstWord(timestamp) {
    return timestamp << this.#sequence
  }

  timestampOf(word) {
    return word >> this.#sequence
  }

  nonce(word, machineId) {
    const count = BigInt.asUintN(Number(this.#sequence), word)
    return (((this.timestampOf(word) << this.#machine) | machineId) << this.#sequence) | count
  }

  /** Bits above the layout are ignored. Milliseconds since 1970 and plain numbers come out. */
  parts(nonce) {
    const above = nonce >> this.#sequence
    return {
      timestamp: this.#epochMs + Number(BigInt.asUintN(Number(this.#time), above >> this.#machine)),
      machineId: Number(BigInt.asUintN(Number(this.#machine), above)),
      sequence: Number(BigInt.asUintN(Number(this.#sequence), nonce)),
      partition: 0
    }
  }

  /** A nonce of 96 or 128 bits. */
  wideNonce(bits, { timestamp, machineId, count }) {
    const time = BigInt(bits) - this.#time
    return (timestamp << time) | (machineId << (time - this.#machine)) | count
  }

  /** As `parts`, of 96 or 128 bits. */
  wideParts(bits, nonce) {
    const time = BigInt(bits) - this.#time
    const count = time - this.#machine < 64n ? time - this.#machine : 64n
    return {
      timestamp: this.#epochMs + Number(nonce >> time),
      machineId: Number(BigInt.asUintN(Number(this.#machine), nonce >> (time - this.#machine))),
      sequence: Number(BigInt.asUintN(Number(count), nonce)),
      partition: 0
    }
  }

  /** How many sortable nonces of 96 or 128 bits a millisecond has. */
  get widePerMs() {
    return 1n << (64n - this.#time)
  }

  /** The timestamp of a moment inside the layout, in milliseconds since 1970. */
  timestamp(unixMs) {
    return BigInt(unixMs - this.#epochMs)
  }

  /** The least number of any moment, or of the end of the layout that lies closest to it. */
  firstNonceAt(unixMs) {
    const timestamp = BigInt(unixMs) - BigInt(this.#epochMs)
    const within = timestamp < 0n ? 0n : timestamp > this.end ? this.end : timestamp
    return this.nonce(this.firstWord(within), 0n)
  }

  /** The failure of a timestamp at the end. */
  ended() {
    const end = BigInt(this.#epochMs) + this.end
    return new Failure('TIME', `the layout ends at ${end} (ms since 1970): it has no timestamps left`)
  }
}

module.exports = { Layout }
