'use strict'

// IDs and nonces of 96 and 128 bits through the public API, by native code and by the fake.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { ConfigError, IdGenerator, InvalidIdError, NoKeyError, NotReadyError, idType } = require('mintid')
const { fakeIds, TEST_KEY } = require('mintid/testing')
const { Registry } = require('../support/registry.js')
const { vectors } = require('../support/vectors.js')

const FORMATS = ['base58', 'url64', 'hex', 'hex32', 'base62', 'decimal', 'raw']
const KINDS = [
  { kind: 'counter' },
  { kind: 'sortable' },
  { kind: 'encrypted' },
  { kind: 'encrypted', base: 'sortable' }
]
const config = (option) => (error) => error instanceof ConfigError && error.option === option

const GENERATORS = {
  native: (options) => IdGenerator.connect({ coordinator: new Registry().coordinator, key: TEST_KEY, ...options }),
  fake: (options) => fakeIds(options)
}

// Before there is a default generator.
test('what follows from nothing: no lease, no key, no generator', (t) => {
  const ids = new IdGenerator({ coordinator: 'none' })
  t.after(() => ids.close())
  assert.throws(() => ids.nonce(96), NotReadyError)
  assert.throws(() => ids.nonce(96, 'encrypted'), { code: NoKeyError.code, bits: 96 })
  const masked = ids.type('', { bits: 128, mask: true })
  assert.throws(() => masked.is(''), { code: NoKeyError.code, bits: 128 })
  const type = idType('w_', { bits: 128, format: 'hex' })
  assert.equal(type.fromDb(Buffer.alloc(16, 1)), `w_${'01'.repeat(16)}`)
  assert.throws(() => type.next(), NotReadyError)
})

