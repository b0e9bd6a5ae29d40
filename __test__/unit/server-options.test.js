'use strict'

// The options of coordinators that are servers.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { inspect } = require('node:util')

const { ConfigError, IdGenerator } = require('../../index.js')
const { generatorOptions } = require('../../js/options/generator.js')
const { shown } = require('../../js/options/check.js')

const URL = 'postgres://app:s3cret@db.internal/app?sslmode=require'
const CERTIFICATE = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n'
const KEY = '-----BEGIN PRIVATE KEY-----\ns3cret\n-----END PRIVATE KEY-----\n'

const server = (options) => ({ coordinator: URL, ...options })
const object = (parameters) => ({ coordinator: { type: 'postgres', ...parameters } })
const tls = (options) => server({ tls: options })

const FUNCTIONS = { acquire() {}, renew() {}, release() {} }

/** [what is given, the option that the error names, what the message says] */
const REFUSED = [
  [{ coordinator: 'prisma://accelerate.prisma-data.net/?api_key=s3cret' }, 'coordinator', /process\.env\.DIRECT_URL/],
  [{ coordinator: 'prisma+postgres://localhost:51213/?api_key=s3cret' }, 'coordinator', /process\.env\.DIRECT_URL/],
  [{ coordinator: 'file:./dev.db' }, 'coordinator', /Prisma .* is no coordinator; write 'local'/],
  [{ coordinator: 'FILE:dev.db' }, 'coordinator', /Prisma/],
  [{ coordinator: 'postgres:app:s3cret@db' }, 'coordinator', /two slashes/],
  [{ coordinator: 'jdbc:postgresql://db/app?password=s3cret' }, 'coordinator', /leave jdbc: out/],
  [{ coordinator: 'host=db password=s3cret' }, 'coordinator', /write a URL or an object/],
  [{ coordinator: 'postgresql+psycopg://app:s3cret@db/app' }, 'coordinator', /scheme postgresql\+psycopg:$/],
  [{ coordinator: {} }, 'coordinator', /type: 'postgres'/],
  [{ coordinator: { acquire() {}, renew() {} } }, 'coordinator.release', /expected a function, found undefined/],
  [{ coordinator: { renew: 's3cret' } }, 'coordinator.acquire', /expected a function, found undefined/],
  [{ coordinator: { ...FUNCTIONS, renew: {} } }, 'coordinator.renew', /expected a function, found an object/],
  [{ coordinator: { ...FUNCTIONS, name: 7 } }, 'coordinator.name', /1 to 64 printable/],
  [{ coordinator: { ...FUNCTIONS, name: 'a\nb' } }, 'coordinator.name', /1 to 64 printable/],
  [
    { coordinator: { type: undefined } },
    'coordinator.type',
    /expected 'postgres', 'mysql', 'mariadb', 'redis' or 'valkey', found undefined/
  ],
  [{ coordinator: { type: 'postgre' } }, 'coordinator.type', /did you mean 'postgres'/],
  [object({ host: undefined }), 'coordinator.host', /is undefined; is the environment variable set/],
  [object({ password: '' }), 'coordinator.password', /is empty/],
  [object({ password: () => 's3cret' }), 'coordinator.password', /found a function/],
  [object({ password: null }), 'coordinator.password', /found null/],
  [object({ password: 53n }), 'coordinator.password', /found a bigint$/],
  [object({ port: NaN }), 'coordinator.port', /found NaN/],
  [object({ host: ['a', 'b'] }), 'coordinator.host', /found an array/],
  [object({ ssl: { ca: CERTIFICATE } }), 'coordinator.ssl', /into the option tls/],
  [object({ database: 'a', dbname: 'a' }), 'coordinator.dbname', /found both/],
  [object({ 'a\nb': null }), 'coordinator."a\\nb"', /found null/],
  [tls(undefined), 'tls', /is undefined/],
  [tls(true), 'tls', /expected an object/],
  [tls({ serverName: 'db' }), 'tls.serverName', /did you mean 'servername'/],
  [tls({ ca: undefined }), 'tls.ca', /is undefined/],
  [tls({ ca: '' }), 'tls.ca', /is empty/],
  [tls({ ca: [] }), 'tls.ca', /empty array/],
  [tls({ ca: true }), 'tls.ca', /type boolean/],
  [tls({ ca: '/etc/ssl/ca.pem' }), 'tls.ca', /read the file first/],
  [tls({ ca: KEY }), 'tls.ca', /found something else in PEM/],
  [tls({ ca: CERTIFICATE.replaceAll('\n', '\\n') }), 'tls.ca', /without line breaks/],
  [tls({ ca: [CERTIFICATE, Buffer.from([48, 130])] }), 'tls.ca[1]', /a certificate in PEM/],
  [tls({ cert: CERTIFICATE }), 'tls.cert', /expected tls\.key beside it/],
  [tls({ key: KEY }), 'tls.key', /expected tls\.cert beside it/],
  [tls({ cert: KEY, key: KEY }), 'tls.cert', /a certificate/],
  [tls({ cert: CERTIFICATE, key: KEY.replaceAll('PRIVATE', 'ENCRYPTED PRIVATE') }), 'tls.key', /unencrypted/],
  [tls({ cert: CERTIFICATE, key: 's3cret' }), 'tls.key', /an unencrypted private key/],
  [tls({ servername: 7 }), 'tls.servername', /a host name/],
  [tls({ rejectUnauthorized: 'false' }), 'tls.rejectUnauthorized', /true or false/],
  [server({ incarnation: undefined }), 'incarnation', /is undefined/],
  [server({ incarnation: 'durabel' }), 'incarnation', /did you mean 'durable'/],
  [server({ incarnation: null }), 'incarnation', /found null/],
  [server({ lease: { onReset: undefined } }), 'lease.onReset', /is undefined/],
  [server({ lease: { onReset: 'ignore' } }), 'lease.onReset', /expected 'wait' or 'grant'/]
]

