'use strict'

/** What arrives, in order, for whoever asks for it: before or after it arrived. */
class Mailbox {
  #arrived = []
  #asking = []
  #end = null

  put(value) {
    const asking = this.#asking.shift()
    if (asking) asking.resolve(value)
    else this.#arrived.push(value)
  }

  /** The next value. Rejects with what `end` was told when nothing more can arrive. */
  take() {
    if (this.#arrived.length > 0) return Promise.resolve(this.#arrived.shift())
    if (this.#end) return Promise.reject(this.#end)
    return new Promise((resolve, reject) => this.#asking.push({ resolve, reject }))
  }

  /** All that arrived and was not taken. */
  rest() {
    return this.#arrived.splice(0)
  }

  end(error) {
    this.#end = error
    for (const { reject } of this.#asking.splice(0)) reject(error)
  }
}

module.exports = { Mailbox }
