'use strict'

const { shown } = require('../options/check.js')

/** An answer that is none; `what` is read after the function's name. */
class Nonsense {
  constructor(what) {
    this.what = what
  }

  /** About a whole answer, or with a name about a part of it. */
  static found(found, expected, name) {
    return new Nonsense(`answered ${name === undefined ? '' : `${name} `}${shown(found)}; expected ${expected}`)
  }
}

module.exports = { Nonsense }
