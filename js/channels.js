'use strict'

const { channel } = require('node:diagnostics_channel')

const EVENTS = [
  'leaseAcquired',
  'leaseRenewed',
  'leaseRetry',
  'leaseLost',
  'leaseReleased',
  'conflict',
  'overflow',
  'warning'
]

/** Kept for ever: a channel that nobody holds may be collected, and its subscribers with it. */
const channels = new Map(EVENTS.map((name) => [name, channel(`mintid:${name}`)]))

/**
 * Publishes an event on the `node:diagnostics_channel` of its name. A subscriber that throws surfaces as an uncaught
 * exception, later; that is the channel's doing.
 *
 * @param {import('../index.js').IdGenerator} generator
 * @param {string} type the event's name
 * @param {object} event what listeners got
 */
function publish(generator, type, event) {
  const subscribed = channels.get(type)
  if (subscribed?.hasSubscribers) subscribed.publish({ generator, event })
}

module.exports = { publish }
