'use strict'

const { Reader } = require('./resp.js')

/** What runs a script, and so changes something: the rest may come as often as it likes. */
const SCRIPTS = ['EVAL', 'EVALSHA', 'FCALL']

/**
 * Where requests and answers begin and end in the protocol of Redis: each command is a request, and has one answer. For
 * connections without TLS.
 */
class RedisFraming {
  #up = new Reader()
  #down = new Reader()

  /** @returns {{ bytes: Buffer, answered: boolean, repeatable: boolean }[]} complete requests of the client's */
  requests(bytes) {
    return this.#up.read(bytes).map(({ bytes: request, value: [name] }) => {
      return { bytes: request, answered: true, repeatable: SCRIPTS.includes(name.toUpperCase()) }
    })
  }

  /** @returns {{ bytes: Buffer, ends: boolean }[]} what the server said: `ends` unless it spoke unasked */
  answers(bytes) {
    return this.#down.read(bytes).map(({ bytes: answer, pushed }) => ({ bytes: answer, ends: !pushed }))
  }
}

module.exports = { RedisFraming }