for (const [name, make] of Object.entries(GENERATORS)) {
  test(`${name}: golden texts`, async (t) => {
    const ids = await make()
    t.after(() => ids.close())
    const lines = vectors('golden_formats.json').lines.filter(({ bits }) => bits !== 64)
    for (const { bits, number, format, pad, app } of lines) {
      const id = format === 'raw' ? Buffer.from(app, 'hex') : app
      const type = ids.type('', { bits, format, ...(pad === false && { pad }), dbFormat: 'decimal' })
      const db = BigInt(number)
        .toString()
        .padStart(bits === 96 ? 29 : 39, '0')
      assert.deepEqual([type.fromDb(db), type.toDb(id)], [id, db])
    }
    assert.ok(lines.length > 50)
  })

  for (const bits of [96, 128]) {
    test(`${name}: ${bits} bits in every kind and format are made, converted and taken apart`, async (t) => {
      const began = name === 'fake' ? Date.UTC(2026, 0, 1) : Date.now() - 1000
      const ids = await make()
      t.after(() => ids.close())
      for (const options of KINDS) {
        const seen = new Set()
        for (const [at, format] of FORMATS.entries()) {
          const dbFormat = FORMATS[(at + 3) % FORMATS.length]
          for (const [prefix, mask] of [
            ['', false],
            ['w_', options.kind !== 'encrypted']
          ]) {
            const type = ids.type(prefix, { bits, format, dbFormat, mask, ...options })
            const { id, db } = type.nextPair()
            assert.deepEqual([type.toDb(id), type.fromDb(db), type.is(id), type.parse(id)], [db, id, true, id])
            const many = [
              ...type.nextMany(5),
              id,
              type.next(),
              type.fromDb(type.nextDb()),
              ...type.fromDbMany(type.nextManyDb(5))
            ]
            assert.deepEqual(type.fromDbMany(type.toDbMany(many)), many)
            for (const one of many) seen.add(type.format(one, 'hex').slice(prefix.length) + prefix)
            const parts = type.inspect(id)
            assert.deepEqual([parts.kind, parts.machineId, parts.db], [options.kind, ids.machineId, db])
            assert.ok(Math.abs(parts.timestamp - began) < 60_000)
            const text = type.format(id, 'decimal')
            assert.match(text.slice(prefix.length), bits === 96 ? /^\d{29}$/ : /^\d{39}$/)
            assert.throws(() => type.format(id, 'signed'), config('to'))
          }
        }
        assert.equal(seen.size, 2 * 13 * FORMATS.length)
      }
    })
  }

  test(`${name}: text that is none is refused, and so are 64 bits`, async (t) => {
    const ids = await make()
    t.after(() => ids.close())
    const type = ids.type('w_', {
      bits: 128,
      format: 'hex32',
      accepts: [{ prefix: 'v_', format: 'base58', mask: true }]
    })
    const last = `w_${'v'.repeat(25)}s`
    assert.equal(type.is(last), true)
    for (const [value, reason] of [
      [`w_${'v'.repeat(26)}`, 'not canonical'],
      [last.toUpperCase(), 'prefix'],
      [`${last}v`, 'length'],
      [last.replace('v', 'w'), 'character'],
      [5n, 'type'],
      [Buffer.alloc(16), 'type'],
      ['w_1111111111111', 'length']
    ]) {
      const result = type.safeParse(value)
      assert.ok(result.error instanceof InvalidIdError && result.error.reason === reason, String(value))
    }
    const old = ids.type('v_', { bits: 128, mask: true })
    assert.equal(type.parse(old.fromDb(Buffer.alloc(16, 255))), last)
    assert.throws(() => type.fromDb(Buffer.alloc(8)), { reason: 'length' })
    assert.throws(() => type.fromDb(5n), { reason: 'type' })
    assert.throws(() => ids.type('s_', { bits: 96, kind: 'sortable' }).rangeFor({ from: 0, to: 1 }), config('bits'))
    const halves = ids.type('h_', { bits: 96, kind: 'encrypted', cipher: 'blowfish' })
    assert.throws(() => halves.fromDb(Buffer.alloc(12, 1)), { reason: 'range' })
    assert.equal(halves.toDb(halves.next()).subarray(8).toString('hex'), '00000000')
    const byGenerator = await make({ ciphers: { 96: 'des3' } })
    t.after(() => byGenerator.close())
    assert.throws(() => byGenerator.type('', { bits: 96, mask: true }).is(''), config('cipher'))
  })

  test(`${name}: nonces of every size and kind are counted once, and decrypted to what was counted`, async (t) => {
    const ids = await make({ ciphers: { 64: 'aes', 96: 'blowfish', 128: 'speck' } })
    t.after(() => ids.close())
    const plain = { counter: new Set(), sortable: new Set() }
    for (const bits of [64, 96, 128]) {
      const seen = new Set()
      for (const { kind, base } of KINDS) {
        const options = base ? { base } : {}
        for (let n = 0; n < 50; n++) {
          const nonce = ids.nonce(bits, kind, options)
          assert.equal(nonce.length, bits / 8)
          seen.add(`${kind} ${base} ${nonce.toString('hex')}`)
          const counted = kind === 'encrypted' ? ids.decrypt(nonce) : nonce
          // Time and machine ID, 42 and 9 bits, are the first in every size.
          assert.equal((counted.readBigUInt64BE() >> 13n) & 511n, BigInt(ids.machineId))
          if (kind !== 'encrypted') plain[kind].add(counted.toString('hex'))
        }
      }
      assert.equal(seen.size, 200)
    }
    const type = ids.type('', { bits: 96, format: 'hex' })
    for (const id of type.nextMany(100)) assert.ok(!plain.counter.has(id))
    assert.equal(ids.nonce(96).length, 12)
    for (const [bits, kind, options, option] of [
      [32, 'counter', {}, 'bits'],
      ['96', 'counter', {}, 'bits'],
      [96, 'random', {}, 'kind'],
      [96, 'counter', { base: 'sortable' }, 'base'],
      [96, 'encrypted', { base: 'encrypted' }, 'base'],
      [96, 'encrypted', { bse: 'sortable' }, 'bse'],
      [96, 'encrypted', null, 'options']
    ]) {
      assert.throws(() => ids.nonce(bits, kind, options), config(option))
    }
    await ids.close()
    assert.throws(() => ids.nonce(96), { code: 'ERR_MINTID_CLOSED' })
  })
}

test('codecs of the application work on 128 bits', async (t) => {
  const ids = await GENERATORS.native()
  t.after(() => ids.close())
  const codec = { encode: (number) => number.toString(16), decode: (text) => BigInt(`0x${text}`) }
  const type = ids.type('c_', { bits: 128, format: codec, mask: true })
  const many = type.nextMany(50)
  assert.deepEqual(type.fromDbMany(type.toDbMany(many)), many)
  assert.equal(ids.type('', { bits: 128, format: codec }).fromDb(Buffer.alloc(16, 255)), 'f'.repeat(32))
  assert.throws(() => type.toDb(`c_1${'0'.repeat(32)}`), { reason: 'range' })
})

test('a loss stops nonces and wide types too', async (t) => {
  const ids = fakeIds()
  t.after(() => ids.close())
  const type = ids.type('', { bits: 96, format: 'hex' })
  const before = type.next()
  ids.loseLease()
  for (const call of [() => type.next(), () => type.nextMany(2), () => ids.nonce(128)]) {
    assert.throws(call, { code: 'ERR_MINTID_LEASE_LOST' })
  }
  ids.regainLease()
  assert.ok(type.next() > before)
})
