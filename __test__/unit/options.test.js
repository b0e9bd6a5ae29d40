'use strict'

const assert = require('node:assert/strict')
const { test } = require('node:test')

const { ConfigError, IdGenerator } = require('../../index.js')
const { generatorOptions } = require('../../js/options/generator.js')
const { typeOptions } = require('../../js/options/type.js')
const { resolveMachineId } = require('../../js/options/machine-id.js')
const { shown } = require('../../js/options/check.js')

const key = 'k'.repeat(32)
const local = (options) => ({ coordinator: 'local', ...options })

/** [what is given, the option that the error names] */
const REFUSED_BY_GENERATOR = [
  [undefined, 'options'],
  [null, 'options'],
  ['local', 'options'],
  [[], 'options'],
  [{}, 'coordinator'],
  [{ coordinator: undefined }, 'coordinator'],
  [{ coordinator: '' }, 'coordinator'],
  [{ coordinator: null }, 'coordinator'],
  [{ coordinator: 7 }, 'coordinator'],
  [{ coordinator: 'locale' }, 'coordinator'],
  [{ coordinator: { acquire() {} } }, 'coordinator.renew'],
  [{ coordinator: 'https://example.org' }, 'coordinator'],
  [{ coordinator: 'file:relative' }, 'coordinator'],
  [{ coordinator: 'file://host/dir' }, 'coordinator'],
  [{ coordinator: 'file:///dir?mode=1' }, 'coordinator'],
  [{ coordinator: 'file:///dir#1' }, 'coordinator'],
  [{ coordinator: 'file:///a%2Fb' }, 'coordinator'],
  [{ coordinator: 'file:///a%00b' }, 'coordinator'],
  [local({ machineId: 7 }), 'machineId'],
  [{ machineId: undefined }, 'machineId'],
  [{ machineId: '7' }, 'machineId'],
  [{ machineId: null }, 'machineId'],
  [{ machineId: -1 }, 'machineId'],
  [{ machineId: 1.5 }, 'machineId'],
  [{ machineId: NaN }, 'machineId'],
  [{ machineId: 512 }, 'machineId'],
  [{ machineId: {} }, 'machineId'],
  [{ machineId: { env: 'A', hosts: ['a'] } }, 'machineId'],
  [{ machineId: { env: undefined } }, 'machineId.env'],
  [{ machineId: { env: '' } }, 'machineId.env'],
  [{ machineId: { env: 7 } }, 'machineId.env'],
  [{ machineId: { envs: 'POD' } }, 'machineId.envs'],
  [{ machineId: { hosts: 'a' } }, 'machineId.hosts'],
  [{ machineId: { hosts: [] } }, 'machineId.hosts'],
  [{ machineId: { hosts: Array.from({ length: 513 }, (_, i) => `h${i}`) } }, 'machineId.hosts'],
  [{ machineId: { hosts: ['a', ''] } }, 'machineId.hosts[1]'],
  [{ machineId: { hosts: ['a', 7] } }, 'machineId.hosts[1]'],
  [{ machineId: { hosts: ['a', 'a'] } }, 'machineId.hosts[1]'],
  [{ machineId: 7, machineIds: { from: 0, to: 1 } }, 'machineIds'],
  [local({ machineIds: undefined }), 'machineIds'],
  [local({ machineIds: [0, 1] }), 'machineIds'],
  [local({ machineIds: { to: 1 } }), 'machineIds.from'],
  [local({ machineIds: { from: -1, to: 1 } }), 'machineIds.from'],
  [local({ machineIds: { from: 0 } }), 'machineIds.to'],
  [local({ machineIds: { from: 2, to: 1 } }), 'machineIds.to'],
  [local({ machineIds: { from: 0, to: 512 } }), 'machineIds.to'],
  [local({ machineIds: { from: 0, to: 1, step: 1 } }), 'machineIds.step'],
  [local({ namespace: undefined }), 'namespace'],
  [local({ namespace: '' }), 'namespace'],
  [local({ namespace: 7 }), 'namespace'],
  [local({ namespace: '.' }), 'namespace'],
  [local({ namespace: '..' }), 'namespace'],
  [local({ namespace: 'a/b' }), 'namespace'],
  [local({ namespace: 'a\n' }), 'namespace'],
  [local({ namespace: 'a'.repeat(65) }), 'namespace'],
  [local({ lease: null }), 'lease'],
  [local({ lease: 300 }), 'lease'],
  [local({ lease: { ttlMs: undefined } }), 'lease.ttlMs'],
  [local({ lease: { ttlMs: null } }), 'lease.ttlMs'],
  [local({ lease: { ttlMs: '30000' } }), 'lease.ttlMs'],
  [local({ lease: { ttlMs: 2999 } }), 'lease.ttlMs'],
  [local({ lease: { ttlMs: 86_400_001 } }), 'lease.ttlMs'],
  [local({ lease: { ttlMs: 3000.5 } }), 'lease.ttlMs'],
  [local({ lease: { ttlMs: Infinity } }), 'lease.ttlMs'],
  [local({ lease: { firstTtlMs: 2999 } }), 'lease.firstTtlMs'],
  [local({ lease: { firstTtlMs: 300_001 } }), 'lease.firstTtlMs'],
  [local({ lease: { ttlMs: 10_000, firstTtlMs: 10_001 } }), 'lease.firstTtlMs'],
  [local({ lease: { renewEveryMs: 99 } }), 'lease.renewEveryMs'],
  [local({ lease: { renewEveryMs: 300_000 } }), 'lease.renewEveryMs'],
  [local({ lease: { ttlMs: 10_000, renewEveryMs: 10_000 } }), 'lease.renewEveryMs'],
  [local({ lease: { requestTimeoutMs: 99 } }), 'lease.requestTimeoutMs'],
  [local({ lease: { requestTimeoutMs: 60_000 } }), 'lease.requestTimeoutMs'],
  [local({ lease: { requestTimeoutMs: Infinity } }), 'lease.requestTimeoutMs'],
  [local({ lease: { acquireTimeoutMs: 0 } }), 'lease.acquireTimeoutMs'],
  [local({ lease: { acquireTimeoutMs: -Infinity } }), 'lease.acquireTimeoutMs'],
  [local({ lease: { acquireTimeoutMs: 2 ** 31 } }), 'lease.acquireTimeoutMs'],
  [local({ lease: { acquireTimeoutMs: '1s' } }), 'lease.acquireTimeoutMs'],
  [local({ lease: { ttl: 30_000 } }), 'lease.ttl'],
  [local({ key: undefined }), 'key'],
  [local({ key: '' }), 'key'],
  [local({ key: null }), 'key'],
  [local({ key: 7 }), 'key'],
  [local({ key: 'k'.repeat(31) }), 'key'],
  [local({ key: Buffer.alloc(31) }), 'key'],
  [local({ key: new Uint16Array(32) }), 'key'],
  [local({ key: Array(32).fill(0) }), 'key'],
  [local({ layout: 64 }), 'layout'],
  [local({ layout: { time: 48 } }), 'layout'],
  [local({ layout: { partition: 1 } }), 'layout'],
  [local({ layout: { partition: 17 } }), 'layout.partition'],
  [local({ layout: { partition: -1 } }), 'layout.partition'],
  [local({ layout: { time: 31 } }), 'layout.time'],
  [local({ layout: { time: 49 } }), 'layout.time'],
  [local({ layout: { machine: 0, sequence: 22 } }), 'layout'],
  [local({ layout: { machine: -1 } }), 'layout.machine'],
  [local({ layout: { machine: 32 } }), 'layout.machine'],
  [{ machineId: 32_768, layout: { machine: 16, sequence: 6 } }, 'machineId'],
  [{ machineId: 1, layout: { machine: 0 } }, 'machineId'],
  [local({ layout: { sequence: 0 } }), 'layout.sequence'],
  [local({ layout: { sequence: 23 } }), 'layout.sequence'],
  [local({ layout: { sequence: 13n } }), 'layout.sequence'],
  [local({ layout: { epoch: new Date(NaN) } }), 'layout.epoch'],
  [local({ layout: { epoch: 'yesterday' } }), 'layout.epoch'],
  [local({ layout: { epoch: '2025-01-01T00:00' } }), 'layout.epoch'],
  [local({ layout: { epoch: '2025-02-30' } }), 'layout.epoch'],
  [local({ layout: { epoch: '1969-12-31' } }), 'layout.epoch'],
  [local({ layout: { epoch: -1 } }), 'layout.epoch'],
  [local({ layout: { epoch: 2 ** 43 + 1 } }), 'layout.epoch'],
  [local({ layout: { epochMs: 0 } }), 'layout.epochMs'],
  [local({ keys: undefined }), 'keys'],
  [local({ keys: key }), 'keys'],
  [local({ keys: [key] }), 'keys'],
  [local({ keys: Buffer.from(key) }), 'keys'],
  [local({ keys: { k1: undefined } }), 'keys.k1'],
  [local({ keys: { k1: '' } }), 'keys.k1'],
  [local({ keys: { k1: 'k'.repeat(31) } }), 'keys.k1'],
  [local({ keys: { k1: 7 } }), 'keys.k1'],
  [local({ keys: { 'a b': key } }), 'keys'],
  [local({ keys: { ['k'.repeat(65)]: key } }), 'keys'],
  [local({ cipherKeys: key }), 'cipherKeys'],
  [local({ cipherKeys: { 32: key } }), 'cipherKeys.32'],
  [local({ cipherKeys: { 64: undefined } }), 'cipherKeys.64'],
  [local({ cipherKeys: { 64: key } }), 'cipherKeys.64'],
  [local({ cipherKeys: { 64: 'k'.repeat(16), 96: 'k'.repeat(16) } }), 'cipherKeys.96'],
  [local({ cipherKeys: { 64: 'k'.repeat(16) }, ciphers: { 64: 'aes' } }), 'cipherKeys.64'],
  [local({ ciphers: 'aes' }), 'ciphers'],
  [local({ ciphers: { 64: 'AES' } }), 'ciphers.64'],
  [local({ ciphers: { 96: 'aes' } }), 'ciphers.96'],
  [local({ ciphers: { 128: 'des3' } }), 'ciphers.128'],
  [local({ ciphers: { 32: 'speck' } }), 'ciphers.32'],
  [local({ 'odd name\n': 1 }), '"odd name\\n"']
]

