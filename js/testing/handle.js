'use strict'

const { Failure } = require('./failure.js')

/** A lease that no coordinator granted: held at once, lost and regained on demand. Minting never waits for a clock. */
class FakeHandle {
  #machineId
  #layout
  #keys
  #now
  #onEvent
  #start
  #acquiredAt
  /** The last word of each space that was counted in. */
  #words = new Map()
  /** The failure that counting ends in; undefined while the lease is held. */
  #missing
  /** What settles each pending `ready`. */
  #waiting = new Set()

  /**
   * @param {object} lease
   * @param {number} lease.machineId
   * @param {import('./layout.js').Layout} lease.layout
   * @param {import('./ciphers/keyring.js').Keyring} lease.keys
   * @param {() => number} lease.now milliseconds since 1970, inside the layout
   * @param {(event: object) => void} lease.onEvent
   */
  constructor({ machineId, layout, keys, now, onEvent }) {
    this.#machineId = machineId
    this.#layout = layout
    this.#keys = keys
    this.#now = now
    this.#onEvent = onEvent
    this.#begin(0n)
  }

  /**
   * The next nonce of a space. A used-up millisecond runs into the next one, whatever the clock says.
   *
   * @param {string} space types of one space share a sequence
   * @param {'counter' | 'sortable'} order
   */
  next(space, order) {
    if (this.#missing) throw this.#missing
    const following = (this.#words.get(space) ?? this.#layout.firstWord(this.#start) - 1n) + 1n
    const word = order === 'sortable' ? later(following, this.#layout.firstWord(this.#timestamp())) : following
    if (this.#layout.timestampOf(word) >= this.#layout.end) throw this.#layout.ended()
    this.#words.set(space, word)
    return this.#layout.nonce(word, BigInt(this.#machineId))
  }

  start() {
    return undefined
  }

  ready(timeoutMs) {
    if (!this.#missing) return Promise.resolve(undefined)
    if (this.#isClosed) return Promise.resolve(this.#missing)
    return new Promise((resolve) => {
      const timer = timeoutMs === Infinity ? undefined : setTimeout(() => settle(timedOut(timeoutMs)), timeoutMs)
      const settle = (failure) => {
        clearTimeout(timer)
        this.#waiting.delete(settle)
        resolve(failure)
      }
      this.#waiting.add(settle)
    })
  }

  cancel() {
    this.#settleAll(new Failure('CLOSED', 'the wait for a lease was cancelled'))
  }

  isHeld() {
    return !this.#missing
  }

  lease() {
    return this.#missing ? null : { machineId: this.#machineId, acquiredAt: this.#acquiredAt, expiresAt: null }
  }

  relinquish(detail) {
    this.lose('relinquished', detail || undefined)
    this.regain()
  }

  encrypt(nonce) {
    return this.#crypt(nonce, 'encrypt')
  }

  decrypt(nonce) {
    return this.#crypt(nonce, 'decrypt')
  }

  async close() {
    if (this.isHeld()) this.#emit('leaseReleased', { durationMs: 0, source: 'shutdown' })
    this.#missing = new Failure('CLOSED', 'the generator is closed')
    this.#settleAll(this.#missing)
  }

  /** Tells of the first lease, as soon as there is somebody to hear it. */
  announce() {
    this.#emit('leaseAcquired', { durationMs: 0, source: 'initial' })
  }

  /** Ends the lease, if it is held. */
  lose(reason, detail) {
    if (this.#missing) return
    const machineId = this.#machineId
    const text = `the lease of machine ID ${machineId} was lost (${reason}); no IDs until the next one`
    this.#missing = new Failure('LEASE_LOST', text, { machineId, reason })
    this.#emit('leaseLost', { reason, detail })
  }

  /** Takes the next lease, if the last one was lost: it begins after everything that was counted before. */
  regain() {
    if (!this.#missing || this.#isClosed) return
    this.#begin(this.#unused())
    this.#missing = undefined
    this.#settleAll(undefined)
    this.#emit('leaseAcquired', { durationMs: 0, source: 'reacquire' })
  }

  /** Counts from the beginning again, under a lease. */
  reset() {
    this.regain()
    if (!this.#missing) this.#begin(0n)
  }

  get #isClosed() {
    return this.#missing?.code === 'ERR_MINTID_CLOSED'
  }

  #crypt(nonce, method) {
    try {
      return this.#keys.crypt(nonce, method)
    } catch (failure) {
      if (failure instanceof Failure) return failure
      throw failure
    }
  }

  #begin(earliest) {
    this.#acquiredAt = this.#now()
    this.#start = later(this.#timestamp(), earliest)
    this.#words.clear()
  }

  #timestamp() {
    return this.#layout.timestamp(this.#now())
  }

  /** The first timestamp after all that were used. */
  #unused() {
    const used = [...this.#words.values()].map((word) => this.#layout.timestampOf(word))
    return used.reduce((first, timestamp) => later(first, timestamp + 1n), this.#start)
  }

  #settleAll(failure) {
    for (const settle of [...this.#waiting]) settle(failure)
  }

  #emit(type, fields) {
    this.#onEvent({ type, at: this.#now(), machineId: this.#machineId, ...fields })
  }
}

function timedOut(timeoutMs) {
  const text = `no lease within ${timeoutMs} ms: regainLease() was not called`
  return new Failure('ACQUIRE_TIMEOUT', text, { attempts: 0 })
}

/** The greater of two BigInts. */
function later(one, other) {
  if (one > other) return one
  return other
}

module.exports = { FakeHandle }
