'use strict'

const { within } = require('./within.js')

const EVENTS = [
  'leaseAcquired',
  'leaseRenewed',
  'leaseRetry',
  'leaseLost',
  'conflict',
  'leaseReleased',
  'overflow',
  'warning'
]

/**
 * Keeps every event of a generator from now on.
 *
 * @param {import('mintid').IdGenerator} ids
 * @returns {object[]} grows: each event, with its `type`
 */
function recorded(ids) {
  const events = []
  for (const type of EVENTS) ids.on(type, (event) => events.push({ type, ...event }))
  return events
}

/**
 * The next event of a type that passes the test. A generator does not keep the process alive for its events; waiting
 * for one here does.
 */
function heard(ids, type, passes = () => true) {
  const event = new Promise((resolve) => {
    const listener = (event) => {
      if (!passes(event)) return
      ids.off(type, listener)
      resolve(event)
    }
    ids.on(type, listener)
  })
  return within(event, () => `no ${type}`)
}

/** The next lease after a loss. */
function reacquired(ids) {
  return heard(ids, 'leaseAcquired', ({ source }) => source === 'reacquire')
}

module.exports = { heard, reacquired, recorded }