const codec = { encode: String, decode: BigInt }

/** [prefix, options, the option that the error names] */
const REFUSED_BY_TYPE = [
  [undefined, {}, 'prefix'],
  [null, {}, 'prefix'],
  [7, {}, 'prefix'],
  ['usr/', {}, 'prefix'],
  ['usr ', {}, 'prefix'],
  ['üsr_', {}, 'prefix'],
  ['usr_\n', {}, 'prefix'],
  ['u'.repeat(65), {}, 'prefix'],
  ['usr_', null, 'options'],
  ['usr_', 'mask', 'options'],
  ['usr_', { kind: undefined }, 'kind'],
  ['usr_', { kind: '' }, 'kind'],
  ['usr_', { kind: 'Counter' }, 'kind'],
  ['usr_', { base: 'sortable' }, 'base'],
  ['usr_', { kind: 'sortable', base: 'sortable' }, 'base'],
  ['usr_', { kind: 'encrypted', base: 'encrypted' }, 'base'],
  ['usr_', { format: 'base64' }, 'format'],
  ['usr_', { format: null }, 'format'],
  ['usr_', { format: [] }, 'format'],
  ['usr_', { format: {} }, 'format.encode'],
  ['usr_', { format: { encode: String } }, 'format.decode'],
  ['usr_', { format: { encode: String, decode: 'BigInt' } }, 'format.decode'],
  ['usr_', { dbFormat: codec }, 'dbFormat'],
  ['usr_', { pad: 0 }, 'pad'],
  ['usr_', { pad: undefined }, 'pad'],
  ['usr_', { format: 'hex', pad: false }, 'pad'],
  ['usr_', { format: 'signed', pad: false }, 'pad'],
  ['usr_', { format: codec, pad: false }, 'pad'],
  ['usr_', { accepts: [{ prefix: 'user_', format: 'hex', pad: false }] }, 'accepts[0].pad'],
  ['usr_', { accepts: [{ prefix: 'user_', pad: null }] }, 'accepts[0].pad'],
  ['usr_', { pad: false, accepts: [{ format: 'base62' }] }, 'accepts[0]'],
  ['usr_', { accepts: [{ format: 'decimal', pad: false }] }, 'accepts[0]'],
  ['', { format: 'signed', accepts: [{ format: 'hex' }] }, 'accepts[0]'],
  ['usr_', { accepts: [{ prefix: 'user_', format: {} }] }, 'accepts[0].format.encode'],
  ['usr_', { accepts: [{ format: codec }] }, 'accepts[0].prefix'],
  ['usr_', { format: codec, accepts: [{ prefix: '', format: 'hex' }] }, 'accepts[0].prefix'],
  ['usr_', { format: codec, accepts: [{ prefix: 'a_' }, { prefix: 'a_b', format: 'raw' }] }, 'accepts[1].prefix'],
  ['usr_', { dbFormat: 'bigint' }, 'dbFormat'],
  ['usr_', { mask: '' }, 'mask'],
  ['usr_', { mask: 1 }, 'mask'],
  ['usr_', { mask: null }, 'mask'],
  ['usr_', { kind: 'encrypted', mask: true }, 'mask'],
  ['usr_', { kind: 'encrypted', mask: 'k1' }, 'mask'],
  ['usr_', { mask: true, cipher: 'AES' }, 'cipher'],
  ['usr_', { kind: 'encrypted', cipher: 'rot13' }, 'cipher'],
  ['usr_', { maskTweak: 'users' }, 'maskTweak'],
  ['usr_', { kind: 'encrypted', cipher: 'aes', maskTweak: 'users' }, 'maskTweak'],
  ['usr_', { mask: true, cipher: 'speck', maskTweak: 'users' }, 'maskTweak'],
  ['usr_', { mask: true, cipher: 'aes', maskTweak: 7 }, 'maskTweak'],
  ['usr_', { mask: true, cipher: 'aes', maskTweak: Buffer.alloc(0) }, 'maskTweak'],
  ['usr_', { mask: true, cipher: 'aes', maskTweak: Buffer.alloc(257) }, 'maskTweak'],
  ['usr_', { cipher: 'speck' }, 'cipher'],
  ['usr_', { mask: false, cipher: 'speck' }, 'cipher'],
  ['usr_', { dbFormat: 'hex', persistPrefix: 1 }, 'persistPrefix'],
  ['usr_', { persistPrefix: true }, 'persistPrefix'],
  ['usr_', { dbFormat: 'unsigned', persistPrefix: true }, 'persistPrefix'],
  ['', { dbFormat: 'hex', persistPrefix: true }, 'persistPrefix'],
  ['usr_', { generator: null }, 'generator'],
  ['usr_', { generator: {} }, 'generator'],
  ['usr_', { accepts: {} }, 'accepts'],
  ['usr_', { accepts: ['user_'] }, 'accepts[0]'],
  ['usr_', { accepts: [{}] }, 'accepts[0]'],
  ['usr_', { accepts: [{ mask: true }] }, 'accepts[0]'],
  ['usr_', { accepts: [{ format: 'url64' }] }, 'accepts[0]'],
  ['usr_', { accepts: [{ prefix: 'user_' }, { prefix: 'user_', mask: true }] }, 'accepts[1]'],
  ['usr_', { accepts: [{ format: 'signed' }] }, 'accepts[0]'],
  ['', { format: 'signed', accepts: [{ format: 'unsigned', mask: true }] }, 'accepts[0]'],
  ['', { format: 'hex', accepts: [{ prefix: 'cafe_' }, { prefix: 'cafe0', format: 'url64' }] }, 'accepts[1]'],
  ['usr_', { accepts: [{ prefix: 'us/' }] }, 'accepts[0].prefix'],
  ['usr_', { accepts: [{ prefix: 'user_', mask: 1 }] }, 'accepts[0].mask'],
  ['usr_', { accepts: [{ prefix: 'user_', cipher: 'des' }] }, 'accepts[0].cipher'],
  ['usr_', { accepts: [{ prefix: 'user_', format: 'oct' }] }, 'accepts[0].format'],
  ['usr_', { accepts: [{ prefix: undefined }] }, 'accepts[0].prefix'],
  ['usr_', { accepts: [{ prefx: 'user_' }] }, 'accepts[0].prefx'],
  ['usr_', { kind: 'encrypted', accepts: [{ prefix: 'user_', mask: true }] }, 'accepts[0].mask'],
  ['usr_', { accepts: [{ prefix: 'user_', cipher: 'aes' }] }, 'accepts[0].cipher'],
  ['usr_', { mask: true, accepts: [{ prefix: 'user_', mask: false, cipher: 'aes' }] }, 'accepts[0].cipher'],
  ['usr_', { mask: true, accepts: [{ prefix: 'user_', mask: false, maskTweak: 'a' }] }, 'accepts[0].maskTweak'],
  ['usr_', { mask: true, accepts: [{ prefix: 'user_', cipher: 'des3', maskTweak: 'a' }] }, 'accepts[0].maskTweak'],
  ['usr_', { mask: true, accepts: [{ mask: 'k1' }] }, 'accepts[0]'],
  ['usr_', { mask: true, accepts: [{ cipher: 'aes' }] }, 'accepts[0]'],
  ['usr_', { bits: undefined }, 'bits'],
  ['usr_', { bits: '96' }, 'bits'],
  ['usr_', { bits: 32 }, 'bits'],
  ['usr_', { bits: 96, format: 'signed' }, 'format'],
  ['usr_', { bits: 128, dbFormat: 'unsigned' }, 'dbFormat'],
  ['usr_', { bits: 128, dbFormat: 'raw', accepts: [{ format: 'unsigned' }] }, 'accepts[0].format'],
  ['usr_', { bits: 96, mask: true, cipher: 'des3' }, 'cipher'],
  ['usr_', { bits: 96, mask: true, cipher: 'aes' }, 'cipher'],
  ['usr_', { bits: 128, mask: true, cipher: 'blowfish' }, 'cipher'],
  ['usr_', { bits: 128, kind: 'encrypted', cipher: 'des3' }, 'cipher'],
  ['usr_', { bits: 128, mask: true, cipher: 'aes', maskTweak: 'a' }, 'maskTweak'],
  ['usr_', { bits: 96, mask: true, accepts: [{ prefix: 'a', cipher: 'blowfish' }] }, 'accepts[0].cipher'],
  [
    'usr_',
    { bits: 128, mask: true, cipher: 'aes', accepts: [{ prefix: 'a', maskTweak: 'a' }] },
    'accepts[0].maskTweak'
  ],
  ['usr_', { bits: 128, accepts: [{ format: 'url64' }] }, 'accepts[0]'],
  ['usr_', { space: '' }, 'space'],
  ['usr_', { space: 7 }, 'space'],
  ['usr_', { space: 'a b' }, 'space'],
  ['usr_', { overflow: 'drift' }, 'overflow'],
  ['usr_', { kind: 'encrypted', base: 'sortable', overflow: 'drift' }, 'overflow'],
  ['usr_', { kind: 'sortable', overflow: 'skip' }, 'overflow'],
  ['usr_', { kind: 'sortable', bits: 96, overflow: 'drift' }, 'overflow'],
  ['usr_', { bits: 96, layout: {} }, 'layout'],
  ['usr_', { bits: 128, partition: 1 }, 'partition'],
  ['usr_', { layout: { partition: 17 } }, 'layout.partition'],
  ['usr_', { layout: { machine: 10 } }, 'layout'],
  ['usr_', { partition: -1 }, 'partition'],
  ['usr_', { partition: 65_536 }, 'partition'],
  ['usr_', { partition: '1' }, 'partition'],
  ['usr_', { partition: 1n }, 'partition'],
  ['usr_', { layout: { partition: 2, time: 40 }, partition: 4 }, 'partition'],
  ['usr_', { layout: {}, partition: 1 }, 'partition']
]

