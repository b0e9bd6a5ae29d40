'use strict'

const { Failure } = require('./failure.js')
const { FakeIdType } = require('./id-type.js')

/** How far a given time may be ahead of the clock. */
const MOST_AHEAD_MS = 300_000

/** A lease that no coordinator granted: held at once, lost and regained on demand. Minting never waits for a clock. */
class FakeHandle {
  #machineId
  #layout
  #keys
  #now
  #onEvent
  #start
  #acquiredAt
  /** The last `{ layout, word }` of each space that was counted in. */
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
   * @param {{ space: string, order: 'counter' | 'sortable', layout: import('./layout.js').Layout }} type types of one space
   * and layout share a sequence in each partition
   * @param {{ partition?: number, time?: number }} [place] `time` in milliseconds since 1970
   */
  next({ space, order, layout }, { partition = 0, time } = {}) {
    if (this.#missing) throw this.#missing
    this.#fits(layout)
    const name = `${space} ${layout.name} ${layout.checked(partition)}`
    const start = layout.firstWord(layout.timestamp(this.#layout.unixMs(this.#start)))
    const following = (this.#words.get(name)?.word ?? start - 1n) + 1n
    const word =
      order === 'sortable' || time !== undefined ? later(following, this.#wordAt(time, order, layout)) : following
    if (layout.timestampOf(word) >= layout.end) throw layout.ended()
    this.#words.set(name, { layout, word })
    return layout.nonce(word, BigInt(this.#machineId), BigInt(partition))
  }

  /** The first word of now, or of a given time inside the lease. */
  #wordAt(time, order, layout) {
    if (time === undefined) return layout.firstWord(layout.timestamp(this.#now()))
    if (order !== 'sortable') {
      const text = 'time: expected a type of sortable nonces; others do not count by time'
      throw new Failure('CONFIG', text, { option: 'time' })
    }
    const [from, to] = [this.#layout.unixMs(this.#start), this.#now() + MOST_AHEAD_MS + 1]
    if (time < from || time >= to) {
      throw new Failure('TIME', `time: expected one from ${from} and before ${to} (ms since 1970), found ${time}`)
    }
    return layout.firstWord(layout.timestamp(time))
  }

  #fits(layout) {
    if (layout.machines >= this.#layout.machines) return
    const [most, found] = [this.#layout.machines, layout.machines]
    const text = `layout: expected room for ${most} machine IDs, as the generator's has, found ${found}`
    throw new Failure('CONFIG', text, { option: 'layout' })
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
    const words = [...this.#words.values()].map(({ layout, word }) =>
      this.#layout.timestamp(layout.unixMs(layout.timestampOf(word)))
    )
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
