'use strict'

// Keys and ciphers through the public API: what the originals and the golden lines say comes out.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { ConfigError, IdGenerator, NoKeyError } = require('mintid')
const { Registry } = require('../support/registry.js')
const { untagged, vectors } = require('../support/vectors.js')

const [KEY, OTHER] = ['0123456789abcdef0123456789abcdef', 'another key of thirty-two bytes..']

function converter(t, options) {
  const ids = new IdGenerator({ coordinator: 'none', ...options })
  t.after(() => ids.close())
  return ids
}

test('nonces of all sizes are encrypted as by the originals, under derived and explicit keys', (t) => {
  const generators = new Map()
  const of = (options) => {
    const name = JSON.stringify(options)
    if (!generators.has(name)) generators.set(name, converter(t, options))
    return generators.get(name)
  }
  const rows = vectors('03_encrypt.json').vectors
  for (const { base_key: base, effective_key: effective, bits, cipher, plaintext, ciphertext } of rows) {
    const ciphers = { [bits]: cipher }
    const bytes = (hex) => Buffer.from(hex, 'hex')
    const explicit = of({ cipherKeys: { [bits]: bytes(effective) }, ciphers })
    for (const ids of base ? [explicit, of({ key: bytes(base), ciphers })] : [explicit]) {
      assert.equal(ids.encrypt(bytes(plaintext)).toString('hex'), ciphertext)
      assert.equal(ids.decrypt(bytes(ciphertext)).toString('hex'), plaintext)
    }
  }
  assert.equal(rows.length, 702)
})

test('masks by every cipher are those of the originals, whoever names the cipher', (t) => {
  const mask = vectors('05_once_mask.json')
  // One of the recorded prefixes has an accent; ours are URL-safe.
  const rows = mask.vectors.filter(({ prefix }) => prefix !== 'prod-é_')
  for (const { base_key: base, cipher64: cipher, prefix, ex_format: format, app, db } of rows) {
    const key = Buffer.from(base, 'hex')
    const byType = converter(t, { key }).type(prefix ?? '', { mask: true, cipher, format })
    const byGenerator = converter(t, { key, ciphers: { 64: cipher } }).type(prefix ?? '', { mask: true, format })
    for (const type of [byType, byGenerator]) {
      assert.deepEqual(type.fromDb(BigInt(db)), untagged(app))
      assert.deepEqual(type.toDb(untagged(app)), BigInt(db))
    }
  }
  assert.equal(rows.length, 196)
})

test('golden masks by every cipher, with and without a tweak', (t) => {
  const { base_key: key, lines } = vectors('golden_ciphers.json')
  const ids = converter(t, { keys: { old: key }, key: OTHER })
  for (const { number, cipher, tweak, app } of lines) {
    const options = { mask: 'old', cipher, ...(tweak && { maskTweak: tweak }), dbFormat: 'unsigned' }
    assert.equal(ids.type('usr_', options).fromDb(BigInt(number)), app)
  }
})

test('a type has the key that it names', (t) => {
  const two = converter(t, { key: KEY, keys: { other: OTHER } })
  const one = converter(t, { key: OTHER })
  const shown = (ids, mask) => ids.type('usr_', { mask }).fromDb(5n)
  assert.equal(shown(two, 'other'), shown(one, true))
  assert.notEqual(shown(two, 'other'), shown(two, true))
  assert.throws(
    () => shown(two, 'othr'),
    (error) => error instanceof ConfigError && error.option === 'mask' && /"othr"/.test(error.message)
  )
  const named = converter(t, { keys: { other: OTHER } })
  assert.equal(shown(named, 'other'), shown(one, true))
  assert.throws(() => shown(named, true), NoKeyError)
})

test('an explicit key serves its cipher, and what has another one derives its own', (t) => {
  const explicit = converter(t, { key: KEY, cipherKeys: { 64: Buffer.alloc(32, 1) }, ciphers: { 64: 'aes' } })
  const derived = converter(t, { key: KEY, ciphers: { 64: 'aes' } })
  const shown = (ids, options) => ids.type('', { mask: true, ...options }).fromDb(5n)
  assert.notEqual(shown(explicit), shown(derived))
  assert.equal(shown(explicit, { cipher: 'aes' }), shown(explicit))
  assert.equal(shown(explicit, { cipher: 'speck' }), shown(derived, { cipher: 'speck' }))
  assert.notEqual(shown(explicit, { maskTweak: 'a' }), shown(explicit, { maskTweak: 'b' }))
  assert.throws(() => shown(converter(t, { key: KEY }), { maskTweak: 'a' }), { option: 'maskTweak' })
})

test('a key, a cipher and a tweak are changed by accepting what was', (t) => {
  const ids = converter(t, { key: KEY, keys: { new: OTHER } })
  const old = ids.type('u1_', { mask: true, cipher: 'aes', maskTweak: 'users' })
  const now = ids.type('u2_', {
    mask: 'new',
    accepts: [
      { prefix: 'u1_', mask: true, cipher: 'aes', maskTweak: 'users' },
      { prefix: 'u0_', mask: true, cipher: 'blowfish', format: 'hex' }
    ]
  })
  assert.equal(now.toDb(old.fromDb(77n)), 77n)
  assert.equal(now.parse(old.fromDb(77n)), now.fromDb(77n))
  const first = ids.type('u0_', { mask: true, cipher: 'blowfish', format: 'hex' })
  assert.deepEqual(now.toDbMany([now.fromDb(1n), old.fromDb(2n), first.fromDb(3n)]), new BigInt64Array([1n, 2n, 3n]))
})

test('encrypted types of one cipher and key share a sequence, others have their own', async (t) => {
  const ids = await IdGenerator.connect({ coordinator: new Registry().coordinator, key: KEY })
  t.after(() => ids.close())
  const plain = (cipher) => {
    const type = ids.type('', { kind: 'encrypted', dbFormat: 'raw', cipher })
    const numbers = Array.from({ length: 600 }, () => type.inspect(type.next()).sequence)
    return { db: type.nextManyDb(600), numbers }
  }
  const [speck, aes, again] = ['speck', 'aes', 'speck'].map(plain)
  assert.deepEqual(aes.numbers, speck.numbers)
  assert.ok(again.numbers.every((number) => !speck.numbers.includes(number)))
  const all = [speck, aes, again].flatMap(({ db }) => db.map((bytes) => bytes.toString('hex')))
  assert.equal(new Set(all).size, all.length)
})

test('nonces that are none, or have no key, are refused', (t) => {
  const ids = converter(t, { key: KEY, ciphers: { 96: 'des3' } })
  for (const bad of [null, 'text', [], Buffer.alloc(7), Buffer.alloc(24), new Uint16Array(4), Buffer.alloc(12, 1)]) {
    for (const method of ['encrypt', 'decrypt']) {
      assert.throws(() => ids[method](bad), { code: ConfigError.code, option: 'nonce' })
    }
  }
  assert.deepEqual(ids.decrypt(ids.encrypt(new Uint8Array(16).fill(3))), Buffer.alloc(16, 3))
  for (const bytes of [8, 12, 16]) {
    assert.throws(() => converter(t, {}).encrypt(Buffer.alloc(bytes)), { code: NoKeyError.code, bits: 8 * bytes })
  }
})
