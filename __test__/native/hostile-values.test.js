'use strict'

// Every public function with every kind of value: a result, or an error of mintid's; never a crash.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { IdGenerator, MintidError, idType, start } = require('mintid')
const { Trap, hostileValues } = require('../support/hostile.js')

const KEY = '0123456789abcdef0123456789abcdef'

/** What a type can be asked, each with one value in every place. */
const ASKED = {
  toDb: (type, value) => type.toDb(value),
  fromDb: (type, value) => type.fromDb(value),
  is: (type, value) => type.is(value),
  parse: (type, value) => type.parse(value),
  safeParse: (type, value) => type.safeParse(value),
  inspect: (type, value) => type.inspect(value),
  'format, id': (type, value) => type.format(value, 'hex'),
  'format, to': (type, value) => type.format(type.fromDb(type.sample), value),
  validate: (type, value) => type['~standard'].validate(value),
  toDbMany: (type, value) => type.toDbMany(value),
  'toDbMany, an item': (type, value) => type.toDbMany([value]),
  fromDbMany: (type, value) => type.fromDbMany(value),
  'fromDbMany, an item': (type, value) => type.fromDbMany([value]),
  nextMany: (type, value) => type.nextMany(value),
  nextManyDb: (type, value) => type.nextManyDb(value),
  rangeFor: (type, value) => type.rangeFor(value),
  'rangeFor, bounds': (type, value) => type.rangeFor({ from: value, to: value }),
  'more arguments than there are': (type, value) => type.next(value, value, value)
}

const TYPES = [
  ['usr_', { mask: true }],
  ['', { format: 'raw', dbFormat: 'unsigned', kind: 'sortable' }],
  ['', { format: 'signed', dbFormat: 'raw', accepts: [{ format: 'raw' }, { prefix: 'usr_', format: 'hex' }] }],
  ['e.', { kind: 'encrypted', dbFormat: 'hex32', persistPrefix: true }]
]

/**
 * Whether something may be thrown because of a value: an error of mintid's, or what the value itself throws. A revoked
 * Proxy throws a TypeError whenever it is looked at.
 */
function isFair(error, name) {
  return (
    error instanceof MintidError || error instanceof Trap || (name.includes('revoked') && error instanceof TypeError)
  )
}

function assertFair(name, call) {
  try {
    return call()
  } catch (error) {
    assert.ok(isFair(error, name), `${name}: ${error?.stack}`)
    assert.ok(!String(error.message).includes(KEY))
    return error
  }
}

for (const [prefix, options] of TYPES) {
  test(`a type asked with every kind of value: '${prefix}', ${JSON.stringify(options)}`, async (t) => {
    const ids = await IdGenerator.connect({ machineId: 9, key: KEY })
    t.after(() => ids.close())
    const type = ids.type(prefix, options)
    type.sample = type.nextDb()
    const ask = (state) => {
      for (const [method, call] of Object.entries(ASKED)) {
        for (const [name, value] of Object.entries(hostileValues())) {
          assertFair(`${state}, ${method}, ${name}`, () => call(type, value))
        }
      }
      const id = type.fromDb(type.sample)
      assert.deepEqual([type.toDb(id), type.is(id)], [type.sample, true])
    }
    ask('held')
    await ids.close()
    ask('closed')
  })
}

test('bytes are the same bytes over any kind of memory, and no bytes once they are gone', () => {
  const type = idType('', { dbFormat: 'raw' })
  const values = hostileValues()
  const zero = type.fromDb(Buffer.alloc(8))
  for (const name of ['Uint8Array', 'Uint8Array over shared memory', 'a Buffer', 'a slice at an odd place']) {
    assert.equal(type.fromDb(values[name]), zero, name)
  }
  for (const name of ['Uint8Array over detached memory', 'Uint8Array over memory that shrank']) {
    assert.throws(() => type.fromDb(values[name]), { code: 'ERR_MINTID_INVALID_ID', reason: 'length' }, name)
  }
  const wrong = ['Uint16Array', 'DataView', 'an ArrayBuffer', 'a SharedArrayBuffer', 'a Proxy of bytes', 'Float64Array']
  for (const name of wrong) {
    assert.throws(() => type.fromDb(values[name]), { code: 'ERR_MINTID_INVALID_ID', reason: 'type' }, name)
  }
  const column = idType('')
  for (const name of ['BigInt64Array', 'BigUint64Array', 'BigInt64Array over shared memory']) {
    assert.deepEqual(column.fromDbMany(values[name]), [zero], name)
  }
  for (const name of ['BigInt64Array over detached memory', 'BigInt64Array over memory that shrank']) {
    assert.deepEqual(column.fromDbMany(values[name]), [], name)
  }
})

test('what is no list is refused by its option, also a Proxy and what calls itself a typed array', () => {
  const type = idType('usr_')
  const values = hostileValues()
  for (const name of ['a Proxy', 'a typed array that calls itself another', 'a Set', 'an object']) {
    assert.throws(() => type.fromDbMany(values[name]), { code: 'ERR_MINTID_CONFIG', option: 'dbs' }, name)
    assert.throws(() => type.toDbMany(values[name]), { code: 'ERR_MINTID_CONFIG', option: 'ids' }, name)
  }
  for (const options of [{}, { dbFormat: 'raw' }]) {
    const any = idType('usr_', options)
    const ids = ['usr_11111111111', 'usr_11111111112']
    assertReadAlike((list) => any.toDbMany(list), ids, 'ids')
    assertReadAlike((list) => any.fromDbMany(list), Array.from(any.toDbMany(ids)), 'dbs')
  }
  assert.throws(() => type.toDbMany(values['an array whose item throws']), Trap)
  assert.throws(() => type.toDbMany(values['the longest sparse array']), { message: /^item 0\b/ })
})

