'use strict'

const assert = require('node:assert/strict')
const { Peer } = require('./peer.js')

/** A scene that says its first use of a lease, and how many attempts to get one failed before. */
async function successor({ mintid, input, say, use }) {
  const ids = new mintid.IdGenerator(input)
  let retries = 0
  ids.on('leaseRetry', () => retries++)
  await ids.ready()
  say({ machineId: ids.machineId, retries, first: use(ids) })
}

/** Asserts that a machine ID is free without waiting, and that its next fence begins after its last use. */
async function assertFree(t, registry, machineId, last) {
  const found = await new Peer(t, successor, registry.only(machineId)).next()
  assert.deepEqual([found.machineId, found.retries], [machineId, 0])
  assert.ok(found.first > last, `${found.first} is not after ${last}`)
}

/** Asserts that a lease was given back: a holder promises an end ahead of its use, and takes that back at the end. */
function assertGivenBack(registry, machineId, last) {
  const [end, now] = [registry.endOf(machineId), Date.now()]
  assert.ok(end >= last && end <= now, `the file's end is ${end - last} ms after the last use`)
}

module.exports = { successor, assertFree, assertGivenBack }
