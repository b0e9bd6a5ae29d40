'use strict'

const { record, integer, oneOf } = require('./check.js')
const { ofServer } = require('./server.js')

const NAMES = ['ttlMs', 'firstTtlMs', 'renewEveryMs', 'acquireTimeoutMs', 'requestTimeoutMs', 'onReset']
const ON_RESET = ['wait', 'grant']
const SHORTEST_TTL_MS = 3000
const LONGEST_TTL_MS = 86_400_000
/** What a timer can hold: 24.8 days. */
const LONGEST_WAIT_MS = 2 ** 31 - 1

/**
 * The timings of a lease, in milliseconds, each checked against the others, and what a registry that was reset does.
 *
 * @param {object | undefined} lease the user's `lease`
 * @param {string} coordinator its kind
 * @returns {{ ttlMs: number, firstTtlMs: number, renewEveryMs: number, requestTimeoutMs: number, acquireTimeoutMs: number,
 *   onReset: 'wait' | 'grant' }}
 */
function leaseOptions(lease = {}, coordinator) {
  record(lease, 'lease', NAMES)

  const { ttlMs = 300_000 } = lease
  integer(ttlMs, 'lease.ttlMs', SHORTEST_TTL_MS, LONGEST_TTL_MS, 'ms')

  const { firstTtlMs = Math.min(60_000, ttlMs) } = lease
  integer(firstTtlMs, 'lease.firstTtlMs', SHORTEST_TTL_MS, ttlMs, 'ms; at most lease.ttlMs')

  const { renewEveryMs = Math.floor(ttlMs / 5) } = lease
  integer(renewEveryMs, 'lease.renewEveryMs', 100, ttlMs - 1, 'ms; less than lease.ttlMs')

  const { requestTimeoutMs = Math.min(5000, Math.floor(firstTtlMs / 3)) } = lease
  integer(requestTimeoutMs, 'lease.requestTimeoutMs', 100, firstTtlMs - 1, 'ms; less than lease.firstTtlMs')

  const { acquireTimeoutMs = 60_000 } = lease
  acquireTimeout(acquireTimeoutMs, 'lease.acquireTimeoutMs')

  const { onReset = 'wait' } = lease
  if (lease.onReset !== undefined) ofServer('lease.onReset', coordinator)
  oneOf(onReset, 'lease.onReset', ON_RESET)

  return { ttlMs, firstTtlMs, renewEveryMs, requestTimeoutMs, acquireTimeoutMs, onReset }
}

/** Checks how long to wait for a lease: milliseconds, or Infinity. */
function acquireTimeout(value, option) {
  return value === Infinity ? value : integer(value, option, 1, LONGEST_WAIT_MS, 'ms, or Infinity')
}

module.exports = { leaseOptions, acquireTimeout }
