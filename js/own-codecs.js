'use strict'

const { ConfigError } = require('./errors.js')
const { shown } = require('./options/check.js')

const LONGEST = 256

/**
 * The functions of a binding whose texts are made and read by codecs of the application's own. Native code has the numbers
 * behind them in decimal, after the same prefix, as its spec says for each codec. What it keeps ready it
 * would keep in decimal, so it keeps nothing ready.
 *
 * @param {{ binding: object, takeFailure: () => object }} bound
 * @param {object} spec the type's
 * @param {Map<string, { encode: (number: bigint) => string, decode: (text: string) => bigint | undefined }>} codecs by prefix
 */
function withCodecs({ binding, takeFailure, ...rest }, spec, codecs) {
  const { prefix, bits } = spec
  const greatest = 2n ** BigInt(bits) - 1n
  const own = codecs.get(prefix)
  const expected = [spec, ...spec.accepts].map((spelling) => described(spelling, codecs)).join(', or ')
  let failure

  /** What native code takes for a value, or the word for what is wrong with it. */
  function inner(value) {
    const known = typeof value === 'string' && [...codecs.keys()].find((prefix) => value.startsWith(prefix))
    return typeof known === 'string' ? decoded(value, known) : { value }
  }

  function decoded(text, prefix) {
    const codec = codecs.get(prefix)
    const body = text.slice(prefix.length)
    const number = numberOf(codec, body)
    if (typeof number !== 'bigint') return { reason: 'character' }
    if (number < 0n || number > greatest) return { reason: 'range' }
    if (encoded(codec, number) !== body) return { reason: 'not canonical' }
    return { value: `${prefix}${number}` }
  }

  /** What the application sees for what native code wrote. */
  function outer(id) {
    if (!own || id === undefined) return id
    return prefix + encoded(own, BigInt(id.slice(prefix.length)))
  }

  function refuse(reason, value, item = '') {
    const message = `${item}not an ID of this type (${reason}): expected ${expected}, found ${shown(value)}`
    failure = { failure: true, code: 'ERR_MINTID_INVALID_ID', message, reason, expected }
  }

  /** Native code knows of no codecs: what it says of a value it would say of decimal numbers. */
  function restate(value, item) {
    const taken = takeFailure()
    if (taken.code === 'ERR_MINTID_INVALID_ID') refuse(taken.reason, value, item)
    else failure = taken
  }

  const reading =
    (call) =>
    (value, ...others) => {
      const read = inner(value)
      if (read.reason) return refuse(read.reason, value)
      const result = call(read.value, ...others)
      return result === undefined ? restate(value) : result
    }

  function toDbMany(ids) {
    const values = new Array(ids.length)
    for (const [index, id] of ids.entries()) {
      const read = inner(id)
      if (read.reason) return refuse(read.reason, id, `item ${index}: `)
      values[index] = read.value
    }
    const dbs = binding.toDbMany(values)
    if (dbs !== undefined) return dbs
    const wrong = ids.findIndex((id) => binding.toDb(inner(id).value) === undefined)
    return restate(ids[wrong], `item ${wrong}: `)
  }

  const { bodyLength: _, countsAhead: __, ...functions } = binding
  return {
    ...rest,
    binding: {
      ...functions,
      next: (options) => outer(binding.next(options)),
      nextMany: (n, options) => binding.nextMany(n, options)?.map(outer),
      fromDb: (db) => outer(binding.fromDb(db)),
      fromDbMany: (dbs) => binding.fromDbMany(dbs)?.map(outer),
      toDb: reading(binding.toDb),
      toDbMany,
      is: (value) => {
        if (!own) return binding.is(value)
        return typeof value === 'string' && value.startsWith(prefix) && decoded(value, prefix).reason === undefined
      },
      format: reading(binding.format),
      inspect: reading(binding.inspect),
      plausible: reading(binding.plausible)
    },
    takeFailure: () => {
      const taken = failure ?? takeFailure()
      failure = undefined
      return taken
    }
  }
}

/** A decoder that throws says the same as one that returns nothing. */
function numberOf(codec, text) {
  try {
    return codec.decode(text)
  } catch {
    return undefined
  }
}

/** A text that can be told from others and shown. */
function encoded(codec, number) {
  const text = codec.encode(number)
  if (typeof text === 'string' && text !== '' && text.length <= LONGEST) return text
  const found = typeof text === 'string' ? `${text.length} characters` : shown(text)
  const message = `format.encode: expected a text of 1 to ${LONGEST} characters, found ${found}`
  throw new ConfigError(message, { option: 'format.encode' })
}

function described({ prefix, format }, codecs) {
  const body = codecs.has(prefix) ? 'a text of its own codec' : format
  return prefix ? `${JSON.stringify(prefix)} followed by ${body}` : body
}

module.exports = { withCodecs }
