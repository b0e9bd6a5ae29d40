'use strict'

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { mintid } = require('./cli.js')

test('key prints 32 random bytes in 43 characters, another time others', () => {
  const keys = [1, 2]
    .map(() => mintid(['key']))
    .map(({ status, stdout, stderr }) => {
      assert.deepEqual([status, stderr], [0, ''])
      assert.match(stdout, /^[\w-]{43}\n$/)
      assert.equal(Buffer.from(stdout.trim(), 'base64url').length, 32)
      return stdout
    })
  assert.notEqual(keys[0], keys[1])
})

test('key --json', () => {
  assert.match(JSON.parse(mintid(['key', '--json']).stdout).key, /^[\w-]{43}$/)
})
