'use strict'

const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { count, numbersIn } = require('../support/numbers.js')
const { Peer } = require('../support/peer.js')
const { Registry, temporaryDirectory } = require('../support/registry.js')

const [PROCESSES, WORKERS, EACH, AT_ONCE] = [8, 2, 1_000_000, 10_000]
/** Where the machine ID stands in the low half of a number of the default layout. */
const [SEQUENCE_BITS, MACHINE_MASK] = [13, 511]

/** Two Workers that mint at once, when the script says so; each writes its numbers into a file. */
async function minters({ input, say, hear, worker }) {
  async function minting({ mintid, input, hear, tell }) {
    const { openSync, writeSync } = require('node:fs')
    const ids = await mintid.IdGenerator.connect(input.options)
    const type = ids.type('', { kind: input.kind })
    tell('ready')
    await hear()
    const file = openSync(input.file, 'w')
    for (let left = input.each; left > 0; left -= input.atOnce) writeSync(file, type.nextManyDb(input.atOnce))
    tell('done')
  }
  const hands = input.files.map((file) => worker(minting, { ...input, file }))
  for (const hand of hands) await hand.next()
  say('ready')
  await hear()
  for (const hand of hands) hand.tell('go')
  for (const hand of hands) await hand.next()
  say('done')
}

async function measure(t) {
  const rows = []
  for (const kind of ['counter', 'sortable']) rows.push(await measureKind(t, kind))
  return { rows, duplicates: rows.reduce((sum, { IDs, distinct }) => sum + IDs - distinct, 0) }
}

async function measureKind(t, kind) {
  const [registry, folder] = [new Registry(), temporaryDirectory()]
  const options = { coordinator: registry.coordinator }
  const peers = Array.from({ length: PROCESSES }, (_, process) => {
    const files = Array.from({ length: WORKERS }, (_, worker) => join(folder, `${process}-${worker}`))
    return { files, peer: new Peer(t, minters, { options, kind, each: EACH, atOnce: AT_ONCE, files }) }
  })
  await Promise.all(peers.map(({ peer }) => peer.next()))
  const began = performance.now()
  for (const { peer } of peers) peer.tell('go')
  await Promise.all(peers.map(({ peer }) => peer.next()))
  const seconds = (performance.now() - began) / 1000
  await Promise.all(peers.map(({ peer }) => peer.end()))

  const arrays = peers.flatMap(({ files }) => files).map((file) => numbersIn(readFileSync(file)))
  const { total, distinct } = count(arrays)
  if (total !== PROCESSES * WORKERS * EACH) throw new Error(`expected 16 000 000 numbers, found ${total}`)
  const machineIds = [...new Set(arrays.flatMap(machineIdsIn))].sort((a, b) => a - b)
  return { kind, IDs: total, distinct, 'machine IDs': machineIds.join(' '), seconds: seconds.toFixed(2) }
}

/** Every machine ID in a list of numbers, read from their low halves (little-endian). */
function machineIdsIn(numbers) {
  const halves = new Uint32Array(numbers.buffer)
  const found = new Set()
  for (let at = 0; at < halves.length; at += 2) found.add((halves[at] >>> SEQUENCE_BITS) & MACHINE_MASK)
  return [...found]
}

module.exports = { title: `${PROCESSES} processes, ${WORKERS} Workers each, a million IDs each`, measure }
