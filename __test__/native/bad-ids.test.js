'use strict'

// Text that is no ID: refused, or the one canonical text of a number. Never read as another ID.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { IdGenerator, InvalidIdError, idType } = require('mintid')
const { Random } = require('./random.js')
const { untagged, vectors } = require('../support/vectors.js')

const KEY = '0123456789abcdef0123456789abcdef'
const REASONS = ['type', 'prefix', 'length', 'character', 'not canonical', 'range', 'unsafe number']
/** Control characters, marks that turn text around, halves of characters, and what breaks lines. */
const UNESCAPED = /[\p{C}\p{Zl}\p{Zp}]/u
const ORIGINAL = ['url64', 'hex', 'hex32', 'raw', 'signed', 'unsigned']
const { load_invalid: loadInvalid, parse, prefixed } = vectors('04_once_formats.json')

/** What every reading method makes of a value: the same refusal by all, or the ID and its number. */
function read(type, value) {
  const result = type.safeParse(value)
  if (result.success) {
    const db = type.toDb(value)
    assert.deepEqual(type.parse(value), result.id)
    assert.deepEqual(type['~standard'].validate(value), { value: result.id })
    assert.deepEqual(type.fromDb(db), result.id)
    assert.equal(type.is(result.id), true)
    assert.deepEqual(type.inspect(value).db, db)
    return { id: result.id, db }
  }
  const { error } = result
  assert.ok(error instanceof InvalidIdError && REASONS.includes(error.reason), error.reason)
  assert.ok(error.message.length < 400 && !UNESCAPED.test(error.message), error.message)
  assert.equal(error.statusCode, 400)
  for (const refuse of [
    () => type.parse(value),
    () => type.toDb(value),
    () => type.inspect(value),
    () => type.format(value, 'hex')
  ]) {
    assert.throws(refuse, { code: 'ERR_MINTID_INVALID_ID', reason: error.reason, message: error.message })
  }
  assert.equal(type.is(value), false)
  assert.equal(type['~standard'].validate(value).issues.length, 1)
  return null
}

for (const [name, entries] of Object.entries({ parse, prefixed })) {
  test(`vectors 04, ${name}: every line is refused, or is the number that the original reads`, () => {
    let [invalid, accepted] = [0, 0]
    for (const entry of entries) {
      const input = untagged(entry.in)
      for (const format of ORIGINAL) {
        const type = idType(entry.prefix ?? '', { format })
        const found = read(type, input)
        const original = entry.dump_signed[format]
        if (original[0] !== 'ok' || original[1] === 'nil') {
          assert.equal(found, null, `${format} ${String(input)}`)
          invalid++
        } else if (found) {
          assert.deepEqual(original, ['ok', 'i', String(found.db)])
          assert.deepEqual(found.id, typeof found.id === 'bigint' ? BigInt(input) : input)
          accepted++
        }
      }
    }
    assert.ok(invalid > 100 && accepted >= 10, `${invalid} ${accepted}`)
  })
}

test('vectors 04, load_invalid: every value is refused, or is what the original reads as that very number', () => {
  for (const { db, app } of loadInvalid) {
    const value = untagged(db)
    for (const dbFormat of ORIGINAL) {
      const type = idType('', { dbFormat, format: 'signed' })
      let id
      try {
        id = type.fromDb(value)
      } catch (error) {
        assert.ok(error instanceof InvalidIdError, error)
        continue
      }
      assert.deepEqual(app.signed, ['ok', 'i', String(id)], `${dbFormat} ${value}`)
      assert.equal(String(type.toDb(id)), String(value))
    }
  }
})

const TEXT_TYPES = [
  ['', { format: 'base58' }],
  ['usr_', { format: 'base58', mask: true }],
  ['usr_', { format: 'url64' }],
  ['', { format: 'hex', mask: true }],
  ['', { format: 'hex32' }],
  ['a', { format: 'signed' }],
  ['1', { format: 'unsigned', mask: true }],
  ['enc.', { kind: 'encrypted', format: 'hex32' }]
]
const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_~.+/= \t\n\0é٣\u{feff}\u{1f600}\ud800'
const EACH = 100_000 / TEXT_TYPES.length

for (const [prefix, options] of TEXT_TYPES) {
  test(`${EACH} random and mutated strings: '${prefix}', ${JSON.stringify(options)}`, () => {
    const ids = new IdGenerator({ coordinator: 'none', key: KEY })
    const type = ids.type(prefix, options)
    const random = new Random(0x1d5)
    const found = { read: 0, refused: 0 }
    for (let trial = 0; trial < EACH; trial++) {
      const db = BigInt.asIntN(64, random.number())
      const text = type.fromDb(db)
      const other = random.below(4) ? mutated(random, text) : prefix + random.text(random.below(24), ALPHABET)
      const canonical = reread(type, other)
      found[canonical === undefined ? 'refused' : 'read']++
      if (canonical === undefined) continue
      assert.equal(canonical.id, other)
      if (other !== text) assert.notEqual(canonical.db, db, `${other} and ${text}`)
    }
    assert.ok(found.read > 100 && found.refused > EACH / 3, JSON.stringify(found))
  })
}

/** The number of a text and the text of that number; undefined if it is refused. */
function reread(type, text) {
  const result = type.safeParse(text)
  assert.equal(type.is(text), result.success)
  if (!result.success) return undefined
  const db = type.toDb(text)
  assert.equal(type.fromDb(db), text)
  return { id: result.id, db }
}

/** A text with one slip of the kind that people, proxies and attackers make. */
function mutated(random, text) {
  const at = random.below(text.length)
  const [before, here, after] = [text.slice(0, at), text[at], text.slice(at + 1)]
  switch (random.below(10)) {
    case 0:
      return before + after
    case 1:
      return before + here + here + after
    case 2:
      return before + random.text(1, ALPHABET) + after
    case 3:
      return before + (here === here.toUpperCase() ? here.toLowerCase() : here.toUpperCase()) + after
    case 4:
      return text + random.text(1, ALPHABET)
    case 5:
      return random.text(1, ALPHABET) + text
    case 6:
      return before + (after[0] ?? '') + here + after.slice(1)
    case 7:
      return text.slice(0, -1) + random.text(1, ALPHABET)
    case 8:
      return text.normalize('NFKD').repeat(1 + random.below(3))
    default:
      return encodeURIComponent(before) + String.fromCharCode(here.charCodeAt(0) + 256) + after
  }
}

test('one slip in an ID gives another one at most, in every place', () => {
  const type = idType('usr_')
  const id = type.fromDb(98770186085072901n)
  const numbers = new Map([[type.toDb(id), id]])
  for (let at = 0; at < id.length; at++) {
    for (let code = 0; code < 0x180; code++) {
      const other = id.slice(0, at) + String.fromCharCode(code) + id.slice(at + 1)
      const canonical = reread(type, other)
      if (canonical === undefined || other === id) continue
      assert.ok(!numbers.has(canonical.db), other)
      numbers.set(canonical.db, other)
    }
  }
  // 57 other characters in each of the 11 places, but for those past the range.
  assert.ok(numbers.size > 11 * 50 && numbers.size <= 1 + 11 * 57, String(numbers.size))
})

test('a huge text is refused, and shown in part', () => {
  const type = idType('usr_')
  const huge = `usr_${'1'.repeat(2 ** 28)}`
  for (const value of [huge, '\u{1f600}'.repeat(1 << 20), `${'\0'.repeat(100)}usr_`]) {
    const { error } = type.safeParse(value)
    assert.ok(['length', 'prefix'].includes(error.reason))
    assert.ok(error.message.length < 400)
  }
})
