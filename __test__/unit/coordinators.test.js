'use strict'

// Connections that the user's own program lends: what is taken, and what is made of a driver's answers and errors.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { inspect } = require('node:util')

const { ConfigError, IdGenerator } = require('../../index.js')
const { redisCoordinator, sqlCoordinator } = require('../../js/coordinators.js')
const { callsTo } = require('../../js/calls/index.js')
const { generatorOptions } = require('../../js/options/generator.js')

const query = async () => []
const TOKEN = '0123456789abcdef0123456789abcdef'

/** [what makes it, the option that the error names, what the message says] */
const REFUSED = [
  [() => sqlCoordinator(), 'options', /expected an object/],
  [() => sqlCoordinator({ dialect: 'postgres' }), 'query', /expected a function, found undefined/],
  [() => sqlCoordinator({ dialect: 'postgres', query: {} }), 'query', /found an object/],
  [() => sqlCoordinator({ query }), 'dialect', /expected 'postgres', 'mysql' or 'mariadb', found undefined/],
  [() => sqlCoordinator({ dialect: 'postgre', query }), 'dialect', /did you mean 'postgres'/],
  [() => sqlCoordinator({ dialect: 'mysql', query }), 'schema', /the database's name, found undefined/],
  [() => sqlCoordinator({ dialect: 'postgres', query, schema: '' }), 'schema', /is empty/],
  [() => sqlCoordinator({ dialect: 'postgres', query, schema: 7 }), 'schema', /a schema's name, found 7/],
  [() => sqlCoordinator({ dialect: 'postgres', query, shema: 'a' }), 'shema', /did you mean 'schema'/],
  [() => redisCoordinator({}), 'eval', /expected a function, found undefined/],
  [() => redisCoordinator({ evals() {} }), 'evals', /did you mean 'eval'/]
]

test('what is wrong is refused by its name', () => {
  for (const [make, option, says] of REFUSED) {
    assert.throws(make, (error) => {
      assert.ok(error instanceof ConfigError, inspect(error))
      assert.equal(error.option, option)
      assert.match(error.message, says)
      return true
    })
  }
})

test('a lent connection is a server: with its options, but without TLS of its own', () => {
  const coordinator = sqlCoordinator({ dialect: 'postgres', query })
  const options = generatorOptions({ coordinator, incarnation: 'durable', lease: { onReset: 'grant' } })
  const { name, schema, functions, incarnation } = options
  assert.deepEqual(
    [options.coordinator, name, schema, incarnation],
    ['postgres', 'sqlCoordinator', 'public', 'durable']
  )
  assert.equal(functions.query, query)
  const mariadb = generatorOptions({ coordinator: sqlCoordinator({ dialect: 'mariadb', schema: 'app', query }) })
  assert.deepEqual([mariadb.coordinator, mariadb.dialect, mariadb.schema], ['mysql', 'mariadb', 'app'])
  const redis = generatorOptions({ coordinator: redisCoordinator({ eval: query }) })
  assert.deepEqual([redis.coordinator, redis.name], ['redis', 'redisCoordinator'])
  assert.throws(() => new IdGenerator({ coordinator, tls: {} }), { option: 'tls' })
})

/** What native code is answered. */
function called(coordinator, functions, request) {
  return new Promise((resolve) => {
    callsTo(coordinator, functions)({ call: 3, ...request }, (call, answer) => resolve([call, answer]))
  })
}

function queried(query, parameters = [TOKEN, null]) {
  return called('postgres', { query }, { operation: 'query', statement: 'select $1, $2', parameters })
}

function evaluated(run, parameters = ['1', TOKEN]) {
  return called(
    'redis',
    { eval: run },
    { operation: 'eval', script: 'return {}', key: 'mintid:{a}', arguments: parameters }
  )
}

test('a statement and its parameters go to the function as they are, and its rows come back as texts', async () => {
  const json =
    '{"n": 9007199254740991, "yes": true, "no": false, "none": null, "text": "a,b", "many": ["ab", "cd"], "few": []}'
  const rows = [{ n: '9007199254740991', yes: '1', no: '0', none: null, text: 'a,b', many: 'ab,cd', few: '' }]
  const answers = [
    [{ answer: json }],
    Object.assign([{ answer: json }], { count: 1 }),
    { rows: [{ answer: json }], rowCount: 1 },
    [[json]],
    { rows: [{ answer: JSON.parse(json) }] }
  ]
  for (const answer of answers) {
    const asked = []
    const said = await queried((...given) => {
      asked.push(given)
      return answer
    })
    assert.deepEqual(said, [3, { rows }])
    assert.deepEqual(asked, [['select $1, $2', [TOKEN, null]]])
  }
  assert.deepEqual(await queried(async () => []), [3, { rows: [] }])
})

test('rows of MySQL and MariaDB come as their drivers have them, and nothing of what was written', async () => {
  const row = {
    n: 7,
    big: '118000000000000000',
    huge: 9007199254740993n,
    yes: true,
    none: null,
    bytes: Buffer.from([0, 255])
  }
  const rows = [
    { n: '7', big: '118000000000000000', huge: '9007199254740993', yes: '1', none: null, bytes: '\u0000x00ff' }
  ]
  const columns = [{ name: 'n' }]
  for (const answer of [[[row], columns], [row], Object.assign([row], { meta: columns })]) {
    assert.deepEqual(await queried(() => answer, []), [3, { rows }])
  }
  const written = { affectedRows: 1, insertId: '117706412562448397', warningStatus: 0 }
  for (const answer of [[written, undefined], written, [[], columns]]) {
    assert.deepEqual(await queried(() => answer, []), [3, { rows: [] }])
  }
})

test("a MySQL's own words are found by their number", async () => {
  const error = Object.assign(new Error('(conn:7, no: 1142) denied\nsql: select'), {
    code: 'ER_TABLEACCESS_DENIED_ERROR',
    errno: 1142,
    sqlState: '42000',
    sqlMessage: "SELECT command denied to user 'app'"
  })
  for (const wrapped of [error, Object.assign(new Error('Failed query'), { cause: error })]) {
    const [, { trouble }] = await queried(() => Promise.reject(wrapped), [])
    assert.deepEqual([trouble.code, trouble.said], ['1142/42000', error.sqlMessage])
  }
  const network = Object.assign(new Error('connect ECONNREFUSED'), { errno: -111, code: 'ECONNREFUSED' })
  assert.equal((await queried(() => Promise.reject(network), []))[1].trouble.code, 'ECONNREFUSED')
})

test('a script, its keys and its arguments go to the function, and its reply comes back as texts', async () => {
  const asked = []
  const said = await evaluated(async (...given) => {
    asked.push(given)
    return ['granted', 7, 8n, null, Buffer.from('ü')]
  })
  assert.deepEqual(said, [3, { list: ['granted', '7', '8', null, 'ü'] }])
  assert.deepEqual(asked, [['return {}', ['mintid:{a}'], ['1', TOKEN]]])
  assert.deepEqual(await evaluated(async () => null), [3, {}])
})

test('what is no answer says what was expected', async () => {
  const cases = [
    [queried(() => undefined), /^answered undefined; expected rows: an array of objects, or an object with an array/],
    [queried(() => 1), /^answered 1; expected rows/],
    [queried(() => ({ rowCount: 1 })), /^answered an object; expected rows/],
    [queried(() => [null]), /^answered a row with undefined; expected columns as the statement names them/],
    [queried(() => ['a']), /^answered a row with undefined/],
    [
      queried(() => [{ at: new Date(0) }]),
      /^answered a reply with 1970-01-01T00:00:00.000Z; expected a text, a number/
    ],
    [queried(() => [{ answer: '{' }]), /^answered a row with "\{"; expected/],
    [evaluated(() => undefined), /^answered undefined; expected the script's reply: an array, or null/],
    [evaluated(() => 'OK'), /^answered "OK"; expected/],
    [evaluated(() => [{}]), /^answered a reply with an object; expected a text, a number or null/]
  ]
  for (const [said, says] of cases) {
    const [, { trouble }] = await said
    assert.match(trouble.what, says)
    assert.equal(trouble.isFinal, false)
  }
})

test("a database's own words are found behind what drivers and object mappers wrap them in", async () => {
  const server = Object.assign(new Error('permission denied for schema public'), { code: '42501', severity: 'ERROR' })
  const wrapped = [
    server,
    Object.assign(new Error(`Failed query: select\nparams: ${TOKEN}`), { cause: server }),
    Object.assign(new Error('QueryFailedError'), { driverError: server }),
    Object.assign(new Error('raw query failed'), { code: 'P2010', meta: { code: '42501', message: server.message } }),
    Object.assign(new Error('raw query failed'), {
      code: 'P2010',
      meta: {
        driverAdapterError: {
          name: 'DriverAdapterError',
          cause: { originalCode: '42501', originalMessage: server.message, kind: 'postgres' }
        }
      }
    })
  ]
  for (const error of wrapped) {
    const [, { trouble }] = await queried(() => Promise.reject(error))
    assert.deepEqual([trouble.code, trouble.said], ['42501', server.message])
    assert.doesNotMatch(inspect(trouble), new RegExp(TOKEN))
  }
})

test("what is no database's word keeps its own code", async () => {
  for (const code of ['EPIPE', 'ECONNREFUSED', 'P1001', 'CONNECT_TIMEOUT']) {
    const error = Object.assign(new Error('no way'), { code })
    const [, { trouble }] = await queried(() => Promise.reject(error))
    assert.deepEqual([trouble.what, trouble.code, trouble.said], ['threw Error: no way', code, undefined])
  }
  const circle = new Error('round')
  circle.cause = circle
  assert.equal((await queried(() => Promise.reject(circle)))[1].trouble.what, 'threw Error: round')
})

test('what Redis says is told as it stands, and hides a token', async () => {
  const [, { trouble }] = await evaluated(() => Promise.reject(new Error(`NOPERM ${TOKEN} no`)))
  assert.deepEqual([trouble.said, trouble.what], ['NOPERM … no', 'threw Error: NOPERM … no'])
})
