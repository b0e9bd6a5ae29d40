'use strict'

// MySQL and MariaDB as coordinators: what goes to native code, and what is refused before.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { inspect } = require('node:util')

const { ConfigError, IdGenerator } = require('../../index.js')
const { generatorOptions } = require('../../js/options/generator.js')
const { fakeBackend } = require('./fake-backend.js')

const URLS = [
  'mysql://app@db.internal/app',
  'mysql://app:s3cret@db.internal:3307/app?ssl-mode=VERIFY_IDENTITY',
  'MYSQL://app@db/app',
  'mariadb://app@a,b:3307/app',
  'mysql2://app@localhost/app?socket=/run/mysqld/mysqld.sock'
]

/** [the coordinator, the option that the error names, what the message says] */
const REFUSED = [
  ['mysql:app:s3cret@db/app', 'coordinator', /two slashes/],
  ['mariadb:app:s3cret@db/app', 'coordinator', /two slashes/],
  ['mysqlx://app:s3cret@db/app', 'coordinator', /scheme mysqlx:$/],
  ['mysql+pymysql://app:s3cret@db/app', 'coordinator', /scheme mysql\+pymysql:$/],
  ['jdbc:mysql://db/app?password=s3cret', 'coordinator', /leave jdbc: out$/],
  ['app:s3cret@tcp(db:3306)/app', 'coordinator', /found another text$/],
  [{ type: 'mysq' }, 'coordinator.type', /did you mean 'mysql'/],
  [{ type: 'mysql', host: undefined }, 'coordinator.host', /is undefined; is the environment variable set/],
  [{ type: 'mariadb', password: '' }, 'coordinator.password', /is empty/],
  [{ type: 'mysql', password: ['s3cret'] }, 'coordinator.password', /found an array/],
  [{ type: 'mysql', password: 53n }, 'coordinator.password', /found a bigint$/],
  [{ type: 'mysql', ssl: { ca: 's3cret' } }, 'coordinator.ssl', /into the option tls/]
]

test('each spelling of a URL goes to native code as it stands', () => {
  for (const url of URLS) {
    const { coordinator, url: passed, parameters } = generatorOptions({ coordinator: url })
    assert.deepEqual({ coordinator, passed, parameters }, { coordinator: 'mysql', passed: url, parameters: undefined })
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
  for (const type of ['mysql', 'mariadb']) {
    const given = { host: 'db', port: 3307, user: 'app', password: 'p@ss/w:rd#%', database: 'app', ssl: true }
    const { coordinator, parameters } = generatorOptions({ coordinator: { type, ...given, 'ssl-mode': 'REQUIRED' } })
    assert.equal(coordinator, 'mysql')
    assert.deepEqual(parameters, [
      ['host', 'db'],
      ['port', '3307'],
      ['user', 'app'],
      ['password', 'p@ss/w:rd#%'],
      ['database', 'app'],
      ['ssl', 'true'],
      ['ssl-mode', 'REQUIRED']
    ])
  }
})

test('the options of servers go with it', () => {
  const { incarnation, lease, tls } = generatorOptions({
    coordinator: 'mariadb://app@db/app',
    incarnation: 'durable',
    lease: { onReset: 'grant' },
    tls: { rejectUnauthorized: false }
  })
  assert.deepEqual([incarnation, lease.onReset, tls.rejectUnauthorized], ['durable', 'grant', false])
})

test('nothing that prints a generator shows how it gets into its coordinator', () => {
  const object = { type: 'mysql', host: 'db.internal', user: 'alice', password: 's3cret', database: 'app' }
  for (const coordinator of ['mysql://alice:s3cret@db.internal/app', object]) {
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
