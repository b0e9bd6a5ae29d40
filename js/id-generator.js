'use strict'

// Whoever imports ID types imports this class, too: what making a generator takes is loaded when one is made.
const { EventEmitter } = require('node:events')
const { ClosedError, fromFailure } = require('./errors.js')
const { idType } = require('./id-type.js')
const { isBytes, isObject, known, refuse, unexpected } = require('./options/check.js')
const { bindType } = require('./shared.js')

const CLOSED = 'the generator was closed'

/** One handle on the process's lease: counts IDs out while the lease is held, converts them always. */
class IdGenerator extends EventEmitter {
  #options
  #backend
  #handle = null
  #waiters = null
  #generation = null
  #closing = null
  #warned = new Set()
  #stats
  #telemetry = null

  /**
   * Checks the options and does nothing else.
   *
   * @param {object} options
   * @param {object} [backend] what stands in for native code (`mintid/testing`); not part of the public API
   */
  constructor(options, backend = require('./native.js').backend) {
    super()
    const { generatorOptions } = require('./options/generator.js')
    const { Stats } = require('./stats.js')
    this.#options = generatorOptions(options)
    this.#backend = backend
    this.#stats = new Stats(this.#options.coordinator)
  }

  /** Makes a generator and waits for its lease; closes it again if that fails. */
  static async connect(options, readyOptions) {
    const generator = new this(options)
    try {
      await generator.ready(readyOptions)
    } catch (error) {
      await generator.close()
      throw error
    }
    return generator
  }