/** What takes none of these options. */
const NO_SERVERS = [
  [{ coordinator: 'local' }, /beside coordinator 'local'$/],
  [{ coordinator: 'none' }, /beside coordinator 'none'$/],
  [{ coordinator: 'file:///var/lib/mintid' }, /beside a directory$/],
  [{ machineId: 7 }, /beside machineId$/],
  [{ coordinator: FUNCTIONS }, /beside a custom coordinator$/]
]

test('what is wrong is refused by its name, with what to do, and without secrets', () => {
  for (const [options, option, says] of REFUSED) {
    assert.throws(
      () => new IdGenerator(options),
      (error) => {
        assert.ok(error instanceof ConfigError, inspect(error))
        assert.equal(error.option, option, shown(option))
        assert.ok(error.message.startsWith(option), error.message)
        assert.match(error.message, says)
        assert.doesNotMatch(inspect(error, { showHidden: true, depth: Infinity }), /s3cret|MIIB/)
        return true
      }
    )
  }
})

test('options of servers are refused beside what is none', () => {
  const ofServers = { tls: {}, incarnation: 'volatile', lease: { onReset: 'wait' } }
  for (const [source, says] of NO_SERVERS) {
    for (const [name, value] of Object.entries(ofServers)) {
      const option = name === 'lease' ? 'lease.onReset' : name
      assert.throws(() => new IdGenerator({ ...source, [name]: value }), { option, message: says })
    }
  }
})

test('a URL goes to native code as it stands, in any case of its scheme', () => {
  for (const url of [URL, 'POSTGRES://db', 'PostgreSQL:///app?host=/run/postgresql', 'postgres://a%2Fb:c@d,e:5/f']) {
    const { coordinator, url: passed, parameters } = generatorOptions({ coordinator: url })
    assert.deepEqual(
      { coordinator, passed, parameters },
      { coordinator: 'postgres', passed: url, parameters: undefined }
    )
  }
})

test('an object becomes texts under the names of URLs; unknown ones are left to native code', () => {
  const { coordinator, url, parameters } = generatorOptions(
    object({
      host: 'db',
      port: 5433,
      user: 'app',
      password: 'p@ss/w:rd#%',
      database: 'app',
      schema: 'ids',
      sslmode: 'verify-full',
      pgbouncer: true,
      whatever: 1.5
    })
  )
  assert.deepEqual({ coordinator, url }, { coordinator: 'postgres', url: undefined })
  assert.deepEqual(parameters, [
    ['host', 'db'],
    ['port', '5433'],
    ['user', 'app'],
    ['password', 'p@ss/w:rd#%'],
    ['dbname', 'app'],
    ['schema', 'ids'],
    ['sslmode', 'verify-full'],
    ['pgbouncer', 'true'],
    ['whatever', '1.5']
  ])
  assert.deepEqual(generatorOptions(object({})).parameters, [])
  assert.deepEqual(generatorOptions(object({ dbname: 'app' })).parameters, [['dbname', 'app']])
})

test('certificates and keys become texts', () => {
  const of = (options) => generatorOptions(tls(options)).tls
  const none = { ca: undefined, cert: undefined, key: undefined, servername: undefined, rejectUnauthorized: undefined }
  assert.deepEqual(of({}), none)
  assert.deepEqual(of({ ca: CERTIFICATE, servername: 'db' }), { ...none, ca: [CERTIFICATE], servername: 'db' })
  assert.deepEqual(of({ ca: Buffer.from(CERTIFICATE) }).ca, [CERTIFICATE])
  assert.deepEqual(of({ ca: [CERTIFICATE, Buffer.from(CERTIFICATE)] }).ca, [CERTIFICATE, CERTIFICATE])
  for (const name of ['PRIVATE', 'RSA PRIVATE', 'EC PRIVATE']) {
    const key = KEY.replaceAll('PRIVATE', name)
    const given = { cert: Buffer.from(CERTIFICATE), key: Buffer.from(key), rejectUnauthorized: false }
    assert.deepEqual(of(given), { ...none, cert: CERTIFICATE, key, rejectUnauthorized: false })
  }
  assert.equal('tls' in generatorOptions(server()), false)
})

test('what a registry may forget', () => {
  const of = (options) => {
    const { incarnation, lease } = generatorOptions(server(options))
    return [incarnation, lease.onReset]
  }
  assert.deepEqual(of({}), ['volatile', 'wait'])
  assert.deepEqual(of({ incarnation: 'durable', lease: { onReset: 'grant' } }), ['durable', 'grant'])
  assert.deepEqual(of({ incarnation: 'volatile', lease: { onReset: 'wait' } }), ['volatile', 'wait'])
})
