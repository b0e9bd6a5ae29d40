'use strict'

const { Failure } = require('./failure.js')
const { FakeIdType } = require('./id-type.js')

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
  /** Likewise `{ timestamp, count }`, of nonces of 96 and 128 bits. */
  #wideWords = new Map()
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

  /** The same for nonces of 96 and 128 bits, which share their sequences. */
  nextWide(bits, space, order) {
    if (this.#missing) throw this.#missing
    const word = this.#following(this.#wideWords.get(space), order)
    if (word.timestamp >= this.#layout.end) throw this.#layout.ended()
    this.#wideWords.set(space, word)
    return this.#layout.wideNonce(bits, { ...word, machineId: BigInt(this.#machineId) })
  }

  #following(last, order) {
    if (order === 'counter') return { timestamp: this.#start, count: last ? last.count + 1n : 0n }
    const timestamp = later(this.#start, this.#timestamp())
    if (!last || last.timestamp < timestamp) return { timestamp, count: 0n }
    const count = last.count + 1n
    return count < this.#layout.widePerMs ? { ...last, count } : { timestamp: last.timestamp + 1n, count: 0n }
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

  /** The next nonce as bytes, as types of that kind have them. */
  nonce(bits, kind, base) {
    return this.#unlessFailed(() => {
      const spec = { prefix: '', format: 'raw', dbFormat: 'raw', mask: false, accepts: [], persistPrefix: false }
      const type = new FakeIdType({ ...spec, bits, kind, base }, this.#layout, this.#keys)
      return type.writeDb(type.mint(this))
    })
  }

  encrypt(nonce) {
    return this.#unlessFailed(() => this.#keys.crypt(nonce, 'encrypt'))
  }

  decrypt(nonce) {
    return this.#unlessFailed(() => this.#keys.crypt(nonce, 'decrypt'))
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

  /** What a call gives, or the failure that it ends in. */
  #unlessFailed(call) {
    try {
      return call()
    } catch (failure) {
      if (failure instanceof Failure) return failure
      throw failure
    }
  }

  #begin(earliest) {
    this.#acquiredAt = this.#now()
    this.#start = later(this.#timestamp(), earliest)
    this.#words.clear()
    this.#wideWords.clear()
  }

  #timestamp() {
    return this.#layout.timestamp(this.#now())
  }

  /** The first timestamp after all that were used. */
  #unused() {
    const words = [...this.#words.values()].map((word) => this.#layout.timestampOf(word))
    const used = [...words, ...[...this.#wideWords.values()].map(({ timestamp }) => timestamp)]
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
