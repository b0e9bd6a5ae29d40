'use strict'

const { Keyring } = require('./ciphers/keyring.js')
const { Failure } = require('./failure.js')
const { FakeHandle } = require('./handle.js')
const { FakeIdType } = require('./id-type.js')
const { Layout } = require('./layout.js')

const ARRAYS = { signed: BigInt64Array, unsigned: BigUint64Array }

/**
 * The border of js/native.js once more, in plain JavaScript: it converts exactly like native code, and counts under a
 * lease that it grants itself.
 *
 * @param {() => number} now milliseconds since 1970, inside the layout
 */
function fakeBackend(now) {
  let last
  const means = new WeakMap()

  /** Makes a function of one that may throw a Failure: it answers `undefined` then, and keeps the failure. */
  function guarded(convert) {
    return (...values) => {
      try {
        return convert(...values)
      } catch (failure) {
        if (!(failure instanceof Failure)) throw failure
        last = failure
        return undefined
      }
    }
  }

  return {
    open({ machineId, layout: bits, ...options }, onEvent) {
      const layout = new Layout(bits)
      const keys = new Keyring(options)
      const handle = new FakeHandle({ machineId: machineId.number, layout, keys, now, onEvent })
      means.set(handle, { layout, keys })
      return handle
    },

    bind(spec, handle) {
      const { layout, keys } = means.get(handle)
      const type = guarded(() => new FakeIdType(spec, layout, keys))()
      if (!type) return last
      return functionsOf(type, (place) => type.mint(handle, place), spec, guarded)
    },

    takeFailure: () => last
  }
}

/** The functions of one ID type; `mint` gives the next number. */
function functionsOf(type, mint, spec, guarded) {
  const { dbFormat } = spec
  const minted = (n, place) => Array.from({ length: n }, () => mint(place))
  const dbs = (numbers) => (ARRAYS[dbFormat] ?? Array).from(numbers, (number) => type.writeDb(number))
  const placed = () => ({
    partitions: type.layout.partitions,
    nextIn: guarded((partition, time) => type.writeApp(mint({ partition, time }))),
    nextDbIn: guarded((partition, time) => type.writeDb(mint({ partition, time }))),
    nextManyIn: guarded((n, partition) => minted(n, { partition }).map((number) => type.writeApp(number))),
    nextManyDbIn: guarded((n, partition) => dbs(minted(n, { partition }))),
    rangeFor: guarded((fromMs, toMs, partition) => type.range(fromMs, toMs, partition)),
    partitionRange: guarded((partition) => type.partitionRange(partition))
  })
  return {
    next: guarded(() => type.writeApp(mint())),
    nextDb: guarded(() => type.writeDb(mint())),
    nextMany: guarded((n) => minted(n).map((number) => type.writeApp(number))),
    nextManyDb: guarded((n) => dbs(minted(n))),
    toDb: guarded((value) => type.writeDb(type.readApp(value))),
    fromDb: guarded((value) => type.writeApp(type.readDb(value))),
    toDbMany: guarded((values) => dbs(each(values, (value) => type.readApp(value)))),
    fromDbMany: guarded((values) => each(values, (value) => type.writeApp(type.readDb(value)))),
    is: (value) => type.isCanonical(value),
    format: guarded((value, format) => type.respell(value, format)),
    inspect: guarded((value) => type.inspect(value)),
    plausible: guarded((value, fromMs, toMs) => type.plausible(value, fromMs, toMs)),
    ...(spec.bits > 64 ? {} : placed())
  }
}

/** Converts a list; a failure says which item it is about. */
function each(values, convert) {
  return Array.from(values, (value, index) => {
    try {
      return convert(value)
    } catch (failure) {
      if (failure instanceof Failure) failure.message = `item ${index}: ${failure.message}`
      throw failure
    }
  })
}

module.exports = { fakeBackend }
