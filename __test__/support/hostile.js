'use strict'

/** What hostile values throw when somebody touches them. */
class Trap extends Error {}

const spring = () => {
  throw new Trap('touched')
}

const traps = Object.fromEntries(Object.getOwnPropertyNames(Reflect).map((name) => [name, spring]))

/**
 * Every kind of value that a caller may pass by mistake or on purpose, by name. New ones with each call: some change
 * when they are used.
 *
 * @returns {Record<string, unknown>}
 */
function hostileValues() {
  return { ...primitives(), ...objects(), ...lists(), ...bytes(), ...trapped() }
}

function primitives() {
  return {
    undefined,
    null: null,
    true: true,
    NaN,
    'minus zero': -0,
    Infinity,
    'a fraction': 1.5,
    'an unsafe number': 2 ** 53,
    'the least number': -Number.MAX_VALUE,
    'a bigint of 1000 bits': 2n ** 1000n,
    'a negative bigint of 1000 bits': -(2n ** 1000n),
    'a bigint of 64 bits and one': 2n ** 64n,
    'a symbol': Symbol('id'),
    'an empty text': '',
    'a huge text': 'x'.repeat(1 << 20),
    'a huge text of wide characters': '\u{1f600}'.repeat(1 << 16),
    'half a character': '\ud800',
    'an ID with half a character': 'usr_1111111111\udfff',
    'a text with NUL': 'usr_\0',
    'a name of the prototype': '__proto__'
  }
}

function objects() {
  return {
    'an object': {},
    'an object without a prototype': Object.create(null),
    'an object with a prototype of its own': Object.create({ kind: 'sortable' }),
    'a function': () => {},
    'a class': class {},
    'an async function': async () => {},
    'a Date': new Date(0),
    'an invalid Date': new Date(Number.NaN),
    'a Map': new Map([['kind', 'sortable']]),
    'a Promise': Promise.resolve(),
    'an Error': new Error('just a value'),
    'a boxed text': Object('usr_11111111111'),
    'a boxed bigint': Object(5n),
    'a boxed symbol': Object(Symbol('id')),
    // biome-ignore lint/suspicious/noThenProperty: that is what is hostile here
    'something thenable': { then: spring },
    globalThis
  }
}

function lists() {
  const within = []
  within.push(within)
  return {
    'an empty array': [],
    'an array of IDs': ['usr_11111111111'],
    'a sparse array': Object.assign([], { length: 3 }),
    'the longest sparse array': Object.assign([], { length: 2 ** 32 - 1 }),
    'an array within itself': within,
    'an array whose item throws': Object.defineProperty(['x'], 0, { get: spring }),
    'an array that shrinks while it is read': shrinking(),
    'something like an array': { length: 1, 0: 'usr_11111111111' },
    'a Set': new Set(['usr_11111111111']),
    'a generator object': (function* () {})()
  }
}

function shrinking() {
  const array = ['usr_11111111111', 'usr_11111111111', 'usr_11111111111']
  return Object.defineProperty(array, 0, {
    get() {
      array.length = 1
      return 'usr_11111111111'
    }
  })
}

function bytes() {
  const views = { Uint8Array, Uint16Array, Float64Array, BigInt64Array, BigUint64Array, DataView }
  const values = {}
  for (const [name, View] of Object.entries(views)) {
    values[name] = new View(new ArrayBuffer(8))
    values[`${name} over shared memory`] = new View(new SharedArrayBuffer(8))
    values[`${name} over detached memory`] = detached(new View(new ArrayBuffer(8)))
    values[`${name} over memory that shrank`] = shrunk(View)
  }
  return {
    ...values,
    'an ArrayBuffer': new ArrayBuffer(8),
    'a SharedArrayBuffer': new SharedArrayBuffer(8),
    'a Buffer': Buffer.alloc(8),
    'a slice at an odd place': new Uint8Array(new ArrayBuffer(17), 9, 8),
    'a typed array that calls itself another': Object.defineProperty(new Uint8Array(8), Symbol.toStringTag, {
      value: 'BigInt64Array'
    })
  }
}

function detached(view) {
  structuredClone(view.buffer, { transfer: [view.buffer] })
  return view
}

function shrunk(View) {
  const buffer = new ArrayBuffer(16, { maxByteLength: 64 })
  const view = new View(buffer, 8)
  buffer.resize(4)
  return view
}

function trapped() {
  const revoked = (target) => {
    const { proxy, revoke } = Proxy.revocable(target, {})
    revoke()
    return proxy
  }
  const conversions = { toString: spring, valueOf: spring, toJSON: spring, [Symbol.toPrimitive]: spring }
  return {
    'a Proxy': new Proxy({}, {}),
    'a Proxy of an array': new Proxy(['usr_11111111111'], {}),
    'a Proxy of bytes': new Proxy(new Uint8Array(8), {}),
    'a Proxy of a function': new Proxy(() => {}, {}),
    'a Proxy that throws': new Proxy({}, traps),
    'a Proxy of an array that throws': new Proxy([], traps),
    'a revoked Proxy': revoked({}),
    'a revoked Proxy of an array': revoked([]),
    'an object that throws when converted': conversions,
    'an object whose tag throws': Object.defineProperty({}, Symbol.toStringTag, { get: spring }),
    'bytes whose tag throws': Object.defineProperty(new Uint8Array(8), Symbol.toStringTag, { get: spring }),
    'an object whose options throw': Object.defineProperty({}, 'kind', { get: spring, enumerable: true })
  }
}

module.exports = { Trap, hostileValues }
