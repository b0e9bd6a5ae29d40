'use strict'

// What `mintid/testing` converts must be what native code converts, refusals included.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { inspect, isDeepStrictEqual } = require('node:util')
const { inPackage } = require('../package.js')
const { Random } = require('./random.js')
const { backend: native } = require(inPackage('js/native.js'))
const { fakeBackend } = require(inPackage('js/testing/backend.js'))
const { codecOf } = require(inPackage('js/testing/codec.js'))

const TRIALS = 10_000
const FORMATS = ['base58', 'url64', 'hex', 'hex32', 'base62', 'decimal', 'signed', 'unsigned', 'raw']
const TEXTS = FORMATS.filter((format) => !format.endsWith('signed'))
const DEFAULT_LAYOUT = { partition: 0, time: 42, machine: 9, sequence: 13, epochMs: Date.UTC(2025, 0, 1) }
const PARTITIONED = { partition: 4, time: 41, machine: 9, sequence: 10, epochMs: Date.UTC(2020, 0, 1) }
const SMALL_LAYOUT = { partition: 0, time: 40, machine: 4, sequence: 10, epochMs: Date.UTC(2000, 0, 1) }

const KEYS = {
  key: Buffer.from('a key of thirty-two bytes or more'),
  keys: [{ name: 'k1', key: Buffer.from('another key of 32 bytes, or more') }],
  cipherKeys: [{ bits: 64, key: Buffer.alloc(24, 5) }],
  ciphers: [
    { bits: 64, cipher: 'des3' },
    { bits: 128, cipher: 'speck' }
  ]
}

const spelling = { prefix: '', mask: false, cipher: 'speck', format: 'base58' }
const plain = { ...spelling, kind: 'counter', base: 'counter', dbFormat: 'signed', accepts: [], persistPrefix: false }

/** Every format with and without prefix; masks and database formats in turn. */
const everyFormat = FORMATS.flatMap((format, at) =>
  ['', 'usr_'].map((prefix, withPrefix) => {
    const dbFormat = FORMATS[(at + 4 * withPrefix) % FORMATS.length]
    const persistPrefix = prefix !== '' && !dbFormat.endsWith('signed')
    return { ...plain, format, prefix, dbFormat, persistPrefix, mask: (at + withPrefix) % 2 === 0 }
  })
)

const specs = [
  ...everyFormat,
  { ...plain, prefix: 'a-', format: 'url64', kind: 'encrypted', base: 'sortable', dbFormat: 'raw' },
  { ...plain, prefix: 'e.', kind: 'encrypted', dbFormat: 'unsigned' },
  { ...plain, prefix: '9', format: 'unsigned', kind: 'sortable', layout: SMALL_LAYOUT },
  { ...plain, kind: 'sortable', dbFormat: 'hex32', layout: SMALL_LAYOUT },
  {
    ...plain,
    prefix: 'usr_',
    mask: true,
    accepts: [
      { ...spelling, prefix: 'user_', mask: true },
      { ...spelling, prefix: 'usr_', format: 'hex' },
      { ...spelling, format: 'signed' },
      { ...spelling, format: 'raw', mask: true }
    ]
  },
  ...[96, 128].flatMap((bits) =>
    TEXTS.map((format, at) => ({
      ...plain,
      bits,
      format,
      prefix: at % 2 ? 'w_' : '',
      dbFormat: TEXTS[(at + bits) % TEXTS.length],
      persistPrefix: at % 4 === 1,
      kind: ['counter', 'sortable', 'encrypted'][at % 3],
      cipher: at % 3 === 2 && bits === 96 ? 'blowfish' : 'speck',
      mask: at % 3 === 1,
      layout: at < 3 ? SMALL_LAYOUT : DEFAULT_LAYOUT
    }))
  ),
  { ...plain, bits: 128, pad: false, dbFormat: 'raw', mask: true, key: 'k1', cipher: 'aes', layout: SMALL_LAYOUT },
  { ...plain, bits: 96, dbFormat: 'raw', accepts: [{ ...spelling, prefix: 'a', mask: true }] },
  ...['signed', 'unsigned', 'hex', 'url64'].map((dbFormat) => ({
    ...plain,
    kind: 'sortable',
    dbFormat,
    layout: PARTITIONED
  })),
  { ...plain, kind: 'sortable', prefix: 'own_', layout: DEFAULT_LAYOUT, ownLayout: PARTITIONED },
  { ...plain, kind: 'encrypted', layout: PARTITIONED },
  { ...plain, layout: { ...PARTITIONED, partition: 1, time: 48, machine: 2 } },
  { ...plain, pad: false, kind: 'sortable' },
  { ...plain, pad: false, prefix: 's_', format: 'base62', mask: true },
  {
    ...plain,
    pad: false,
    prefix: 'd_',
    format: 'decimal',
    accepts: [
      { ...spelling, prefix: 'd_', format: 'decimal' },
      { ...spelling, prefix: 'b_', format: 'base58', pad: false, mask: true }
    ]
  },
  { ...plain, prefix: 'k_', mask: true, key: 'k1', cipher: 'blowfish' },
  { ...plain, prefix: 'x_', mask: true, cipher: undefined },
  { ...plain, prefix: 'x.', kind: 'encrypted', cipher: undefined, dbFormat: 'unsigned' },
  {
    ...plain,
    prefix: 'a_',
    mask: true,
    cipher: 'aes',
    maskTweak: Buffer.from('users'),
    accepts: [
      { ...spelling, prefix: 'b_', mask: true, cipher: 'aes' },
      { ...spelling, prefix: 'c_', mask: true, cipher: 'des3', key: 'k1' },
      { ...spelling, prefix: 'd_', mask: true, cipher: 'aes', key: 'k1', maskTweak: Buffer.alloc(40, 1) }
    ]
  }
]

