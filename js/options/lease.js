'use strict'

const { record, integer } = require('./check.js')

const NAMES = ['ttlMs', 'firstTtlMs', 'renewEveryMs', 'acquireTimeoutMs', 'requestTimeoutMs']
const SHORTEST_TTL_MS = 3000
const LONGEST_TTL_MS = 86_400_000
/** What a timer can hold: 24.8 days. */
const LONGEST_WAIT_MS = 2 ** 31 - 1

/**
 * The timings of a lease, in milliseconds, each checked against the others.
 *
 * @param {object} [lease] the user's `lease`
 * @returns {Record<'ttlMs' | 'firstTtlMs' | 'renewEveryMs' | 'requestTimeoutMs' | 'acquireTimeoutMs', number>}
 */
function leaseOptions(lease = {}) {
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

  return { ttlMs, firstTtlMs, renewEveryMs, requestTimeoutMs, acquireTimeoutMs }
}

/** Checks how long to wait for a lease: milliseconds, or Infinity. */
function acquireTimeout(value, option) {
  return value === Infinity ? value : integer(value, option, 1, LONGEST_WAIT_MS, 'ms, or Infinity')
}

module.exports = { leaseOptions, acquireTimeout }