function refused(run, option, what) {
  const error = thrownBy(run)
  assert.ok(error instanceof ConfigError, `${what}: ${error}`)
  assert.equal(error.option, option, what)
  assert.ok(error.message.startsWith(option), `${what}: ${error.message}`)
}

function thrownBy(run) {
  try {
    run()
  } catch (error) {
    return error
  }
  return assert.fail('expected an error')
}

test('a generator refuses every bad option by its name', () => {
  for (const [options, option] of REFUSED_BY_GENERATOR) refused(() => new IdGenerator(options), option, shown(options))
})

test('a type refuses every bad option by its name', () => {
  for (const [index, [prefix, options, option]] of REFUSED_BY_TYPE.entries()) {
    refused(() => typeOptions(prefix, options), option, `line ${index}`)
  }
})

test('messages say what to do', () => {
  const message = (options) => thrownBy(() => generatorOptions(options)).message
  assert.equal(message({ coordinator: undefined }), 'coordinator is undefined; is the environment variable set?')
  assert.equal(message(local({ key: '' })), 'key is empty; is the environment variable set?')
  assert.equal(message(local({ nmaespace: 'x' })), "nmaespace: unknown option; did you mean 'namespace'?")
  assert.match(message(local({ lease: { ttl: 1 } })), /^lease\.ttl: unknown option; did you mean 'ttlMs'\?$/)
  assert.match(message({ coordinator: 'Local' }), /did you mean 'local'\?$/)
  assert.match(
    message(local({ lease: { renewEveryMs: 400_000 } })),
    /^lease\.renewEveryMs: expected an integer from 100 to 299999 \(ms; less than lease\.ttlMs\), found 400000$/
  )
  assert.match(
    message(local({ layout: { machine: 10 } })),
    /found 65 \(partition 0, time 42, machine 10, sequence 13\)$/
  )
  assert.match(thrownBy(() => typeOptions('usr_', { kind: 'encryptd' })).message, /did you mean 'encrypted'\?$/)
})

