'use strict'

const { createHash } = require('node:crypto')
const { IdGenerator } = require('./id-generator.js')
const { record, isDate, unexpected, oneOf } = require('./options/check.js')
const { layoutOptions, machinesOf } = require('./options/layout.js')
const { slot } = require('./shared.js')
const { fakeBackend } = require('./testing/backend.js')

const NAMES = ['seed', 'now', 'key', 'keys', 'cipherKeys', 'ciphers', 'layout']
const REASONS = ['expired', 'rejected', 'conflict', 'relinquished']

/** The moment at which fake IDs are made unless `now` says otherwise. Snapshots depend on it: it never changes. */
const TEST_NOW = Date.UTC(2026, 0, 1)

/** The base key of fake IDs unless `key` says otherwise. Snapshots depend on it: it never changes. */
const TEST_KEY = 'mintid/testing: everybody knows this key'

/** An IdGenerator without addon and coordinator, whose lease ends and begins when the test says so. */
class FakeIdGenerator extends IdGenerator {
  #handle

  constructor(options, now) {
    const backend = fakeBackend(now)
    super(options, { ...backend, open: (...given) => (this.#handle = backend.open(...given)) })
    // The first use of a type opens the handle.
    this.type('').is('')
    this.#handle.announce()
    slot.generator = this
  }

  /** Loses the lease: `next()` throws until `regainLease()`. */
  loseLease(reason = 'expired') {
    this.#handle.lose(oneOf(reason, 'reason', REASONS))
  }

  /** Takes the next lease after `loseLease()`. */
  regainLease() {
    this.#handle.regain()
  }

  /** Counts from the beginning again, under a lease: the next IDs are those of a new `fakeIds()`. */
  reset() {
    this.#handle.reset()
  }
}

/** Makes a generator of deterministic IDs, ready for use, and makes it the process's default. */
function fakeIds(options = {}) {
  record(options, '', NAMES)
  const { seed = 1, now = TEST_NOW, ...others } = options
  const checked = layoutOptions(options.layout)
  const machineId = machineIdOf(seed, Math.max(1, machinesOf(checked) - 1))
  return new FakeIdGenerator({ key: TEST_KEY, ...others, machineId }, clockOf(now, checked))
}

/** A machine ID for a seed; the highest one of all is never leased, and is not counted in `machines`. */
function machineIdOf(seed, machines) {
  if (Number.isSafeInteger(seed) && seed >= 0) return seed % machines
  if (typeof seed === 'string') return createHash('sha256').update(seed).digest().readUInt32BE() % machines
  return unexpected('seed', 'a whole number from 0, or a text', seed)
}

/** What gives the time in milliseconds since 1970, always inside the layout. */
function clockOf(now, layout) {
  if (typeof now === 'function') return () => milliseconds(now(), layout)
  const fixed = milliseconds(now, layout)
  return () => fixed
}

function milliseconds(moment, { time, epochMs }) {
  const ms = isDate(moment) ? moment.getTime() : moment
  if (!Number.isSafeInteger(ms)) unexpected('now', 'a valid Date, whole milliseconds since 1970, or a function', moment)
  // The last timestamp of a layout is never used.
  const last = epochMs + 2 ** time - 2
  if (ms >= epochMs && ms <= last) return ms
  return unexpected('now', `a time inside the layout, from ${epochMs} to ${last} ms since 1970`, ms)
}

module.exports = { fakeIds, TEST_NOW, TEST_KEY }
