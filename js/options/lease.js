'use strict'

const { record, refuse, integer, oneOf } = require('./check.js')
const { ofServer } = require('./server.js')

const NAMES = ['ttlMs', 'firstTtlMs', 'renewEveryMs', 'acquireTimeoutMs', 'requestTimeoutMs', 'onReset']
const ON_RESET = ['wait', 'grant']
const SHORTEST_TTL_MS = 3000
const LONGEST_TTL_MS = 86_400_000
/** Who crashes young gives its machine ID back soon; one that is guarded, always. */
const FIRST_TTL_MS = 60_000
/** What a timer can hold: 24.8 days. */
const LONGEST_WAIT_MS = 2 ** 31 - 1

/**
 * The timings of a lease, in milliseconds, each checked against the others, and what a registry that was reset does.
 *
 * `ttlMs` is what the namespace agrees on. A guarded lease lasts for `firstTtlMs` however old it is.
 *
 * @param {object | undefined} lease the user's `lease`
 * @param {string} coordinator its kind
 * @param {boolean} guarded whether it guards one machine ID
 * @returns {{ ttlMs: number, firstTtlMs: number, renewEveryMs: number, requestTimeoutMs: number, acquireTimeoutMs: number,
 *   onReset: 'wait' | 'grant' }}
 */
function leaseOptions(lease = {}, coordinator, guarded) {
  record(lease, 'lease', NAMES)

  const { ttlMs = 300_000 } = lease
  integer(ttlMs, 'lease.ttlMs', SHORTEST_TTL_MS, LONGEST_TTL_MS, 'ms')

  const { firstTtlMs = Math.min(FIRST_TTL_MS, ttlMs) } = lease
  if (guarded && lease.firstTtlMs !== undefined) {
    refuse('lease.firstTtlMs', `expected none beside guard, whose leases last ${Math.min(FIRST_TTL_MS, ttlMs)} ms`)
  }
  integer(firstTtlMs, 'lease.firstTtlMs', SHORTEST_TTL_MS, ttlMs, 'ms; at most lease.ttlMs')

  const [lasts, named] = guarded ? [firstTtlMs, 'a guarded lease lasts'] : [ttlMs, 'lease.ttlMs']
  const { renewEveryMs = Math.floor(lasts / 5) } = lease
  integer(renewEveryMs, 'lease.renewEveryMs', 100, lasts - 1, `ms; less than ${named}`)

  const { requestTimeoutMs = Math.min(5000, Math.floor(firstTtlMs / 3)) } = lease
  const first = guarded ? named : 'lease.firstTtlMs'
  integer(requestTimeoutMs, 'lease.requestTimeoutMs', 100, firstTtlMs - 1, `ms; less than ${first}`)

  // Whose predecessor crashed a moment ago waits for its whole lease; that is to be expected, and no reason to give up.
  const { acquireTimeoutMs = guarded ? 90_000 : 60_000 } = lease
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
