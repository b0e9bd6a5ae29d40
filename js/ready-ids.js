'use strict'

const process = require('node:process')

/**
 * The most IDs that one crossing into native code brings. A type that makes few keeps few: its blocks begin with one ID
 * and double.
 */
const MOST = 256

/** Where the `…Many` functions pass their blocks through; none of them calls back into the application meanwhile. */
const LONGEST_BODY = 20
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
 * @returns {object} the same functions, and `nextPair`
 */
function readyIds(binding, spec) {
  const functions = { ...binding, nextPair: pairOf(binding) }
  const { bodyLength } = binding
  if (!bodyLength) return functions
  const bodies = passing.bodies.subarray(0, MOST * bodyLength)
  const scope = { bodies, numbers: passing.numbers, binding, MOST, bodyLength, asTypedArray: typedArrayFor(spec) }
  const many = compile(MANY(textFrom(spec.prefix, bodyLength)), scope)
  if (many === undefined) return functions
  functions.nextMany = many.nextMany
  if (spec.dbFormat in ARRAYS) {
    functions.fromDbMany = many.fromDbMany
    functions.toDbMany = toDbManyOf(binding, spec)
  }
  return functions
}

/**
 * `next`, and where IDs may be counted ahead and the database's values are bigints `nextDb` and `nextPair`, as
 * functions of one type's own: whatever else a call would go through costs as much as half an ID.
 *
 * @param {object} binding what `backend.bind` returned
 * @param {object} spec the type's
 * @param {object} own
 * @param {{ generator: object }} own.slot holds the generator that is asked; `own.owner` is the one that `binding` is of
 * @param {() => object} own.rebind binds the type to what is in the slot now, and returns it
 * @param {(method: Function) => never} own.fail throws what is behind the last `undefined` of the binding; the stack
 * begins with the caller of `method`
 * @param {() => Uint32Array} own.generation asked for only if IDs are kept ready
 * @returns {object} none of them where compiling is forbidden
 */
function ownFunctions(binding, spec, { generation, ...own }) {
  const { bodyLength, countsAhead } = binding
  if (!countsAhead || !bodyLength) return compile(CROSSING, { ...own, binding }) ?? {}
  const numeric = spec.dbFormat in ARRAYS
  const Numbers = ARRAYS[spec.dbFormat] ?? BigInt64Array
  const { bodies, text } = prepared(spec.prefix, bodyLength)
  const blocks = { bodies, numbers: new Numbers(MOST), dbs: new Numbers(MOST), stride: bodies.length / MOST }
  const scope = { ...own, ...blocks, binding, generation: generation(), MOST }
  const { next, nextDb, nextPair } = compile(AHEAD(text), scope) ?? {}
  return numeric ? { next, nextDb, nextPair } : { next }
}

const CROSSING = `
  function next(options) {
    if (slot.generator !== owner) return rebind().next(options)
    const id = binding.next(options)
    if (id === undefined) fail(next)
    return id
  }
  return { next }`

const AHEAD = (text) => `
  let at = 0
  let end = 0
  let seen = 0
  let size = 1
  function refill(method) {
    seen = Atomics.load(generation, 0)
    at = 0
    end = 0
    end = binding.fill(bodies, numbers, size) ?? fail(method)
    size = Math.min(2 * size, MOST)
  }
  function next() {
    if (slot.generator !== owner) return rebind().next()
    if (at === end || Atomics.load(generation, 0) !== seen) refill(next)
    const j = at++ * stride
    return ${text}
  }
  function nextPair() {
    if (slot.generator !== owner) return rebind().nextPair()
    if (at === end || Atomics.load(generation, 0) !== seen) refill(nextPair)
    const k = at++
    const j = k * stride
    return { id: ${text}, db: numbers[k] }
  }
  let dbAt = 0
  let dbEnd = 0
  let dbSeen = 0
  let dbSize = 1
  function refillDb() {
    dbSeen = Atomics.load(generation, 0)
    dbAt = 0
    dbEnd = 0
    dbEnd = binding.fillDb(dbs, dbSize) ?? fail(nextDb)
    dbSize = Math.min(2 * dbSize, MOST)
  }
  function nextDb() {
    if (slot.generator !== owner) return rebind().nextDb()
    // All words of the generation change together, and each is read once: no engine can have read it before. Atomics.load
    // of one of them would take as long as all the rest here.
    if (dbAt === dbEnd || generation[dbAt] !== dbSeen) refillDb()
    return dbs[dbAt++]
  }
  return { next, nextDb, nextPair }`

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
      for (let at = 0; at < dbs.length; ) {
        const count = binding.write(bodies, dbs, at)
        if (!count) return binding.fromDbMany(values)
        for (let k = 0; k < count; k++) {
          const j = k * bodyLength
          ids[at++] = ${text}
        }
      }
      return ids
    }
  }`

/**
 * Memory for a block of texts, and an expression for the one that starts at index `j` of it: characters put together
 * where engines are good at that, else a slice of memory that has the prefix in each place already (JavaScriptCore).
 */
function prepared(prefix, bodyLength) {
  if (!process.versions.bun) return { bodies: new Uint8Array(MOST * bodyLength), text: textFrom(prefix, bodyLength) }
  const stride = prefix.length + bodyLength
  const bodies = Buffer.from(new ArrayBuffer(MOST * stride))
  for (let k = 0; k < MOST; k++) bodies.write(prefix, k * stride, 'latin1')
  return { bodies, text: `bodies.latin1Slice(j, j + ${stride})` }
}

/** An expression for the text whose body starts at index `j` of the array `bodies`. */
function textFrom(prefix, bodyLength) {
  const codes = Array.from(prefix, (character) => character.charCodeAt(0))
  const body = Array.from({ length: bodyLength }, (_, index) => `bodies[j + ${index}]`)
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
  return (options) => {
    const id = next(options)
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

module.exports = { MOST, readyIds, ownFunctions }