  /** Waits until a lease is held. Each caller has its own signal and its own timeout. */
  async ready(options = {}) {
    const { signal, acquireTimeoutMs } = this.#readyOptions(options)
    signal?.throwIfAborted()
    if (this.#closing) throw new ClosedError(CLOSED)
    if (this.#open().isHeld()) return
    this.#stats.asked()
    const failure = await this.#waiters.wait(acquireTimeoutMs, signal)
    if (this.#closing) throw new ClosedError(CLOSED)
    if (failure) throw this.#stats.failed(fromFailure(failure, this.ready))
  }

  /** Makes an ID type that is bound to this generator. */
  type(prefix, options = {}) {
    if (!isObject(options)) unexpected('options', 'an object', options)
    if ('generator' in options) refuse('generator', 'expected none, since ids.type() says which generator it is')
    return idType(prefix, { ...options, generator: this })
  }

  /** Counts a nonce out: a number that is used once, of 64, 96 or 128 bits. */
  nonce(bits, kind, options) {
    const { kind: checked, base } = require('./options/nonce.js').nonceOptions(bits, kind, options)
    const nonce = this.#open().nonce(bits, checked, base)
    if (nonce.failure) throw fromFailure(nonce, this.nonce)
    return nonce
  }

  /** Encrypts 8, 12 or 16 bytes under the generator's cipher for that size. */
  encrypt(nonce) {
    return this.#crypt(nonce, 'encrypt')
  }

  /** The inverse of `encrypt`. */
  decrypt(nonce) {
    return this.#crypt(nonce, 'decrypt')
  }

  /** Gives the lease up as lost and takes another one; `reason` becomes the event's `detail`. */
  relinquish(reason = '') {
    if (typeof reason !== 'string') unexpected('reason', 'a text', reason)
    if (!this.#closing) this.#handle?.relinquish(reason)
  }

  /** Ends this handle; the last one of a process releases the lease. Never rejects, and takes five seconds at most. */
  close() {
    this.#closing ??= this.#end()
    return this.#closing
  }

  [Symbol.asyncDispose]() {
    return this.close()
  }

  /** The machine ID that is held, or null. */
  get machineId() {
    return this.#handle?.lease()?.machineId ?? null
  }

  /** The lease that is held, or null. */
  get lease() {
    return publicLease(this.#handle?.lease())
  }

  /** What this generator was told of its lease so far, added up. */
  stats() {
    return this.#stats.report(this.#present())
  }

  /** Whether IDs can be made at present, and for how long: for a health check. */
  health() {
    return this.#stats.health(this.#present())
  }

  /** What loggers show; listeners and options stay out of it. */
  toJSON() {
    return { namespace: this.#options.namespace, lease: this.lease, closed: this.#closing !== null }
  }

  [Symbol.for('nodejs.util.inspect.custom')](_depth, options, inspect) {
    return `IdGenerator ${inspect(this.toJSON(), options)}`
  }

  /** How an ID type gets its functions; see `shared.js`. */
  [bindType](spec) {
    const binding = this.#backend.bind(spec, this.#open())
    if (binding.failure) throw fromFailure(binding)
    return { binding, takeFailure: this.#backend.takeFailure, generation: () => this.#generationWord() }
  }

  #crypt(nonce, method) {
    // Whoever encrypts it may not want it shown.
    if (!isBytes(nonce)) refuse('nonce', `expected a Buffer or a Uint8Array, found a value of type ${typeof nonce}`)
    if (![8, 12, 16].includes(nonce.length)) refuse('nonce', `expected 8, 12 or 16 bytes, found ${nonce.length}`)
    const crypted = this.#open()[method](nonce)
    if (crypted.failure) throw fromFailure(crypted, this[method])
    return crypted
  }

  /** The native handle, made at first need. One that is made after `close()` only converts. */
  #open() {
    if (this.#handle === null) {
      const { resolveMachineId } = require('./options/machine-id.js')
      const { Waiters } = require('./waiters.js')
      const { machineId, functions, acquireTimeoutMs: _, ...options } = this.#options
      // Weak, or the native side would keep a forgotten generator, and its lease, for ever.
      const here = new WeakRef(this)
      const deliverHere = (event) => here.deref()?.#hear(event)
      const native = { ...options, machineId: resolveMachineId(machineId) }
      const calls = functions && require('./calls/index.js').callsTo(options.coordinator, functions)
      const handle = this.#backend.open(native, deliverHere, calls)
      if (handle.failure) throw fromFailure(handle)
      if (this.#closing) handle.close()
      this.#handle = handle
      this.#waiters = new Waiters(handle)
      this.#measure(here)
    }
    return this.#handle
  }

  /** Memory that native code shares with this thread, made at first need. */
  #generationWord() {
    if (this.#generation === null) {
      const { MOST } = require('./ready-ids.js')
      this.#generation = this.#handle.generation()
      if (!this.#generation) this.#handle.generation((this.#generation = new Uint32Array(new ArrayBuffer(4 * MOST))))
    }
    return this.#generation
  }

  /** Metrics, where there may be a lease. */
  #measure(here) {
    const { namespace, coordinator } = this.#options
    if (this.#closing || coordinator === 'none') return
    const { Telemetry } = require('./telemetry.js')
    this.#telemetry = new Telemetry({ namespace, coordinator }, () => here.deref()?.health())
  }

  #hear({ type, ...fields }) {
    const { publicEvent, deliver } = require('./events.js')
    const event = publicEvent(fields)
    this.#stats.hear(type, event)
    this.#telemetry?.hear(type, event)
    deliver(this, type, event, this.#warned)
    require('./channels.js').publish(this, type, event)
  }

  /** What `stats()` and `health()` have to know beside the events. */
  #present() {
    const closed = this.#closing !== null
    const lease = !closed && this.#handle?.isHeld() ? this.#handle.lease() : null
    return { closed, lease: publicLease(lease), expiresInMs: timeLeft(lease) }
  }

  async #end() {
    this.#handle?.cancel()
    await this.#handle?.close()
    this.#telemetry?.close()
  }

  #readyOptions(options) {
    const { acquireTimeout } = require('./options/lease.js')
    known(options, '', ['signal', 'acquireTimeoutMs'])
    const { signal, acquireTimeoutMs = this.#options.acquireTimeoutMs } = options
    if (signal !== undefined && typeof signal?.throwIfAborted !== 'function') {
      unexpected('signal', 'an AbortSignal', signal)
    }
    return { signal, acquireTimeoutMs: acquireTimeout(acquireTimeoutMs, 'acquireTimeoutMs') }
  }
}

function publicLease(lease) {
  if (!lease) return null
  const { machineId, acquiredAt, expiresAt } = lease
  return { machineId, acquiredAt: new Date(acquiredAt), expiresAt: expiresAt == null ? null : new Date(expiresAt) }
}

/** Milliseconds until a lease ends, or null. `expiresAt` is told by the coordinator's clock, `expiresInMs` by the lease's. */
function timeLeft(lease) {
  if (lease?.expiresAt == null) return null
  return Math.max(0, lease.expiresInMs ?? lease.expiresAt - Date.now())
}

module.exports = { IdGenerator }
