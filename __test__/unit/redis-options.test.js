'use strict'

// Redis and Valkey as coordinators: what goes to native code, and what is refused before.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { inspect } = require('node:util')

const { ConfigError, IdGenerator } = require('../../index.js')
const { generatorOptions } = require('../../js/options/generator.js')
const { fakeBackend } = require('./fake-backend.js')

const object = (parameters) => ({ coordinator: { type: 'redis', ...parameters } })
const parametersOf = (given) => generatorOptions(object(given)).parameters

const URLS = [
  'redis://',
  'redis://cache.internal:6380/2',
  'rediss://app:s3cret@cache.internal?ssl_cert_reqs=none',
  'REDIS://cache',
  'valkey://cache',
  'valkeys://cache',
  'redis+sentinel://a,b:26380/mymaster',
  'rediss+sentinel://a/mymaster',
  'redis-sentinel://a#mymaster',
  'valkeys+sentinel://a/mymaster',
  'redis+cluster://a,b',
  'rediss-cluster://a',
  'valkey+cluster://a',
  'redis+unix:///run/redis.sock?db=1',
  'redis-socket:///run/redis.sock',
  'valkey+unix:///run/valkey.sock',
  'unix:///run/redis.sock'
]

/** [the coordinator, the option that the error names, what the message says] */
const REFUSED = [
  ['redis:app:s3cret@cache', 'coordinator', /two slashes/],
  ['valkeys:cache', 'coordinator', /two slashes/],
  ['redis+what://app:s3cret@cache', 'coordinator', /scheme redis\+what:$/],
  ['rediss+unix:///run/s3cret.sock', 'coordinator', /scheme rediss\+unix:$/],
  ['unix+sentinel://s3cret/mymaster', 'coordinator', /scheme unix\+sentinel:$/],
  ['cache.internal:6379,password=s3cret', 'coordinator', /found another text/],
  [{ type: 'redi' }, 'coordinator.type', /did you mean 'redis'/],
  [{ type: 'keydb' }, 'coordinator.type', /expected 'postgres', 'mysql', 'mariadb', 'redis' or 'valkey'/],
  [{ type: 'redis', host: undefined }, 'coordinator.host', /is undefined; is the environment variable set/],
  [{ type: 'valkey', password: '' }, 'coordinator.password', /is empty/],
  [{ type: 'redis', password: ['s3cret'] }, 'coordinator.password', /found an array/],
  [{ type: 'redis', password: 53n }, 'coordinator.password', /found a bigint$/],
  [{ type: 'redis', tls: { ca: 's3cret' } }, 'coordinator.tls', /into the option tls/],
  [{ type: 'redis', socket: { host: 'cache' } }, 'coordinator.socket', /found an object/],
  [{ type: 'redis', nodes: [] }, 'coordinator.nodes', /empty array/],
  [{ type: 'redis', nodes: {} }, 'coordinator.nodes', /found an object/],
  [{ type: 'redis', nodes: ['a', undefined] }, 'coordinator.nodes[1]', /like 'db-1:6379', found undefined/],
  [{ type: 'redis', nodes: ['a', ' '] }, 'coordinator.nodes[1]', /found ''$/],
  [{ type: 'redis', nodes: [6379] }, 'coordinator.nodes[0]', /found a number$/],
  [{ type: 'redis', nodes: [['a', 6379]] }, 'coordinator.nodes[0]', /found an array/],
  [{ type: 'redis', rootNodes: [{ url: 'redis://:s3cret@a' }] }, 'coordinator.rootNodes[0].host', /found undefined/],
  [{ type: 'redis', sentinels: [{ host: '' }] }, 'coordinator.sentinels[0].host', /found ''$/],
  [{ type: 'redis', sentinels: [{ host: 'a', port: null }] }, 'coordinator.sentinels[0].port', /found null/]
]

test('each spelling of a URL goes to native code as it stands', () => {
  for (const url of URLS) {
    const { coordinator, url: passed, parameters } = generatorOptions({ coordinator: url })
    assert.deepEqual({ coordinator, passed, parameters }, { coordinator: 'redis', passed: url, parameters: undefined })
  }
})

test('what is wrong is refused by its name, and without secrets', () => {
  for (const [coordinator, option, says] of REFUSED) {
    assert.throws(
      () => new IdGenerator({ coordinator }),
      (error) => {
        assert.ok(error instanceof ConfigError, inspect(error))
        assert.equal(error.option, option)
        assert.match(error.message, says)
        assert.doesNotMatch(inspect(error, { showHidden: true, depth: Infinity }), /s3cret/)
        return true
      }
    )
  }
})

test('an object becomes texts under their own names; unknown ones are left to native code', () => {
  const given = { host: 'cache', port: 6380, username: 'app', password: 'p@ss/w:rd#%', db: 2, replicas: 1, tls: true }
  assert.deepEqual(parametersOf({ ...given, lazyConnect: false, whatever: 1.5 }), [
    ['host', 'cache'],
    ['port', '6380'],
    ['username', 'app'],
    ['password', 'p@ss/w:rd#%'],
    ['db', '2'],
    ['replicas', '1'],
    ['tls', 'true'],
    ['lazyConnect', 'false'],
    ['whatever', '1.5']
  ])
  const valkey = generatorOptions({ coordinator: { type: 'valkey', path: '/run/valkey.sock' } })
  assert.deepEqual([valkey.coordinator, valkey.parameters], ['redis', [['path', '/run/valkey.sock']]])
})

test('lists of servers may be texts, objects or both', () => {
  for (const name of ['nodes', 'rootNodes', 'sentinels', 'sentinelRootNodes']) {
    for (const [servers, expected] of [
      ['a:7000,b', 'a:7000,b'],
      [['a:7000', 'b'], 'a:7000,b'],
      [[{ host: 'a', port: 7000 }, { host: 'b' }], 'a:7000,b'],
      [[{ host: '::1', port: '7000' }, '[::1]:7001', { host: '[::1]' }], '[::1]:7000,[::1]:7001,[::1]']
    ]) {
      assert.deepEqual(parametersOf({ [name]: servers }), [[name, expected]])
    }
  }
})

test('the options of servers go with it', () => {
  const { incarnation, lease, tls } = generatorOptions({
    coordinator: 'valkey://cache',
    incarnation: 'durable',
    lease: { onReset: 'grant' },
    tls: { rejectUnauthorized: false }
  })
  assert.deepEqual([incarnation, lease.onReset, tls.rejectUnauthorized], ['durable', 'grant', false])
})

test('nothing that prints a generator shows how it gets into its coordinator', () => {
  const sentinels = [{ host: 'watch.internal' }]
  for (const coordinator of [
    'rediss://alice:s3cret@cache.internal/1',
    { type: 'redis', host: 'cache.internal', username: 'alice', password: 's3cret' },
    { type: 'valkey', sentinels, name: 'mymaster', username: 'alice', sentinelPassword: 's3cret' }
  ]) {
    const fake = fakeBackend()
    const ids = new IdGenerator({ coordinator }, fake.backend)
    ids.ready().catch(() => {})
    ids.close()
    assert.match(inspect(fake.handles[0].options, { depth: 9 }), /s3cret/)
    for (const value of [ids, ids.stats(), ids.health(), ids.type('usr_')]) {
      const shown = [JSON.stringify(value), inspect(value), inspect(value, { showHidden: true, depth: Infinity })]
      for (const text of shown) assert.doesNotMatch(text, /s3cret|alice|internal/)
    }
  }
})
