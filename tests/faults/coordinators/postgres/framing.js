'use strict'

const [SYNC, QUERY, READY] = ['S', 'Q', 'Z'].map((letter) => letter.charCodeAt(0))
const [SSL_REQUEST, GSS_REQUEST] = [80877103, 80877104]

/**
 * Where requests and answers begin and end in PostgreSQL's protocol (version 3): a request is everything up to a Sync, or
 * a simple Query; its answer ends with ReadyForQuery. What comes before the first of these (TLS, startup, password) is
 * passed on as it is. For connections without TLS.
 */
class PostgresFraming {
  #up = Buffer.alloc(0)
  #down = Buffer.alloc(0)
  #request = []
  #started = false
  #bareAnswers = 0

  /**
   * Complete requests of the client's: `answered` where a ReadyForQuery is owed for it.
   *
   * @returns {{ bytes: Buffer, answered: boolean, repeatable: boolean }[]}
   */
  requests(bytes) {
    this.#up = Buffer.concat([this.#up, bytes])
    const requests = []
    for (let message; (message = this.#nextOfClient()); ) requests.push(...this.#grouped(message))
    return requests
  }

  #grouped(message) {
    if (message.startup) return [{ bytes: message.bytes, answered: message.answered, repeatable: false }]
    const [type] = message.bytes
    this.#request.push(message.bytes)
    const ends = type === SYNC || type === QUERY
    if (!ends && EXTENDED.includes(type)) return []
    const request = Buffer.concat(this.#request)
    this.#request = []
    return [{ bytes: request, answered: ends, repeatable: ends }]
  }

  /** The next whole message of the client's, or undefined. Those before the session have no type. */
  #nextOfClient() {
    const header = this.#started ? 1 : 0
    if (this.#up.length < header + 4) return undefined
    const length = header + this.#up.readUInt32BE(header)
    if (this.#up.length < length) return undefined
    const bytes = this.#up.subarray(0, length)
    this.#up = this.#up.subarray(length)
    if (this.#started) return { bytes }
    const code = length >= 8 ? bytes.readUInt32BE(4) : 0
    const asks = code === SSL_REQUEST || code === GSS_REQUEST
    if (asks) this.#bareAnswers++
    else this.#started = true
    return { bytes, startup: true, answered: !asks }
  }

  /**
   * What the server said, message by message: `ends` after a ReadyForQuery.
   *
   * @returns {{ bytes: Buffer, ends: boolean }[]}
   */
  answers(bytes) {
    this.#down = Buffer.concat([this.#down, bytes])
    const answers = []
    for (; this.#bareAnswers > 0 && this.#down.length > 0; this.#bareAnswers--) {
      answers.push({ bytes: this.#down.subarray(0, 1), ends: false })
      this.#down = this.#down.subarray(1)
    }
    while (this.#down.length >= 5) {
      const length = 1 + this.#down.readUInt32BE(1)
      if (this.#down.length < length) break
      answers.push({ bytes: this.#down.subarray(0, length), ends: this.#down[0] === READY })
      this.#down = this.#down.subarray(length)
    }
    return answers
  }
}

/** Parse, Bind, Describe, Execute, Close, Flush: part of a request that a Sync ends. */
const EXTENDED = [...'PBDECH'].map((letter) => letter.charCodeAt(0))

module.exports = { PostgresFraming }
