'use strict'

/**
 * What stands in for native code in these tests: IDs are the prefix and eleven decimal digits, and the test itself
 * decides when a lease comes and goes.
 *
 * @returns {{ backend: object, handles: FakeHandle[], specs: object[], failOpen: object | undefined }}
 */
function fakeBackend() {
  const fake = { handles: [], specs: [], failOpen: undefined, failBind: undefined }
  let failure
  const fail = (code, message, fields) => {
    failure = { failure: true, code, message, ...fields }
  }
  fake.backend = {
    open(options, onEvent) {
      if (fake.failOpen) return fake.failOpen
      const handle = new FakeHandle(options, onEvent)
      fake.handles.push(handle)
      return handle
    },
    bind(spec, handle) {
      if (fake.failBind) return fake.failBind
      fake.specs.push(spec)
      return binding(spec, handle, fail)
    },
    takeFailure: () => failure
  }
  return fake
}

/** A handle that records what it is asked. */
class FakeHandle {
  held = null
  closed = false
  cancelled = 0
  relinquished = []
  pending = []

  constructor(options, onEvent) {
    this.options = options
    this.onEvent = onEvent
  }

  /** Hands out a lease and settles every wait. */
  grant(machineId = 7) {
    this.held = { machineId, acquiredAt: Date.UTC(2026, 0, 1), expiresAt: Date.UTC(2026, 0, 2) }
    this.settle(undefined)
  }

  settle(answer) {
    for (const { resolve } of this.pending.splice(0)) resolve(answer)
  }

  ready(timeoutMs) {
    return new Promise((resolve) => this.pending.push({ timeoutMs, resolve }))
  }

  cancel() {
    this.cancelled++
    this.settle({ failure: true, code: 'ERR_MINTID_CLOSED', message: 'cancelled' })
  }

  isHeld() {
    return this.held !== null
  }

  lease() {
    return this.held
  }

  relinquish(reason) {
    this.relinquished.push(reason)
  }

  async close() {
    this.closed = true
    this.held = null
  }
}

function binding({ prefix, accepts }, handle, fail) {
  let count = 0n
  const text = (db) => prefix + String(db).padStart(11, '0')
  const expected = text(0n)
  const refused = (reason) => fail('ERR_MINTID_INVALID_ID', `not an ID: ${reason}`, { reason, expected })
  const read = (value, withPrefix) => {
    if (typeof value !== 'string') return refused('type')
    if (!value.startsWith(withPrefix)) return refused('prefix')
    const digits = value.slice(withPrefix.length)
    return /^\d{11}$/.test(digits) ? BigInt(digits) : refused('length')
  }
  const mint = (make) => () => {
    if (handle?.closed) return fail('ERR_MINTID_CLOSED', 'closed')
    if (!handle?.held) return fail('ERR_MINTID_LEASE_LOST', 'lost', { machineId: 7, reason: 'expired' })
    return make(++count)
  }
  const many = (make) => (n) => mint(() => Array.from({ length: n }, () => make(++count)))()
  const toDb = (value) => {
    for (const spelling of accepts) {
      const db = read(value, spelling.prefix)
      if (db !== undefined) return db
    }
    return read(value, prefix)
  }
  const fromDb = (db) => (typeof db === 'bigint' ? text(db) : refused('type'))
  const all = (convert) => (values) => {
    const converted = Array.from(values, convert)
    return converted.includes(undefined) ? undefined : converted
  }
  return {
    next: mint(text),
    nextDb: mint((db) => db),
    nextMany: many(text),
    nextManyDb: many((db) => db),
    toDb,
    fromDb,
    toDbMany: all(toDb),
    fromDbMany: all(fromDb),
    is: (value) => read(value, prefix) !== undefined,
    format: (value, to) => (toDb(value) === undefined ? undefined : `${to}:${value}`),
    inspect(value) {
      const db = toDb(value)
      if (db === undefined) return undefined
      return { kind: 'counter', timestamp: 0, exact: false, machineId: 7, sequence: Number(db), partition: 0, db }
    },
    rangeFor: (from, to) => [BigInt(from), BigInt(to)]
  }
}

/** One turn of the event loop, in which every settled promise was answered. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

module.exports = { fakeBackend, turn }
