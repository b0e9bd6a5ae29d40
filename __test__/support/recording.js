'use strict'

const { existsSync, readFileSync } = require('node:fs')
const { join } = require('node:path')
const { numbersIn } = require('./numbers.js')
const { temporaryDirectory } = require('./registry.js')

const KINDS = ['counter', 'sortable']

/**
 * A scene that mints for ever and writes each number down before the next one is minted, so that what was emitted is
 * known however the process ends. Says how its lease began, then now and then how many it wrote, and every event.
 */
async function recordingMinter({ mintid, input, say }) {
  const { openSync, writeSync } = require('node:fs')
  const ids = new mintid.IdGenerator(input.options)
  let retries = 0
  ids.on('leaseRetry', () => retries++)
  for (const event of ['leaseLost', 'leaseRenewed', 'leaseReleased', 'warning']) ids.on(event, () => say({ event }))
  await ids.ready()
  say({ machineId: ids.machineId, retries, wall: Date.now() })
  const number = new BigInt64Array(1)
  const sequences = input.kinds.map((kind) => [ids.type('', { kind }), openSync(`${input.file}.${kind}`, 'a')])
  for (let written = 0; ; ) {
    for (let n = 0; n < 100; n++) {
      for (const [type, file] of sequences) {
        number[0] = type.nextDb()
        writeSync(file, number)
      }
      written++
    }
    say({ written })
    await new Promise(setImmediate)
  }
}

/** The files that recording minters write, and what stands in them. */
class Records {
  #file = join(temporaryDirectory(), 'records')

  /** What a recording minter gets: several at a time may not write into the same records. */
  input(options) {
    return { options, kinds: KINDS, file: this.#file }
  }

  /** The numbers of one kind in the order in which they were minted. */
  numbers(kind) {
    const file = `${this.#file}.${kind}`
    return existsSync(file) ? numbersIn(readFileSync(file)) : new BigInt64Array(0)
  }
}

/** Waits until a recording minter has written some more. */
async function writesMore(peer, times = 3) {
  for (let left = times; left > 0; left--) {
    const { written, event } = await peer.next()
    if (event) throw new Error(`the minter heard ${event}`)
    if (written === undefined) left++
  }
}

module.exports = { KINDS, Records, recordingMinter, writesMore }