for (const { layout = DEFAULT_LAYOUT, ownLayout, ...others } of specs) {
  const spec = { ...others, layout: ownLayout }
  const name = JSON.stringify({ ...spec, accepts: spec.accepts.length, epochMs: layout.epochMs })
  const random = new Random(0x6d696e74)
  const [fake, real] = bindings(spec, KEYS, layout)
  const both = { fake, real }
  const trials = spec.bits > 64 ? TRIALS / 5 : TRIALS
  const app = (number) => both.fake.fromDb(dbOf(spec, number))

  test(`values: ${name}`, () => {
    for (let trial = 0; trial < trials; trial++) {
      const db = dbOf(spec, number(random, spec))
      const id = same(both, 'fromDb', db)
      assert.deepEqual(same(both, 'toDb', id), db)
      assert.equal(same(both, 'is', id), true)
      same(both, 'format', id, random.pick(FORMATS))
      same(both, 'inspect', id)
      const times = [0, 0].map(() => Number(random.number() >> 21n))
      same(both, 'plausible', id, Math.min(...times), Math.max(...times))
    }
  })

  test(`strings and strangers: ${name}`, () => {
    const counts = { accepted: 0, refused: 0 }
    for (let trial = 0; trial < trials; trial++) {
      const value = stranger(random, spec, app)
      counts[same(both, 'toDb', value) === undefined ? 'refused' : 'accepted']++
      same(both, 'fromDb', value)
      same(both, 'is', value)
      if (trial % 10 === 0) for (const method of ['inspect', 'format']) same(both, method, value, 'hex')
    }
    assert.ok(counts.accepted > trials / 100 && counts.refused > trials / 2, JSON.stringify(counts))
  })

  test(`ranges and lists: ${name}`, () => {
    for (let trial = 0; trial < 100; trial++) {
      const times = [0, 0].map(() => layout.epochMs - 1e9 + Number(random.number() >> 20n))
      if (!(spec.bits > 64)) {
        same(both, 'rangeFor', ...(random.below(10) ? times.sort((a, b) => a - b) : times), random.below(3))
        same(both, 'partitionRange', random.below(20))
      }
      const numbers = Array.from({ length: random.below(20) }, () => number(random, spec))
      const dbs = numbers.map((number) => dbOf(spec, number))
      same(both, 'toDbMany', same(both, 'fromDbMany', dbs))
      same(both, 'fromDbMany', [...dbs, stranger(random, spec, app)])
      same(both, 'toDbMany', [...dbs, stranger(random, spec, app), null])
    }
  })
}

test('without a key the same types are refused', () => {
  for (const spec of specs) {
    const [fake, real] = bindings({ ...spec, layout: undefined }, {}, DEFAULT_LAYOUT)
    assert.deepEqual([fake.code, fake.bits], [real.code, real.bits], JSON.stringify(spec))
  }
})

test('nonces of every size are encrypted and decrypted alike, or refused alike', () => {
  const random = new Random(0x6e6f6e63)
  const none = { cipherKeys: [], ciphers: [{ bits: 96, cipher: 'blowfish' }] }
  for (const keys of [{}, KEYS, { ...KEYS, ...none }, { cipherKeys: KEYS.cipherKeys, ciphers: KEYS.ciphers }]) {
    const [fake, real] = handles(keys, DEFAULT_LAYOUT).map(({ handle }) => handle)
    for (let trial = 0; trial < 300; trial++) {
      const nonce = Buffer.from(random.text(4 * random.pick([2, 3, 4]), '\x00\x01\x7f\x80\xff'), 'latin1')
      if (trial % 3 === 0) nonce.fill(0, 8)
      for (const method of ['encrypt', 'decrypt']) {
        const [made, expected] = [fake, real].map((handle) => handle[method](nonce))
        assert.deepEqual(made.failure ? outcome(made) : made, expected.failure ? outcome(expected) : expected)
      }
      const crypted = real.encrypt(nonce)
      if (!crypted.failure) assert.deepEqual(real.decrypt(crypted), nonce)
    }
  }
})

