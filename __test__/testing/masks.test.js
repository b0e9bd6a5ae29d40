'use strict'

const assert = require('node:assert/strict')
const { after, test } = require('node:test')
const { fakeIds } = require('../../js/testing.js')
const { Keyring } = require('../../js/testing/ciphers/keyring.js')
const { speck } = require('../../js/testing/ciphers/speck.js')
const { untagged, vectors } = require('../support/vectors.js')

const mask = vectors('05_once_mask.json')
const generators = new Map()
after(() => Promise.all([...generators.values()].map((ids) => ids.close())))

/** A type under a base key given in hex. */
function typeUnder(key, prefix, options) {
  if (!generators.has(key)) generators.set(key, fakeIds({ key: Buffer.from(key, 'hex') }))
  return generators.get(key).type(prefix ?? '', { mask: true, ...options })
}

const number = (hex) => BigInt(`0x${hex}`)

test('Speck64/128 is the one of the paper', () => {
  const cipher = speck(Buffer.from('1b1a1918131211100b0a090803020100', 'hex'))
  assert.equal(cipher.encrypt(number('3b7265747475432d')), number('8c6fa548454e028b'))
  assert.equal(cipher.decrypt(number('8c6fa548454e028b')), number('3b7265747475432d'))
})

test('ciphers of every size come out as in the vectors, with derived and with explicit keys', () => {
  const rows = vectors('03_encrypt.json').vectors
  for (const { base_key: base, effective_key: effective, bits, cipher, plaintext, ciphertext } of rows) {
    const ciphers = [{ bits, cipher }]
    const explicit = new Keyring({ cipherKeys: [{ bits, key: Buffer.from(effective, 'hex') }], ciphers })
    const derived = base ? [new Keyring({ key: Buffer.from(base, 'hex'), ciphers })] : []
    for (const keys of [explicit, ...derived]) {
      assert.equal(keys.crypt(Buffer.from(plaintext, 'hex'), 'encrypt').toString('hex'), ciphertext)
      assert.equal(keys.crypt(Buffer.from(ciphertext, 'hex'), 'decrypt').toString('hex'), plaintext)
    }
  }
  assert.equal(rows.length, 702)
})

test('masked IDs come out as in the vectors', () => {
  // One of the recorded prefixes has an accent; ours are URL-safe.
  const isOurs = ({ prefix }) => prefix !== 'prod-é_'
  const rows = [...mask.vectors, ...mask.other_db_formats].filter(isOurs)
  for (const row of rows) {
    const type = typeUnder(row.base_key, row.prefix, {
      format: row.ex_format,
      cipher: row.cipher64,
      dbFormat: row.db_format ?? 'signed',
      persistPrefix: row.persist_prefix ?? false
    })
    const app = untagged(row.app)
    const db = Array.isArray(row.db) ? untagged(row.db) : BigInt(row.db)
    assert.deepEqual(type.fromDb(db), app)
    assert.deepEqual(type.toDb(app), db)
    assert.equal(type.is(app), true)
  }
  assert.equal(rows.length, 340)
})

test('every input is refused, or is the canonical one of the number that the original reads', () => {
  const found = { accepted: 0, refused: 0 }
  for (const { base_key: key, prefix, in: tagged, dump_signed: expected } of mask.inputs) {
    const input = untagged(tagged)
    for (const format of ['url64', 'signed']) {
      const result = typeUnder(key, prefix, { format }).safeParse(input)
      found[result.success ? 'accepted' : 'refused']++
      if (result.success) {
        assert.deepEqual(expected[format], ['ok', 'i', String(typeUnder(key, prefix, { format }).toDb(input))])
        assert.equal(String(result.id), String(input))
      }
    }
  }
  assert.deepEqual(found, { accepted: 10, refused: 90 })
})

test('fakes have further keys and other ciphers, as the application has them', (t) => {
  const ids = fakeIds({ keys: { other: 'another key of thirty-two bytes..' }, ciphers: { 64: 'blowfish' } })
  t.after(() => ids.close())
  const shown = (options) => ids.type('', { mask: true, ...options }).fromDb(5n)
  const texts = [shown(), shown({ mask: 'other' }), shown({ cipher: 'speck' })]
  assert.equal(new Set(texts).size, 3)
  assert.equal(shown({ cipher: 'blowfish' }), texts[0])
  assert.throws(() => shown({ mask: 'othr' }), { option: 'mask' })
  assert.throws(() => fakeIds({ keys: { other: 'short' } }), { option: 'keys.other' })
})

test('masks by every cipher are the golden ones', () => {
  const { base_key: base, lines } = vectors('golden_ciphers.json')
  for (const { number, cipher, tweak, app } of lines) {
    const options = { cipher, ...(tweak && { maskTweak: tweak }) }
    const type = typeUnder(Buffer.from(base).toString('hex'), 'usr_', { ...options, dbFormat: 'unsigned' })
    assert.equal(type.fromDb(BigInt(number)), app)
    assert.equal(type.toDb(app), BigInt(number))
  }
  assert.ok(lines.some(({ tweak }) => tweak !== ''))
})