test('no message shows a secret, whatever option it ended up in', () => {
  const url = 'postgres://user:secret@host/db'
  for (const options of [{ coordinator: 'user:secret@host' }, local({ namespace: url }), { machineId: url }]) {
    assert.doesNotMatch(thrownBy(() => generatorOptions(options)).message, /secret/)
  }
  for (const mistake of [{ key: 'secret' }, { keys: 'secret' }, { keys: { k1: 'secret' } }, { cipherKeys: 'secret' }]) {
    assert.doesNotMatch(thrownBy(() => generatorOptions(local(mistake))).message, /secret/)
  }
})

test('what was found is cut and escaped', () => {
  assert.equal(shown('a\n"b"'), '"a\\n\\"b\\""')
  assert.equal(shown('\u202e\u{1f600}'), '"\\u{202e}\\u{1f600}"')
  assert.equal(shown('x'.repeat(1000)).length, 65)
  assert.equal(shown(5n), '5n')
  assert.equal(shown(Symbol('secret')), 'a symbol')
  assert.equal(shown({ secret: 1 }), 'an object')
})

test('the defaults', () => {
  assert.deepEqual(generatorOptions({ coordinator: 'local' }), {
    coordinator: 'local',
    machineIds: undefined,
    namespace: 'default',
    lease: { ttlMs: 300_000, firstTtlMs: 60_000, renewEveryMs: 60_000, requestTimeoutMs: 5000, onReset: 'wait' },
    incarnation: 'volatile',
    key: undefined,
    keys: [],
    cipherKeys: [],
    ciphers: [],
    layout: { partition: 0, time: 42, machine: 9, sequence: 13, epochMs: 1_735_689_600_000 },
    acquireTimeoutMs: 60_000
  })
  assert.deepEqual(typeOptions('usr_').spec, {
    prefix: 'usr_',
    bits: 64,
    kind: 'counter',
    base: 'counter',
    format: 'base58',
    dbFormat: 'signed',
    mask: false,
    key: undefined,
    cipher: undefined,
    maskTweak: undefined,
    pad: true,
    accepts: [],
    persistPrefix: false
  })
})

