'use strict'

/** Under which a lent connection is known, also to another copy of this module. */
const LENT = Symbol.for('mintid.lent')

/** What `mintid/coordinators` makes: a coordinator over functions that lend a connection. */
class Lent {
  #source
  #functions

  constructor(source, functions) {
    this.#source = source
    this.#functions = functions
  }

  /** What native code takes, and the functions. */
  [LENT]() {
    return { ...this.#source, functions: this.#functions }
  }
}

/** What an object lends, if it does. */
function lentBy(value) {
  return value[LENT]?.()
}

module.exports = { Lent, lentBy }
