'use strict'

/** Pseudorandom numbers that are the same in every run (xorshift32), so that a failure can be repeated. */
class Random {
  #state

  constructor(seed) {
    this.#state = seed | 0 || 1
  }

  /** An integer from 0 to n - 1. */
  below(n) {
    this.#state ^= this.#state << 13
    this.#state ^= this.#state >>> 17
    this.#state ^= this.#state << 5
    return (this.#state >>> 0) % n
  }

  /** An unsigned number of 64 bits, of all magnitudes alike. */
  number() {
    const whole = (BigInt(this.below(2 ** 31)) << 33n) | (BigInt(this.below(2 ** 31)) << 2n) | BigInt(this.below(4))
    return whole >> BigInt(this.below(65))
  }

  pick(list) {
    return list[this.below(list.length)]
  }

  text(length, alphabet) {
    return Array.from({ length }, () => this.pick(alphabet)).join('')
  }
}

module.exports = { Random }