test('timings follow from a short lease', () => {
  const { onReset: _, ...timings } = generatorOptions(local({ lease: { ttlMs: 3000 } })).lease
  assert.deepEqual(timings, { ttlMs: 3000, firstTtlMs: 3000, renewEveryMs: 600, requestTimeoutMs: 1000 })
  assert.equal(generatorOptions(local({ lease: { acquireTimeoutMs: Infinity } })).acquireTimeoutMs, Infinity)
})

test('sources', () => {
  const machineIds = { from: 5, to: 5 }
  for (const [options, expected] of [
    [{ coordinator: 'none' }, { coordinator: 'none' }],
    [
      { coordinator: 'local', machineIds },
      { coordinator: 'local', machineIds }
    ],
    [{ coordinator: 'FILE:///var/my%20ids' }, { coordinator: 'directory', directory: '/var/my ids' }],
    [{ machineId: 0 }, { coordinator: 'fixed', machineId: { number: 0 } }],
    [{ machineId: { env: 'POD' } }, { coordinator: 'fixed', machineId: { env: 'POD' } }],
    [{ machineId: { hosts: ['a', 'b'] } }, { coordinator: 'fixed', machineId: { hosts: ['a', 'b'] } }]
  ]) {
    const { coordinator, directory, machineId, machineIds } = generatorOptions(options)
    const none = { directory: undefined, machineId: undefined, machineIds: undefined }
    assert.deepEqual({ coordinator, directory, machineId, machineIds }, { ...none, ...expected })
  }
})

