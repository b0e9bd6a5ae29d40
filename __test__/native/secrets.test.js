'use strict'

// No key shows up anywhere: not in what loggers print, not in errors, events or warnings.

const assert = require('node:assert/strict')
const { pbkdf2Sync } = require('node:crypto')
const { test } = require('node:test')
const { inspect } = require('node:util')
const { IdGenerator } = require('mintid')
const { inPackage } = require('../package.js')
const { reacquired, recorded } = require('../support/events.js')
const { Registry } = require('../support/registry.js')

const KEY = 'hush-4f2c-this-is-the-secret-key-hush'
const DERIVED = pbkdf2Sync(KEY, 'speck64_128', 1000, 16, 'sha256')

/** The key and what is derived from it, in every way in which somebody might print bytes. */
const SPELLINGS = [Buffer.from(KEY), DERIVED].flatMap((bytes) => [
  bytes.toString('latin1'),
  bytes.toString('hex'),
  bytes.toString('base64'),
  bytes.toString('base64url'),
  [...bytes].join(', '),
  [...bytes].join(','),
  bytes.inspect().slice(8, 8 + 3 * 12)
])

/** Everything that can be seen of a value. */
function seen(value) {
  const deep = { showHidden: true, depth: Infinity, maxArrayLength: Infinity, maxStringLength: Infinity, getters: true }
  return [inspect(value), inspect(value, deep), String(value), value instanceof Error ? value.stack : '', json(value)]
}

function json(value) {
  return JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? String(item) : item)) ?? ''
}

function assertHidden(...values) {
  for (const text of values.flatMap(seen)) {
    for (const spelling of SPELLINGS) assert.ok(!text.includes(spelling), text)
  }
}

test('nothing that can be printed shows the key', async (t) => {
  const { coordinator } = new Registry()
  const ids = new IdGenerator({ coordinator, key: KEY })
  t.after(() => ids.close())
  assertHidden(ids)
  const events = recorded(ids)
  await ids.ready()
  const types = [ids.type('usr_', { mask: true }), ids.type('e.', { kind: 'encrypted', format: 'hex' })]
  const minted = types.flatMap((type) => [type.next(), ...type.nextMany(10)])
  ids.relinquish('so that there are events')
  await reacquired(ids)
  assertHidden(ids, ...types, ids.lease, minted, events, process.memoryUsage())
  assert.ok(events.length >= 3)
  await ids.close()
  assertHidden(ids, ...types)
})

test('no error shows the key', async (t) => {
  const { coordinator } = new Registry()
  const ids = await IdGenerator.connect({ coordinator, key: KEY })
  t.after(() => ids.close())
  const type = ids.type('usr_', { mask: true })
  const failing = [
    () => type.toDb('usr_'),
    () => type.fromDb({}),
    () => type.nextMany(0),
    () => type.toDbMany([null]),
    () => new IdGenerator({ coordinator, key: KEY.slice(0, 31) }),
    () => new IdGenerator({ coordinator, keys: { main: KEY.slice(0, 31) } }),
    () => new IdGenerator({ coordinator, keys: KEY }),
    () => new IdGenerator({ coordinator, cipherKeys: KEY }),
    () => new IdGenerator({ coordinator, cipherKeys: { 64: KEY } }),
    () => ids.type('usr_', { mask: 'unknown' }).is(''),
    () => ids.encrypt(KEY),
    () => new IdGenerator({ coordinator: KEY, key: KEY }),
    () => new IdGenerator({ coordinator, key: [KEY] }),
    () => new IdGenerator({ coordinator, kye: KEY }),
    () => IdGenerator.connect({ coordinator, key: `${KEY}!` }),
    () => IdGenerator.connect({ coordinator, key: KEY, layout: { machine: 8 } }),
    () => IdGenerator.connect({ machineId: { env: 'MINTID_TEST_UNSET' }, key: KEY })
  ]
  for (const fail of failing) {
    const error = await Promise.resolve()
      .then(fail)
      .catch((error) => error)
    assert.ok(error instanceof Error && error.code.startsWith('ERR_MINTID_'), inspect(error))
    assertHidden(error)
  }
})

test('the native objects behind a generator show no key either', () => {
  const addon = require(inPackage('binding.js'))
  const handle = addon.open(
    {
      coordinator: 'none',
      namespace: 'default',
      key: Buffer.from(KEY),
      lease: { ttlMs: 300_000, firstTtlMs: 60_000, renewEveryMs: 60_000, requestTimeoutMs: 5000 },
      layout: { partition: 0, time: 42, machine: 9, sequence: 13, epochMs: 0 }
    },
    () => {}
  )
  const spec = { prefix: '', kind: 'counter', base: 'counter', format: 'hex', dbFormat: 'signed', mask: true }
  const binding = addon.bind({ ...spec, cipher: 'speck', accepts: [], persistPrefix: false }, handle)
  binding.toDb('x')
  assertHidden(handle, binding, binding.next, addon.takeFailure(), addon)
})
