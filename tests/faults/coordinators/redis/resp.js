'use strict'

const LINE_END = '\r\n'

/** What a server refuses with. */
class ServerError extends Error {
  constructor(text) {
    super(text)
    this.code = text.split(' ', 1)[0]
  }
}

/**
 * Cuts a stream of the Redis protocol (2 and 3) into its values: of a client each is a request, of a server an answer, or
 * something that nobody asked for (`pushed`).
 */
class Reader {
  #bytes = Buffer.alloc(0)

  /**
   * @param {Buffer} bytes what came
   * @returns {{ bytes: Buffer, value: unknown, pushed: boolean }[]} what is whole now
   */
  read(bytes) {
    this.#bytes = Buffer.concat([this.#bytes, bytes])
    const whole = []
    let at = 0
    for (let found; (found = valueAt(this.#bytes, at)); at = found.end) {
      const pushed = this.#bytes[at] === PUSH
      whole.push({ bytes: this.#bytes.subarray(at, found.end), value: found.value, pushed })
    }
    this.#bytes = this.#bytes.subarray(at)
    return whole
  }
}

const PUSH = '>'.charCodeAt(0)

/** The value that begins at a place, and where it ends; null if not all of it has come. */
function valueAt(bytes, at) {
  const lineEnd = bytes.indexOf(LINE_END, at)
  if (lineEnd < 0) return null
  const [type, text, next] = [String.fromCharCode(bytes[at]), bytes.toString('utf8', at + 1, lineEnd), lineEnd + 2]
  if ('$!='.includes(type)) return bulkAt(bytes, next, type, Number(text))
  if ('*~>'.includes(type)) return listAt(bytes, next, Number(text))
  if (type === '%') return listAt(bytes, next, 2 * Number(text))
  if (type === '|') return attributedAt(bytes, next, 2 * Number(text))
  return { value: scalar(type, text), end: next }
}

function bulkAt(bytes, start, type, length) {
  if (length < 0) return { value: null, end: start }
  const end = start + length
  if (bytes.length < end + LINE_END.length) return null
  const text = bytes.toString('utf8', start, end)
  return { value: type === '!' ? new ServerError(text) : text, end: end + LINE_END.length }
}

function listAt(bytes, start, count) {
  if (count < 0) return { value: null, end: start }
  const value = []
  let end = start
  while (value.length < count) {
    const found = valueAt(bytes, end)
    if (!found) return null
    value.push(found.value)
    end = found.end
  }
  return { value, end }
}

/** An answer with attributes before it: one value all the same. */
function attributedAt(bytes, start, count) {
  const attributes = listAt(bytes, start, count)
  return attributes && valueAt(bytes, attributes.end)
}

function scalar(type, text) {
  if (type === '+') return text
  if (type === '-') return new ServerError(text)
  if (type === ':' || type === ',') return Number(text)
  if (type === '#') return text === 't'
  if (type === '_') return null
  if (type === '(') return BigInt(text)
  throw new Error(`not the Redis protocol: ${JSON.stringify(type + text.slice(0, 64))}`)
}

/** A command as a client sends it. */
function command(words) {
  const bulks = words.map((word) => `$${Buffer.byteLength(String(word))}${LINE_END}${word}${LINE_END}`)
  return `*${words.length}${LINE_END}${bulks.join('')}`
}

module.exports = { Reader, ServerError, command }