test('epochs can be written in three ways', () => {
  const epochMs = (epoch) => generatorOptions(local({ layout: { epoch } })).layout.epochMs
  const expected = Date.UTC(2020, 1, 29)
  const texts = ['2020-02-29', '2020-02-29T01:00:00+01:00', '2020-02-29T00:00:00.000Z']
  for (const epoch of [expected, new Date(expected), ...texts]) {
    assert.equal(epochMs(epoch), expected)
  }
  assert.equal(epochMs(0), 0)
})

test('a key is copied, from text as its UTF-8 bytes', () => {
  const bytes = Buffer.from('ü'.repeat(16))
  const { key: copy } = generatorOptions(local({ key: bytes }))
  bytes.fill(0)
  assert.deepEqual(copy, generatorOptions(local({ key: 'ü'.repeat(16) })).key)
  assert.equal(copy.length, 32)
  assert.equal(generatorOptions(local({ key })).key.length, 32)
})

test('a machine ID by hand reads the environment or the host only when asked', () => {
  process.env.MINTID_TEST_POD = 'web-7'
  assert.deepEqual(resolveMachineId({ env: 'MINTID_TEST_POD' }), { env: { name: 'MINTID_TEST_POD', value: 'web-7' } })
  delete process.env.MINTID_TEST_POD
  assert.deepEqual(resolveMachineId({ env: 'MINTID_TEST_POD' }), { env: { name: 'MINTID_TEST_POD', value: undefined } })
  const { hosts } = resolveMachineId({ hosts: ['a', 'b'] })
  assert.deepEqual(hosts.list, ['a', 'b'])
  assert.ok(hosts.own.includes(require('node:os').hostname()))
  assert.ok(!hosts.own.includes('127.0.0.1'))
  assert.deepEqual(resolveMachineId({ number: 7 }), { number: 7 })
  assert.equal(resolveMachineId(undefined), undefined)
})

