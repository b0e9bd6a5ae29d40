'use strict'

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { inspect } = require('node:util')

const { IdGenerator } = require('../../index.js')
const { fakeBackend } = require('./fake-backend.js')

const key = 'correct horse battery staple, and more of it'
const bytes = Buffer.from(key)

/** The beginning of the key in every form in which it could be printed, without blanks. */
const beginning = bytes.subarray(0, 12)
const TRACES = [
  beginning.toString(),
  beginning.toString('hex'),
  beginning.toString('base64'),
  [...beginning].join()
].map(withoutBlanks)

function assertKeepsTheKey(text) {
  for (const trace of TRACES) assert.ok(!withoutBlanks(text).includes(trace), text)
}

function withoutBlanks(text) {
  return text.replace(/\s+/g, '')
}

for (const [form, given] of [
  ['text', key],
  ['bytes', bytes]
]) {
  test(`nothing that prints a generator or its types shows a key given as ${form}`, () => {
    const fake = fakeBackend()
    const ids = new IdGenerator({ coordinator: 'local', key: given }, fake.backend)
    const userId = ids.type('usr_', { mask: true })
    userId.toDb('usr_00000000005')
    for (const value of [ids, userId, { nested: [ids, userId] }]) {
      assertKeepsTheKey(JSON.stringify(value))
      assertKeepsTheKey(inspect(value))
      assertKeepsTheKey(inspect(value, { showHidden: true, depth: Infinity, getters: true }))
      assertKeepsTheKey(inspect(value, { showHidden: true, depth: Infinity, customInspect: false }))
    }
    assert.equal(inspect(ids), "IdGenerator { namespace: 'default', lease: null, closed: false }")
  })
}

test('no error about other options shows the key', () => {
  for (const wrong of [{ coordinator: 'x' }, { coordinator: 'local', maks: 1 }, { machineId: -1 }]) {
    assert.throws(
      () => new IdGenerator({ ...wrong, key }),
      (error) => {
        assertKeepsTheKey(inspect(error, { showHidden: true, depth: Infinity }))
        return true
      }
    )
  }
})

test('nothing that prints a generator shows how it gets into its coordinator', () => {
  const pem = (name, text) => `-----BEGIN ${name}-----\n${text}\n-----END ${name}-----\n`
  const tls = { cert: pem('CERTIFICATE', 'MIIBcert'), key: pem('PRIVATE KEY', 'MIIBkey') }
  const url = 'postgres://alice:s3cret@db.internal/app'
  const object = { type: 'postgres', host: 'db.internal', user: 'alice', password: 's3cret' }
  for (const coordinator of [url, object]) {
    const fake = fakeBackend()
    const ids = new IdGenerator({ coordinator, tls }, fake.backend)
    ids.ready().catch(() => {})
    ids.close()
    assert.match(inspect(fake.handles[0].options, { depth: 9 }), /s3cret.*MIIBkey/s)
    for (const value of [ids, ids.stats(), ids.health(), ids.type('usr_')]) {
      const shown = [JSON.stringify(value), inspect(value), inspect(value, { showHidden: true, depth: Infinity })]
      for (const text of shown) assert.doesNotMatch(text, /s3cret|alice|db\.internal|MIIB/)
    }
  }
})
