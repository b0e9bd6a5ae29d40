'use strict'

const { Failure } = require('./failure.js')

/** The parts of a nonce, `timestamp · machine ID · count`, as src/layout.rs packs them. Parts are BigInts. */
class Layout {
  #partition
  #time
  #machine
  #sequence
  #epochMs

  /** @param {{ partition: number, time: number, machine: number, sequence: number, epochMs: number }} layout bits, checked */
  constructor({ partition, time, machine, sequence, epochMs }) {
    this.#partition = BigInt(partition)
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

  nonce(word, machineId, partition = 0n) {
    const count = BigInt.asUintN(Number(this.#sequence), word)
    const above = (partition << this.#time) | this.timestampOf(word)
    return (((above << this.#machine) | machineId) << this.#sequence) | count
  }

  /** Bits above the layout are ignored. Milliseconds since 1970 and plain numbers come out. */
  parts(nonce) {
    const above = nonce >> this.#sequence
    return {
      timestamp: this.#epochMs + Number(BigInt.asUintN(Number(this.#time), above >> this.#machine)),
      machineId: Number(BigInt.asUintN(Number(this.#machine), above)),
      sequence: Number(BigInt.asUintN(Number(this.#sequence), nonce)),
      partition: Number(BigInt.asUintN(Number(this.#partition), above >> (this.#machine + this.#time)))
    }
  }

  /** How many partitions there are. */
  get partitions() {
    return 2 ** Number(this.#partition)
  }

  /** What tells layouts apart. */
  get name() {
    return [this.#partition, this.#time, this.#machine, this.#sequence, this.#epochMs].join('/')
  }

  /** How many machine IDs there are. */
  get machines() {
    return Math.min(2 ** Number(this.#machine), 32_768)
  }

  /** The number of a partition. */
  checked(partition) {
    if (partition < this.partitions) return BigInt(partition)
    const last = this.partitions - 1
    const expected = last === 0 ? 'no partition, since the layout has none' : `0 to ${last}`
    throw new Failure('CONFIG', `partition: expected ${expected}, found ${partition}`, { option: 'partition' })
  }

  /** The least number of a partition, and the one after its greatest, which may be 2^64. */
  partitionRange(partition) {
    const width = this.#time + this.#machine + this.#sequence
    const from = this.checked(partition) << width
    return [from, from + (1n << width)]
  }

  /** Milliseconds since 1970. */
  unixMs(timestamp) {
    return this.#epochMs + Number(timestamp)
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

  /** Whether the bits above the layout are zero. */
  fits(nonce) {
    return nonce >> (this.#partition + this.#time + this.#machine + this.#sequence) === 0n
  }

  /** Whether those between machine ID and count are. */
  wideFits(bits, nonce) {
    const below = BigInt(bits) - this.#time - this.#machine
    return BigInt.asUintN(Number(below), nonce) >> (below < 64n ? below : 64n) === 0n
  }

  /** How many sortable nonces of 96 or 128 bits a millisecond has. */
  get widePerMs() {
    return 1n << (64n - this.#time)
  }

  /** The timestamp of a moment inside the layout, in milliseconds since 1970. */
  timestamp(unixMs) {
    return BigInt(unixMs - this.#epochMs)
  }

  /** The least number of any moment in a partition, or of the end of the layout that lies closest to it. */
  firstNonceAt(unixMs, partition) {
    const timestamp = BigInt(unixMs) - BigInt(this.#epochMs)
    const within = timestamp < 0n ? 0n : timestamp > this.end ? this.end : timestamp
    return this.nonce(this.firstWord(within), 0n, this.checked(partition))
  }

  /** The failure of a timestamp at the end. */
  ended() {
    const end = BigInt(this.#epochMs) + this.end
    return new Failure('TIME', `the layout ends at ${end} (ms since 1970): it has no timestamps left`)
  }
}

module.exports = { Layout }