test('accepted spellings take what they leave out from the type', () => {
  const accepts = [{ prefix: 'user_' }, { prefix: '', mask: false, format: 'hex' }]
  const { spec } = typeOptions('usr_', { mask: true, accepts })
  const unmasked = { key: undefined, cipher: undefined, maskTweak: undefined, pad: true }
  assert.deepEqual(spec.accepts, [
    { ...unmasked, prefix: 'user_', mask: true, format: 'base58' },
    { ...unmasked, prefix: '', mask: false, format: 'hex' }
  ])
})

test('accepted spellings take the mask with its key, and the tweak with its cipher', () => {
  const accepts = [{ prefix: 'a_' }, { prefix: 'b_', mask: true }, { prefix: 'c_', cipher: 'speck' }]
  const { spec } = typeOptions('usr_', { mask: 'k1', cipher: 'aes', maskTweak: 'users', accepts })
  const maskTweak = new TextEncoder().encode('users')
  const spelled = { mask: true, format: 'base58', pad: true }
  assert.deepEqual(spec.accepts, [
    { ...spelled, prefix: 'a_', key: 'k1', cipher: 'aes', maskTweak },
    { ...spelled, prefix: 'b_', key: undefined, cipher: 'aes', maskTweak },
    { ...spelled, prefix: 'c_', key: 'k1', cipher: 'speck', maskTweak: undefined }
  ])
})

