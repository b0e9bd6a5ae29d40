'use strict'

/**
 * The most IDs that one crossing into native code brings. A type that makes few keeps few: its blocks begin with one ID
 * and double.
 */
const MOST = 256

/** Where the `…Many` functions pass their blocks through; none of them calls back into the application meanwhile. */
const LONGEST_BODY = 16
const passing = { bodies: new Uint8Array(MOST * LONGEST_BODY), numbers: new BigInt64Array(MOST) }

/** Longer lists of database values are not copied into a typed array first: they may be sparse. */
const LONGEST_COPY = 2 ** 20

const ARRAYS = { signed: BigInt64Array, unsigned: BigUint64Array }

/**
 * The functions of a binding, faster: one crossing brings a block of IDs, as characters and as numbers, and each ID
 * becomes one flat string here. A block that `next` keeps ready belongs to one thread and one ID type, and is thrown
 * away when the lease's generation changes. Uniqueness does not depend on that: what is in a block was counted inside
 * the fence.
 *
 * The code is compiled for each type, so that the engine knows its prefix and learns about it alone. Where compiling is
 * forbidden (`--disallow-code-generation-from-strings`), and for types without a text of one length, everything stays
 * as the binding has it.
 *
 * @param {object} binding what `backend.bind` returned
 * @param {object} spec the type's
 * @param {() => Uint32Array} generation asked for at most once, for a type that keeps IDs ready
 * @returns {object} the same functions, and `nextPair`
 */
function readyIds(binding, spec, generation) {
  const { bodyLength, countsAhead } = binding
  const slow = { ...binding, nextPair: pairOf(binding) }
  if (bodyLength === undefined || bodyLength === null) return slow
  const text = (bodies) => textFrom(bodies, spec.prefix, bodyLength)
  const many = compile(MANY(text('bodies')), {
    ...passing,
    binding,
    MOST,
    bodyLength,
    asTypedArray: typedArrayFor(spec)
  })
  if (many === undefined) return slow
  Object.assign(slow, { nextMany: many.nextMany })
  if (spec.dbFormat in ARRAYS) Object.assign(slow, { fromDbMany: many.fromDbMany, toDbMany: toDbManyOf(binding, spec) })
  return countsAhead ? Object.assign(slow, single(binding, spec, text('bodies'), generation())) : slow
}

/** `next`, and where the database's values are bigints `nextDb` and `nextPair`, out of a block that is kept ready. */
function single(binding, { dbFormat }, text, generation) {
  const bodies = new Uint8Array(MOST * binding.bodyLength)
  const numbers = new (ARRAYS[dbFormat] ?? BigInt64Array)(MOST)
  let size = 1
  const refill = () => {
    const n = binding.fill(bodies, numbers, size) ?? 0
    size = Math.min(2 * size, MOST)
    return n
  }
  const { bodyLength } = binding
  const { next, nextDb, nextPair } = compile(SINGLE(text), { bodies, numbers, generation, refill, bodyLength })
  return dbFormat in ARRAYS ? { next, nextDb, nextPair } : { next }
}

const SINGLE = (text) => `
  let at = 0
  let end = 0
  let seen = 0
  function more() {
    seen = Atomics.load(generation, 0)
    at = 0
    end = 0
    end = refill()
    return end !== 0
  }
  return {
    next() {
      if ((at === end || Atomics.load(generation, 0) !== seen) && !more()) return undefined
      const j = at++ * bodyLength
      return ${text}
    },
    nextDb() {
      if ((at === end || Atomics.load(generation, 0) !== seen) && !more()) return undefined
      return numbers[at++]
    },
    nextPair() {
      if ((at === end || Atomics.load(generation, 0) !== seen) && !more()) return undefined
      const k = at++
      const j = k * bodyLength
      return { id: ${text}, db: numbers[k] }
    }
  }`

const MANY = (text) => `
  return {
    nextMany(n) {
      const ids = new Array(n)
      for (let at = 0; at < n; ) {
        const count = binding.fill(bodies, numbers, Math.min(n - at, MOST))
        if (count === undefined) return undefined
        for (let k = 0; k < count; k++) {
          const j = k * bodyLength
          ids[at++] = ${text}
        }
      }
      return ids
    },
    fromDbMany(values) {
      const dbs = asTypedArray(values)
      if (dbs === undefined) return binding.fromDbMany(values)
      const ids = new Array(dbs.length)
      const window = bodies.subarray(0, MOST * bodyLength)
      for (let at = 0; at < dbs.length; ) {
        const count = binding.write(window, dbs, at)
        if (!count) return binding.fromDbMany(values)
        for (let k = 0; k < count; k++) {
          const j = k * bodyLength
          ids[at++] = ${text}
        }
      }
      return ids
    }
  }`

/** An expression for the text whose body starts at index `j` of the array `bodies`. */
function textFrom(bodies, prefix, bodyLength) {
  const codes = Array.from(prefix, (character) => character.charCodeAt(0))
  const body = Array.from({ length: bodyLength }, (_, index) => `${bodies}[j + ${index}]`)
  return `String.fromCharCode(${[...codes, ...body].join(', ')})`
}

/** What a source text returns, with some names in scope; undefined where the engine may not compile. */
function compile(source, scope) {
  try {
    return new Function(...Object.keys(scope), `'use strict'\n${source}`)(...Object.values(scope))
  } catch (error) {
    if (error instanceof EvalError) return undefined
    throw error
  }
}

function pairOf({ next, toDb }) {
  return () => {
    const id = next()
    return id === undefined ? undefined : { id, db: toDb(id) }
  }
}

/** Many texts of one length in one crossing; whatever is unusual goes the exact way, which says what is wrong. */
function toDbManyOf(binding, { prefix }) {
  const length = prefix.length + binding.bodyLength
  return (ids) => {
    for (const id of ids) {
      if (typeof id !== 'string' || id.length !== length) return binding.toDbMany(ids)
    }
    const dbs = binding.read(ids.join(''), length)
    return dbs?.length === ids.length ? dbs : binding.toDbMany(ids)
  }
}

/** Turns database values into a typed array that holds exactly them; undefined where they need a closer look. */
function typedArrayFor({ dbFormat }) {
  const Typed = ARRAYS[dbFormat]
  const wrapped = dbFormat === 'signed' ? BigInt.asIntN : BigInt.asUintN
  return (values) => {
    if (values instanceof Typed) return values
    if (!Array.isArray(values) || values.length > LONGEST_COPY) return undefined
    const dbs = new Typed(values.length)
    for (let k = 0; k < values.length; k++) {
      const value = values[k]
      if (typeof value !== 'bigint' || wrapped(64, value) !== value) return undefined
      dbs[k] = value
    }
    return dbs
  }
}

module.exports = { readyIds }
