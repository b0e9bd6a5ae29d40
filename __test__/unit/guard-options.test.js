'use strict'

const assert = require('node:assert/strict')
const { test } = require('node:test')

const { ConfigError } = require('../../index.js')
const { generatorOptions } = require('../../js/options/generator.js')

const URL = 'postgres://app:s3cret@db.internal/app'
const guarded = (options) => ({ machineId: 7, guard: URL, ...options })

function refusal(options) {
  try {
    generatorOptions(options)
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error))
    assert.doesNotMatch(error.message, /s3cret/)
    return error
  }
  return assert.fail('expected an error')
}

/** [what is given, the option that the error names, what it says] */
const REFUSED = [
  [{ guard: URL }, 'guard', /^guard: expected machineId beside it/],
  [{ coordinator: URL, guard: URL }, 'guard', /expected machineId beside it/],
  [guarded({ coordinator: URL }), 'machineId', /name the coordinator in guard$/],
  [guarded({ machineIds: { from: 0, to: 9 } }), 'machineIds', /names the one ID itself/],
  [guarded({ guard: undefined }), 'guard', /^guard is undefined; is the environment variable set\?$/],
  [guarded({ guard: '' }), 'guard', /^guard is empty/],
  [guarded({ guard: 'local' }), 'guard', /expected a server .*, found 'local'$/],
  [guarded({ guard: 'none' }), 'guard', /found 'none'$/],
  [guarded({ guard: 'file:///var/lib/mintid' }), 'guard', /found a directory$/],
  [guarded({ guard: 'https://user:s3cret@host' }), 'guard', /^guard: expected a server .* with the scheme https:$/],
  [guarded({ guard: 7 }), 'guard', /^guard: expected a server .*, found 7$/],
  [guarded({ guard: { type: 'postgres', password: undefined } }), 'guard.password', /^guard\.password is undefined/],
  [guarded({ guard: { type: 'postgres', ssl: {} } }), 'guard.ssl', /^guard\.ssl: expected a text/],
  [guarded({ machineId: 511 }), 'machineId', /an integer from 0 to 510/],
  [guarded({ machineId: { hosts: Array.from({ length: 512 }, (_, n) => `h${n}`) } }), 'machineId.hosts', /1 to 511/],
  [guarded({ lease: { firstTtlMs: 60_000 } }), 'lease.firstTtlMs', /none beside guard, whose leases last 60000 ms$/],
  [guarded({ lease: { ttlMs: 4000, firstTtlMs: 4000 } }), 'lease.firstTtlMs', /last 4000 ms$/],
  [
    guarded({ lease: { renewEveryMs: 60_000 } }),
    'lease.renewEveryMs',
    /to 59999 \(ms; less than a guarded lease lasts\)/
  ],
  [guarded({ lease: { requestTimeoutMs: 60_000 } }), 'lease.requestTimeoutMs', /less than a guarded lease lasts/],
  [{ machineId: 7, tls: {} }, 'tls', /beside machineId$/]
]

test('what makes no sense beside a guard is refused by its name', () => {
  for (const [options, option, message] of REFUSED) {
    const error = refusal(options)
    assert.equal(error.option, option)
    assert.match(error.message, message)
  }
})

test('a guard is a server beside a machine ID', () => {
  const sources = [
    [guarded(), { coordinator: 'postgres', url: URL, machineId: { number: 7 } }],
    [
      guarded({ guard: 'rediss://cache.internal' }),
      { coordinator: 'redis', url: 'rediss://cache.internal', machineId: { number: 7 } }
    ],
    [guarded({ machineId: 510 }), { coordinator: 'postgres', url: URL, machineId: { number: 510 } }],
    [
      guarded({ machineId: { env: 'POD_NAME' } }),
      { coordinator: 'postgres', url: URL, machineId: { env: 'POD_NAME' } }
    ],
    [
      guarded({ guard: { type: 'postgres', database: 'app' } }),
      { coordinator: 'postgres', parameters: [['dbname', 'app']], machineId: { number: 7 } }
    ]
  ]
  for (const [options, expected] of sources) {
    const { coordinator, url, parameters, machineId, machineIds } = generatorOptions(options)
    const found = { coordinator, url, parameters, machineId, machineIds }
    assert.deepEqual(found, { url: undefined, parameters: undefined, machineIds: undefined, ...expected })
  }
})

test('what goes with a server goes with a guard', () => {
  const tls = { servername: 'db' }
  const { incarnation, lease, ...rest } = generatorOptions(
    guarded({ tls, incarnation: 'durable', lease: { onReset: 'grant' } })
  )
  assert.deepEqual([incarnation, lease.onReset, rest.tls.servername], ['durable', 'grant', 'db'])
})

test('a guarded lease is a minute long, while the namespace agrees on another ttl', () => {
  const timings = (lease) => {
    const { lease: found, acquireTimeoutMs } = generatorOptions(guarded(lease && { lease }))
    return { ...found, acquireTimeoutMs }
  }
  const common = { acquireTimeoutMs: 90_000, onReset: 'wait' }
  const minute = { firstTtlMs: 60_000, renewEveryMs: 12_000, requestTimeoutMs: 5000, ...common }
  assert.deepEqual(timings(), { ttlMs: 300_000, ...minute })
  assert.deepEqual(timings({ ttlMs: 86_400_000 }), { ttlMs: 86_400_000, ...minute })
  assert.deepEqual(timings({ renewEveryMs: 20_000, acquireTimeoutMs: Infinity }), {
    ttlMs: 300_000,
    ...minute,
    renewEveryMs: 20_000,
    acquireTimeoutMs: Infinity
  })
  const short = { ttlMs: 3001, firstTtlMs: 3001, renewEveryMs: 600, requestTimeoutMs: 1000 }
  assert.deepEqual(timings({ ttlMs: 3001 }), { ...short, ...common })
})
