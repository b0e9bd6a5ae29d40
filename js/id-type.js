'use strict'

// Modules with ID types are loaded at the start of every program, so no more is loaded here than declaring them takes;
// the rest is when a type is first used, or fails.
const { oneOf, refuse, integer, unexpected } = require('./options/check.js')
const { typeOptions, FORMATS } = require('./options/type.js')
const { slot, bindType } = require('./shared.js')

const MOST_AT_ONCE = 1_000_000
const PLACED = ['nextIn', 'nextDbIn', 'nextManyIn', 'nextManyDbIn']

/**
 * What the IDs of one column look like; `index.d.ts` documents its methods. Pure until first used: it then asks its
 * generator (its own, or the process's default at that moment) for native functions, and asks again when the default
 * has changed.
 */
class IdType {
  #spec
  #codecs
  /** Holds the generator: the process's slot, or one that never changes. */
  #slot
  /** Whose functions `#binding` are; undefined before the first use, null without a generator. */
  #owner
  #binding
  #takeFailure

  constructor(prefix, options) {
    const { spec, codecs, generator } = typeOptions(prefix, options)
    this.#spec = spec
    this.#codecs = codecs
    this.#slot = generator === undefined ? slot : { generator }
    this.prefix = spec.prefix
    this.kind = spec.kind
  }

  next(options) {
    const id = this.#functions().next(options)
    if (id === undefined) throw this.#error(this.next)
    return id
  }

  nextDb(options) {
    const db = this.#functions().nextDb(options)
    if (db === undefined) throw this.#error(this.nextDb)
    return db
  }

  nextPair(options) {
    const pair = this.#functions().nextPair(options)
    if (pair === undefined) throw this.#error(this.nextPair)
    return pair
  }

  nextMany(n, options) {
    integer(n, 'n', 1, MOST_AT_ONCE)
    const ids = this.#functions().nextMany(n, options)
    if (ids === undefined) throw this.#error(this.nextMany)
    return ids
  }

  nextManyDb(n, options) {
    integer(n, 'n', 1, MOST_AT_ONCE)
    const dbs = this.#functions().nextManyDb(n, options)
    if (dbs === undefined) throw this.#error(this.nextManyDb)
    return dbs
  }

  toDb(id) {
    const db = this.#functions().toDb(id)
    if (db === undefined) throw this.#error(this.toDb)
    return db
  }

  fromDb(db) {
    const id = this.#functions().fromDb(db)
    if (id === undefined) throw this.#error(this.fromDb)
    return id
  }

  toDbMany(ids) {
    if (!Array.isArray(ids)) unexpected('ids', 'an array', ids)
    const dbs = this.#functions().toDbMany(ids)
    if (dbs === undefined) throw this.#error(this.toDbMany)
    return dbs
  }

  fromDbMany(dbs) {
    if (!Array.isArray(dbs) && !isBigIntArray(dbs)) {
      unexpected('dbs', 'an array, a BigInt64Array or a BigUint64Array', dbs)
    }
    const ids = this.#functions().fromDbMany(dbs)
    if (ids === undefined) throw this.#error(this.fromDbMany)
    return ids
  }

  is(value) {
    return this.#functions().is(value)
  }

  parse(value, options) {
    const id = this.#read(value, options)
    if (id === undefined) throw this.#error(this.parse)
    return id
  }

  safeParse(value, options) {
    const id = this.#read(value, options)
    if (id !== undefined) return { success: true, id }
    const error = this.#error(this.safeParse)
    // A missing key is nothing that the value could be blamed for.
    if (error.code !== 'ERR_MINTID_INVALID_ID') throw error
    return { success: false, error }
  }

  format(id, to) {
    oneOf(to, 'to', FORMATS)
    const text = this.#functions().format(id, to)
    if (text === undefined) throw this.#error(this.format)
    return text
  }

  inspect(id) {
    const parts = this.#functions().inspect(id)
    if (parts === undefined) throw this.#error(this.inspect)
    return { ...parts, timestamp: new Date(parts.timestamp) }
  }

