'use strict'

/** What each event adds one to. */
const COUNTED = {
  leaseAcquired: 'acquired',
  leaseRenewed: 'renewed',
  leaseRetry: 'retries',
  leaseLost: 'lost',
  leaseReleased: 'released',
  conflict: 'conflicts',
  overflow: 'overflows',
  warning: 'warnings'
}

/** The operations that events tell the success of. */
const SUCCEEDED = { leaseAcquired: 'acquire', leaseRenewed: 'renew', leaseReleased: 'release' }

/** With these a `ready()` gives up, while native code goes on asking for a lease. */
const GAVE_UP = [
  'ERR_MINTID_ACQUIRE_TIMEOUT',
  'ERR_MINTID_EXHAUSTED',
  'ERR_MINTID_CONFLICT',
  'ERR_MINTID_REGISTRY_RESET'
]

/** What one generator was told of its lease, added up. */
class Stats {
  #converts
  #counts = { acquired: 0, renewed: 0, retries: 0, lost: 0, released: 0, conflicts: 0, overflows: 0, warnings: 0 }
  #lastOperation = null
  #lastError = null
  #asked = false
  /** The operation that fails at present: `{ operation, attempt, error }`. */
  #failing = null
  /** Why the last lease was lost, if this generator was told. */
  #reason = null
  /** The guarded machine ID that another process holds, if this generator was told. */
  #conflict = null

  /** @param {string} coordinator its kind; where it is 'none' nobody ever asks for a lease */
  constructor(coordinator) {
    this.#converts = coordinator === 'none'
  }

  /** Takes note of an event. */
  hear(type, event) {
    if (Object.hasOwn(COUNTED, type)) this.#counts[COUNTED[type]]++
    if (type === 'leaseRetry') {
      this.#failing = event
      this.#lastError = event.error
    } else if (type === 'leaseLost') {
      this.#failing = null
      this.#reason = event.reason
    } else if (type === 'conflict') {
      this.#conflict = event.machineId
    } else if (Object.hasOwn(SUCCEEDED, type)) {
      this.#failing = null
      this.#reason = null
      this.#conflict = null
      this.#lastOperation = { operation: SUCCEEDED[type], at: event.at, durationMs: event.durationMs ?? null }
    }
  }

  /** Native code was asked for a lease. */
  asked() {
    this.#asked = true
  }

  /**
   * A `ready()` failed.
   *
   * @param {import('./errors.js').MintidError} error
   * @returns {import('./errors.js').MintidError} the same
   */
  failed(error) {
    this.#asked = GAVE_UP.includes(error.code)
    if (!this.#asked) this.#lastError = error
    return error
  }

  /**
   * @param {{ closed: boolean, lease: object | null }} present whether the generator was closed, and the lease it holds
   * @returns {import('../index.js').GeneratorStats}
   */
  report(present) {
    const { lease } = present
    return {
      state: this.#state(present),
      machineId: lease?.machineId ?? null,
      lease,
      ...this.#counts,
      lastOperation: this.#lastOperation && { ...this.#lastOperation },
      lastError: this.#lastError
    }
  }

  /**
   * @param {{ closed: boolean, lease: object | null, expiresInMs: number | null }} present
   * @returns {import('../index.js').GeneratorHealth}
   */
  health(present) {
    const { lease, expiresInMs } = present
    const [status, reason] = this.#verdict(this.#state(present), lease)
    return { status, reason, machineId: lease?.machineId ?? null, expiresInMs }
  }

  #state({ closed, lease }) {
    if (closed) return 'closed'
    if (lease) return 'held'
    if (this.#conflict !== null) return 'conflict'
    // The thread may not have heard of a loss yet.
    if (this.#counts.acquired > 0) return 'lost'
    return this.#asked && !this.#converts ? 'acquiring' : 'idle'
  }

  /** Codes only, no messages: health is often shown to everybody. */
  #verdict(state, lease) {
    switch (state) {
      case 'held':
        return [this.#failing ? 'degraded' : 'ok', `machine ID ${lease.machineId} is leased${this.#failures()}`]
      case 'conflict':
        return [
          'unavailable',
          `machine ID ${this.#conflict} is held by another process; asking for it again${this.#failures()}`
        ]
      case 'lost':
        return ['unavailable', `the lease was lost${this.#why()}; asking for another one${this.#failures()}`]
      case 'acquiring':
        return ['unavailable', `asking for the first lease${this.#failures()}`]
      case 'closed':
        return ['unavailable', 'the generator was closed']
      default:
        if (this.#converts) return ['ok', "this process only converts, as coordinator 'none' says"]
        if (this.#lastError) return ['unavailable', `no lease could be had: ${codes(this.#lastError)}`]
        return ['unavailable', 'no lease was asked for: ready() was not called']
    }
  }

  #why() {
    return this.#reason === null ? '' : ` (${this.#reason})`
  }

  #failures() {
    if (this.#failing === null) return ''
    const { operation, attempt, error } = this.#failing
    const times = attempt === 1 ? 'failed once' : `failed ${attempt} times in a row`
    return `; ${operation} ${times}: ${codes(error)}`
  }
}

function codes({ code, serverCode, notBefore }) {
  if (notBefore !== undefined) return `${code} until ${notBefore.toISOString()}`
  return serverCode === undefined ? code : `${code} (${serverCode})`
}

module.exports = { Stats }
