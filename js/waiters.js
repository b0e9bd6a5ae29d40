'use strict'

/**
 * Lets each caller of `ready()` give up alone, although a handle can only cancel all of its waits at once: whoever
 * gives up early leaves a wait behind, and the last one to leave cancels what was left.
 */
class Waiters {
  #handle
  #waiting = 0

  constructor(handle) {
    this.#handle = handle
  }

  /**
   * Waits for a lease.
   *
   * @param {number} timeoutMs may be Infinity
   * @param {AbortSignal} [signal]
   * @returns {Promise<object | undefined>} the failure, if there was one
   * @throws the signal's reason, as soon as it aborts
   */
  async wait(timeoutMs, signal) {
    this.#waiting++
    try {
      const answer = this.#handle.ready(timeoutMs)
      return await (signal ? abortable(answer, signal) : answer)
    } finally {
      if (--this.#waiting === 0) this.#handle.cancel()
    }
  }
}

function abortable(promise, signal) {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

module.exports = { Waiters }