test('further keys are copied by their names, cipher keys by their bits', () => {
  const partner = Buffer.from(key)
  const explicit = Buffer.alloc(24, 7)
  const options = local({ keys: { partner }, cipherKeys: { 64: explicit }, ciphers: { 64: 'des3', 128: 'speck' } })
  const { keys, cipherKeys, ciphers } = generatorOptions(options)
  partner.fill(0)
  explicit.fill(0)
  assert.deepEqual(keys, [{ name: 'partner', key: new TextEncoder().encode(key) }])
  assert.deepEqual(cipherKeys, [{ bits: 64, key: new Uint8Array(24).fill(7) }])
  assert.deepEqual(ciphers, [
    { bits: 64, cipher: 'des3' },
    { bits: 128, cipher: 'speck' }
  ])
})

test('spellings whose texts cannot meet are taken', () => {
  for (const accepts of [[{ format: 'hex' }, { format: 'hex32' }], [{ prefix: 'usr' }], [{ format: 'raw' }]]) {
    assert.equal(typeOptions('usr_', { accepts }).spec.accepts.length, accepts.length)
  }
  const signs = typeOptions('', { format: 'signed', accepts: [{ format: 'unsigned' }, { format: 'decimal' }] })
  assert.equal(signs.spec.accepts.length, 2)
  assert.equal(typeOptions('', { bits: 96, accepts: [{ format: 'url64' }] }).spec.accepts.length, 1)
  const padding = typeOptions('usr_', { pad: false, accepts: [{ pad: true }, { prefix: 'u_' }] })
  assert.deepEqual(
    padding.spec.accepts.map(({ pad }) => pad),
    [true, false]
  )
})
