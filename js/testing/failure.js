'use strict'

/** What a backend hands over in place of an error (see js/errors.js). Inside this folder it is thrown. */
class Failure extends Error {
  /**
   * @param {string} code what follows ERR_MINTID_
   * @param {string} message
   * @param {object} [fields] what the error shows beside its message
   */
  constructor (code, message, fields) {
    super(message)
    Object.assign(this, { failure: true, code: `ERR_MINTID_${code}`, ...fields })
  }
}

module.exports = { Failure }