  rangeFor(range) {
    if (this.#spec.bits !== 64) refuse('bits', `rangeFor needs 64, found ${this.#spec.bits}`)
    if (this.kind !== 'sortable') refuse('kind', `rangeFor needs 'sortable', found '${this.kind}'`)
    const { milliseconds } = require('./options/place.js')
    const from = milliseconds(range?.from, 'from')
    const to = milliseconds(range?.to, 'to')
    if (to < from) refuse('to', `expected no earlier than from (${from}), found ${to}`)
    const bounds = this.#functions().rangeFor(from, to, this.#partition(range.partition))
    if (bounds === undefined) throw this.#error(this.rangeFor)
    const [gte, lt] = bounds
    return { gte, lt }
  }

  partitionRange(partition) {
    if (this.#spec.bits !== 64) refuse('bits', `partitionRange needs 64, found ${this.#spec.bits}`)
    const bounds = this.#functions().partitionRange(this.#partition(partition))
    if (bounds === undefined) throw this.#error(this.partitionRange)
    const [gte, lt = null] = bounds
    return { gte, lt }
  }

  partitionDdl(table, options) {
    return require('./partition-ddl.js').partitionDdl(this, this.#spec, table, options)
  }

  get '~standard'() {
    return {
      version: 1,
      vendor: 'mintid',
      validate: (value) => {
        const result = this.safeParse(value)
        return result.success ? { value: result.id } : { issues: [{ message: result.error.message }] }
      }
    }
  }

  /** The canonical ID, also of one in an accepted spelling; undefined if it is none, or none that is plausible. */
  #read(value, options) {
    const functions = this.#functions()
    const window = options === undefined ? null : require('./options/plausible.js').plausibleOption(options)
    const id = functions.is(value) ? value : this.#respelled(functions, value)
    if (id === undefined || window === null) return id
    return functions.plausible(id, window.from, window.to) ? id : undefined
  }

  #respelled({ toDb, fromDb }, value) {
    const db = toDb(value)
    return db === undefined ? undefined : fromDb(db)
  }

  /** The number of a partition that is asked about. */
  #partition(given) {
    const { partition: own } = this.#spec
    if (given === undefined) return typeof own === 'number' ? own : 0
    return require('./options/place.js').partitionOption(given)
  }

  #functions() {
    return this.#slot.generator === this.#owner ? this.#binding : this.#bind()
  }

  #bind() {
    const { generator } = this.#slot
    const { binding, takeFailure, generation } = this.#withCodecs(
      this.#withPlaces(generator === null ? withoutGenerator(this.#spec) : generator[bindType](this.#spec))
    )
    const { ownFunctions, readyIds } = require('./ready-ids.js')
    this.#binding = generator === null ? binding : readyIds(binding, this.#spec)
    this.#takeFailure = takeFailure
    this.#owner = generator
    this.#mintBy(generator === null ? {} : ownFunctions(binding, this.#spec, { ...this.#own(), generation }))
    return this.#binding
  }

  /** What few types have is loaded with the first of them. */
  #withPlaces(bound) {
    const { kind, base, partition } = this.#spec
    const isPlaced =
      kind === 'sortable' || base === 'sortable' || partition !== undefined || bound.binding.partitions > 1
    return isPlaced ? require('./placed.js').withPlaces(bound, this.#spec) : bound
  }

  #withCodecs(bound) {
    return this.#codecs ? require('./own-codecs.js').withCodecs(bound, this.#spec, this.#codecs) : bound
  }

  /** What functions of this type's own know of it. */
  #own() {
    return {
      slot: this.#slot,
      owner: this.#owner,
      rebind: () => {
        this.#bind()
        return this
      },
      fail: (method) => {
        throw this.#error(method)
      }
    }
  }

  /** Puts functions of this type's own before those of its class, and takes earlier ones away. */
  #mintBy(functions) {
    for (const name of ['next', 'nextDb', 'nextPair']) {
      delete this[name]
      const value = functions[name]
      if (value) Object.defineProperty(this, name, { value, configurable: true, writable: true })
    }
  }

  /** The error behind the `undefined` that a native function just returned to `method`. */
  #error(method) {
    const { fromFailure } = require('./errors.js')
    return fromFailure(this.#takeFailure(), method)
  }
}

/**
 * Makes an ID type. Costs nothing and needs nothing: no addon, no lease, no key.
 *
 * @param {string} prefix '' or 1 to 64 characters of `A-Z a-z 0-9 . _ ~ -`
 * @param {object} [options]
 * @returns {IdType}
 */
function idType(prefix, options) {
  return new IdType(prefix, options)
}

/** Functions that convert and cannot mint; only for types that need no key. */
function withoutGenerator(spec) {
  if (spec.mask || spec.kind === 'encrypted' || spec.accepts.some(({ mask }) => mask)) refuseUntilStarted()
  const { backend } = require('./native.js')
  const { readyIds } = require('./ready-ids.js')
  const binding = backend.bind(spec, null)
  if (binding.failure) throw require('./errors.js').fromFailure(binding)
  const refused = ['next', 'nextDb', 'nextPair', 'nextMany', 'nextManyDb', ...PLACED].map((name) => [
    name,
    refuseUntilStarted
  ])
  return { binding: { ...readyIds(binding, spec), ...Object.fromEntries(refused) }, takeFailure: backend.takeFailure }
}

function refuseUntilStarted() {
  const { NotReadyError } = require('./errors.js')
  throw new NotReadyError('no generator yet: call `await start({ coordinator, key })` first')
}

function isBigIntArray(value) {
  return ArrayBuffer.isView(value) && /^Big(Int|Uint)64Array$/.test(value[Symbol.toStringTag])
}

module.exports = { IdType, idType }
