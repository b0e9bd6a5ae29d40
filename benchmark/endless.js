'use strict'

const { IdGenerator } = require('../index.js')

/**
 * How the default layout behaves when a program does nothing but make IDs: it grants 8192 for each millisecond that the
 * lease has lasted, so a loop on a young lease is held to that rate, and a pause is credit.
 *
 * @param {number} ms how long each of the two measurements takes
 * @returns {Promise<{ fresh: number, rested: number }>} nanoseconds an ID on a fresh lease, and after a pause of `ms`
 */
async function endless(ms) {
  const ids = await IdGenerator.connect({ machineId: 1, namespace: 'benchmark-endless' })
  const eventId = ids.type('evt_')
  const fresh = loop(eventId, ms)
  await new Promise((resolve) => setTimeout(resolve, ms))
  const rested = loop(eventId, ms / 4)
  await ids.close()
  return { fresh, rested }
}

/** Nanoseconds an ID. */
function loop(type, ms) {
  const began = performance.now()
  let made = 0
  let now = began
  for (; now < began + ms; now = performance.now()) {
    for (let i = 0; i < 1000; i++) type.next()
    made += 1000
  }
  return ((now - began) * 1e6) / made
}

module.exports = { endless }
