'use strict'

/**
 * What a backend hands over in place of an error (js/errors.js makes one of it). Inside this folder it is thrown, but
 * it is no Error itself: a stack that nobody sees would cost more than all the rest.
 */
class Failure {
  failure = true

  /**
   * @param {string} code what follows ERR_MINTID_
   * @param {string} message
   * @param {object} [fields] what the error shows beside its message
   */
  constructor(code, message, fields) {
    Object.assign(this, { code: `ERR_MINTID_${code}`, message, ...fields })
  }
}

module.exports = { Failure }
