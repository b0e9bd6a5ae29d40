'use strict'

const { writeSync } = require('node:fs')

/**
 * What a holder writes down for each ID, 24 bytes, little-endian:
 *
 * | at | what |
 * |---|---|
 * | 0 | the database's number, as it was emitted (int64) |
 * | 8 | its timestamp in milliseconds since 1970 (float64, a whole number) |
 * | 16 | its machine ID (uint16) |
 * | 18 | its kind, an index of KINDS (uint8) |
 * | 19 | the call that made it, an index of CALLS (uint8) |
 * | 20 | its count within the timestamp (uint32) |
 */
const SIZE = 24

const KINDS = ['counter', 'sortable', 'encrypted']
const CALLS = ['next', 'nextDb', 'nextManyDb']

/** The default layout, from low to high: 13 bits of count, 9 of machine ID, 42 of time. */
const EPOCH_MS = Date.UTC(2025, 0, 1)
const [COUNT_BITS, MACHINE_BITS] = [13, 9]
const LOW_TIME_BITS = 32 - COUNT_BITS - MACHINE_BITS

const halves = new Uint32Array(2)
const whole = new BigInt64Array(halves.buffer)

/** The parts of a number of the default layout: `{ timestamp, machineId, count }`, the timestamp since 1970. */
function unpack(number) {
  whole[0] = number
  const [low, high] = halves
  return {
    timestamp: EPOCH_MS + high * 2 ** LOW_TIME_BITS + (low >>> (COUNT_BITS + MACHINE_BITS)),
    machineId: (low >>> COUNT_BITS) & (2 ** MACHINE_BITS - 1),
    count: low & (2 ** COUNT_BITS - 1)
  }
}

/** The number of the default layout that is made of these parts. */
function pack({ timestamp, machineId, count }) {
  const bits =
    (BigInt(timestamp - EPOCH_MS) << BigInt(COUNT_BITS + MACHINE_BITS)) | BigInt((machineId << COUNT_BITS) | count)
  return BigInt.asIntN(64, bits)
}

/** Collects records and writes many at once. What was not flushed is lost with the process: it reached nobody. */
class RecordWriter {
  #file
  #bytes
  #view
  #used = 0

  constructor(file, capacity = 8192) {
    this.#file = file
    this.#bytes = Buffer.alloc(capacity * SIZE)
    this.#view = new DataView(this.#bytes.buffer)
  }

  add(number, { timestamp, machineId, count }, kind, call) {
    const [view, at] = [this.#view, this.#used]
    view.setBigInt64(at, number, true)
    view.setFloat64(at + 8, timestamp, true)
    view.setUint16(at + 16, machineId, true)
    view.setUint8(at + 18, kind)
    view.setUint8(at + 19, call)
    view.setUint32(at + 20, count, true)
    this.#used = at + SIZE
    if (this.#used === this.#bytes.length) this.flush()
  }

  flush() {
    for (let at = 0; at < this.#used; ) at += writeSync(this.#file, this.#bytes, at, this.#used - at)
    this.#used = 0
  }
}

/** The records in a file's bytes as columns; an incomplete one at the end (of a process that was killed) is left out. */
class Records {
  constructor(bytes) {
    this.length = Math.floor(bytes.length / SIZE)
    const { buffer } = new Uint8Array(bytes.subarray(0, this.length * SIZE))
    this.#numbers = new BigInt64Array(buffer)
    this.#timestamps = new Float64Array(buffer)
    this.#machineIds = new Uint16Array(buffer)
    this.#small = new Uint8Array(buffer)
    this.#counts = new Uint32Array(buffer)
  }

  #numbers
  #timestamps
  #machineIds
  #small
  #counts

  number = (index) => this.#numbers[3 * index]
  timestamp = (index) => this.#timestamps[3 * index + 1]
  machineId = (index) => this.#machineIds[12 * index + 8]
  kind = (index) => this.#small[24 * index + 18]
  call = (index) => this.#small[24 * index + 19]
  count = (index) => this.#counts[6 * index + 5]
}

module.exports = { CALLS, EPOCH_MS, KINDS, RecordWriter, Records, SIZE, pack, unpack }
