'use strict'

const { boolean, integer, isObject, record } = require('./check.js')
const { milliseconds } = require('./place.js')

/** Clocks differ, and a type that drifts is up to five minutes ahead of its own. */
const SKEW_MS = 600_000

/**
 * When an ID that is read may have been made.
 *
 * @param {{ plausible?: boolean | { since?: Date | number, skewMs?: number } }} options the user's
 * @returns {{ from: number, to: number } | null} milliseconds since 1970; null where any time will do
 */
function plausibleOption(options) {
  record(options, '', ['plausible'])
  const { plausible = false } = options
  if (!isObject(plausible)) return boolean(plausible, 'plausible') ? { from: 0, to: Date.now() + SKEW_MS } : null
  record(plausible, 'plausible', ['since', 'skewMs'])
  const { since = 0, skewMs = SKEW_MS } = plausible
  const from = milliseconds(since, 'plausible.since')
  integer(from, 'plausible.since', 0, Number.MAX_SAFE_INTEGER)
  return { from, to: Date.now() + integer(skewMs, 'plausible.skewMs', 0, 2 ** 43, 'ms') }
}

module.exports = { plausibleOption }