/** What both backends make of a type, under a handle that never gets a lease. */
function bindings({ layout: own, ...spec }, keys, layout) {
  const [fake, real] = handles(keys, layout)
  return [fake, real].map(({ backend, handle }) =>
    Object.assign(backend.bind({ ...spec, layout: own }, handle), { takeFailure: backend.takeFailure })
  )
}

function handles(keys, layout) {
  const lease = { ttlMs: 300_000, firstTtlMs: 60_000, renewEveryMs: 60_000, requestTimeoutMs: 5000 }
  const options = { namespace: 'default', lease, ...keys, layout }
  const fake = fakeBackend(() => layout.epochMs + 1)
  const sources = [
    [fake, { coordinator: 'fixed', machineId: { number: 1 } }],
    [native, { coordinator: 'none' }]
  ]
  return sources.map(([backend, source]) => ({ backend, handle: backend.open({ ...options, ...source }, () => {}) }))
}

/** Calls a method of both bindings, and returns what they agree on: a value, or undefined for a failure. */
function same({ fake, real }, method, ...values) {
  const [expected, actual] = [real, fake].map((binding) => {
    const value = binding[method](...values)
    return value === undefined ? outcome(binding.takeFailure()) : { value }
  })
  // The message is made only where there is something to tell.
  if (!isDeepStrictEqual(actual, expected)) {
    assert.deepEqual({ call: `${method}(${values.map(shown).join(', ')})`, ...actual }, expected)
  }
  return expected.value
}

/** What failures have in common; the words for what was found differ. */
function outcome({ code, option, reason, expected, bits, message }) {
  return { code, option, reason, expected, bits, item: /^item \d+: /.exec(message)?.[0] }
}

/** Any number that the type may have made. */
function number(random, { bits = 64, kind, cipher }) {
  if (bits === 64) return random.number()
  const number = BigInt.asUintN(bits, (random.number() << 64n) | random.number())
  return kind === 'encrypted' && cipher === 'blowfish' ? (number >> 32n) << 32n : number
}

function dbOf({ prefix, dbFormat, persistPrefix, bits }, number) {
  const { write, wrap } = codecOf(dbFormat, { bits })
  if (wrap) return wrap(number)
  const text = (persistPrefix ? prefix : '') + write(number)
  return dbFormat === 'raw' ? Buffer.from(text, 'latin1') : text
}

const STRANGERS = [
  null,
  undefined,
  true,
  NaN,
  -0,
  1.5,
  2 ** 53,
  -Infinity,
  -(2n ** 200n),
  Symbol('id'),
  {},
  [],
  [1n],
  () => {},
  new Date(0),
  new Uint16Array(8),
  new DataView(new ArrayBuffer(8)),
  Object('usr_')
]

/** Something that may be an ID: a good one, one with a slip, or nothing of the kind. */
function stranger(random, spec, app) {
  const { prefix, accepts, bits } = spec
  const id = app(number(random, spec))
  const somePrefix = random.pick([prefix, ...accepts.map((other) => other.prefix)])
  const spelled = somePrefix + codecOf(random.pick(bits > 64 ? TEXTS : FORMATS), { bits }).write(number(random, spec))
  switch (random.below(12)) {
    case 0:
      return id
    case 1:
      return spelled
    case 2:
      return Buffer.from(spelled, 'latin1')
    case 3:
      return random.text(random.below(30), '0123456789-+ abcABC_é日\0😀')
    case 4:
      return prefix + random.text(random.below(24), '0123456789')
    case 5:
      return BigInt.asIntN(66, random.number() * 7n) - 5n
    case 6:
      return random.pick(STRANGERS)
    case 7:
      return random.below(2 ** 31) - 2 ** 30
    case 8:
      return Buffer.from(random.text(random.below(20), 'usr_\x00\xff'), 'latin1')
    default:
      return slipped(random, typeof id === 'string' ? id : spelled)
  }
}

/** A text with one slip of the kind that people and programs make. */
function slipped(random, text) {
  const at = random.below(text.length)
  const [before, character, after] = [text.slice(0, at), text[at], text.slice(at + 1)]
  switch (random.below(9)) {
    case 0:
      return before + after
    case 1:
      return before + character + character + after
    case 2:
      return before + random.pick('0OIl1+/=-_ zZvé') + after
    case 3:
      return before + character.toUpperCase() + after
    case 4:
      return text + random.pick('0=\n 1')
    case 5:
      return random.pick(['0', ' ', '-', 'usr_', '\u{feff}']) + text
    case 6:
      return text.toUpperCase()
    case 7:
      return text.repeat(10)
    default:
      return text.slice(0, -1) + random.pick('0123456789abcdefghijklmnopqrstuvwxyzABCDEF_-')
  }
}

function shown(value) {
  return Buffer.isBuffer(value) ? `<${value.toString('hex')}>` : inspect(value)
}
