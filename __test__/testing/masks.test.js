'use strict'

const assert = require('node:assert/strict')
const { after, test } = require('node:test')
const { fakeIds } = require('../../js/testing.js')
const { derivedSpeck, speck } = require('../../js/testing/speck.js')
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

test('ciphers come out as in the vectors, with derived and with explicit keys', () => {
  const rows = vectors('03_encrypt.json').vectors.filter(({ cipher, bits }) => cipher === 'speck' && bits === 64)
  for (const { base_key: base, effective_key: effective, plaintext, ciphertext } of rows) {
    const ciphers = [speck(Buffer.from(effective, 'hex')), ...(base ? [derivedSpeck(Buffer.from(base, 'hex'))] : [])]
    for (const cipher of ciphers) {
      assert.equal(cipher.encrypt(number(plaintext)), number(ciphertext))
      assert.equal(cipher.decrypt(number(ciphertext)), number(plaintext))
    }
  }
  assert.equal(rows.length, 88)
})

test('keys are derived as in the vectors', () => {
  const rows = vectors('02_key_derivation.json').vectors.filter(({ cipher, bits }) => cipher === 'speck' && bits === 64)
  for (const { base_key: base, key } of rows) {
    assert.equal(derivedSpeck(Buffer.from(base, 'hex')).encrypt(5n), speck(Buffer.from(key, 'hex')).encrypt(5n))
  }
  assert.equal(rows.length, 12)
})

test('masked IDs come out as in the vectors', () => {
  // One of the recorded prefixes has an accent; ours are URL-safe.
  const isOurs = ({ cipher64, prefix }) => cipher64 === 'speck' && prefix !== 'prod-é_'
  const rows = [...mask.vectors, ...mask.other_db_formats].filter(isOurs)
  for (const row of rows) {
    const type = typeUnder(row.base_key, row.prefix, {
      format: row.ex_format,
      dbFormat: row.db_format ?? 'signed',
      persistPrefix: row.persist_prefix ?? false
    })
    const app = untagged(row.app)
    const db = Array.isArray(row.db) ? untagged(row.db) : BigInt(row.db)
    assert.deepEqual(type.fromDb(db), app)
    assert.deepEqual(type.toDb(app), db)
    assert.equal(type.is(app), true)
  }
  assert.equal(rows.length, 210)
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