/** A Proxy of a list (a reactive array, say) is read as the list is, or refused by name. */
function assertReadAlike(read, list, option) {
  try {
    assert.deepEqual(read(new Proxy(list, {})), read(list))
  } catch (error) {
    assert.deepEqual([error.code, error.option], ['ERR_MINTID_CONFIG', option])
  }
}

const GENERATOR_OPTIONS = [
  'coordinator',
  'machineId',
  'machineIds',
  'namespace',
  'lease',
  'key',
  'layout',
  'nonsense',
  'machineId.env',
  'machineId.hosts',
  'machineIds.from',
  'machineIds.to',
  'lease.ttlMs',
  'lease.firstTtlMs',
  'lease.renewEveryMs',
  'lease.acquireTimeoutMs',
  'lease.requestTimeoutMs',
  'keys',
  'keys.k1',
  'cipherKeys',
  'cipherKeys.64',
  'ciphers',
  'ciphers.96',
  'layout.partition',
  'layout.time',
  'layout.machine',
  'layout.sequence',
  'layout.epoch'
]
const TYPE_OPTIONS = [
  'bits',
  'kind',
  'base',
  'format',
  'dbFormat',
  'mask',
  'cipher',
  'maskTweak',
  'pad',
  'accepts',
  'persistPrefix',
  'generator',
  'nonsense'
]

/** Options with one of them, by its dotted name, set to a value. */
function withOption(path, value) {
  const [outer, inner] = path.split('.')
  const source = /^machineIds?/.test(outer)
    ? { coordinator: outer === 'machineIds' ? 'none' : undefined }
    : { machineId: 1 }
  const chosen = Object.fromEntries(
    Object.entries(source).filter(([name, value]) => value !== undefined && name !== outer)
  )
  return { ...chosen, [outer]: inner ? { [inner]: value } : value }
}

test('every option with every kind of value: taken, or refused by name', async () => {
  for (const option of GENERATOR_OPTIONS) {
    for (const [name, value] of Object.entries(hostileValues())) {
      const error = assertFair(`${option}, ${name}`, () => new IdGenerator(withOption(option, value)))
      if (error instanceof MintidError)
        assert.match(
          error.option,
          /^(coordinator|machineIds?|namespace|lease|keys?|cipherKeys|ciphers|layout|nonsense|kind)/
        )
    }
  }
  for (const option of TYPE_OPTIONS) {
    for (const [name, value] of Object.entries(hostileValues())) {
      assertFair(`type, ${option}, ${name}`, () => idType('usr_', { [option]: value }))
    }
  }
  for (const [name, value] of Object.entries(hostileValues())) {
    for (const option of ['prefix', 'mask', 'cipher', 'maskTweak', 'format', 'pad']) {
      assertFair(`accepts, ${option}, ${name}`, () => idType('usr_', { mask: true, accepts: [{ [option]: value }] }))
    }
    assertFair(`tweak, ${name}`, () => idType('usr_', { mask: true, cipher: 'aes', maskTweak: value }))
    assertFair(`options, ${name}`, () => new IdGenerator(value))
    assertFair(`type options, ${name}`, () => idType('usr_', value))
    assertFair(`prefix, ${name}`, () => idType(value))
    assertFair(`accepts, ${name}`, () => idType('usr_', { accepts: [value] }))
  }
})

test('ready, relinquish, connect and start with every kind of value', async (t) => {
  const ids = await IdGenerator.connect({ machineId: 10 })
  t.after(() => ids.close())
  const asynchronous = {
    'ready, options': (value) => ids.ready(value),
    'ready, signal': (value) => ids.ready({ signal: value }),
    'ready, timeout': (value) => ids.ready({ acquireTimeoutMs: value }),
    connect: (value) => IdGenerator.connect(value),
    'connect, ready': (value) => IdGenerator.connect({ coordinator: 'none' }, value).then((made) => made.close()),
    start: (value) => start(value)
  }
  for (const [method, call] of Object.entries(asynchronous)) {
    for (const [name, value] of Object.entries(hostileValues())) {
      try {
        await call(value)
      } catch (error) {
        assert.ok(isFair(error, name), `${method}, ${name}: ${error?.stack}`)
      }
    }
  }
  for (const [name, value] of Object.entries(hostileValues())) {
    assertFair(`encrypt, ${name}`, () => ids.encrypt(value))
    assertFair(`nonce, bits, ${name}`, () => ids.nonce(value))
    assertFair(`nonce, kind, ${name}`, () => ids.nonce(96, value))
    assertFair(`nonce, options, ${name}`, () => ids.nonce(96, 'encrypted', value))
    assertFair(`relinquish, ${name}`, () => ids.relinquish(value))
    assertFair(`type, ${name}`, () => ids.type('usr_', value))
  }
})
