'use strict'

const assert = require('node:assert/strict')
const Module = require('node:module')
const { beforeEach, test } = require('node:test')

const path = require.resolve('../../js/native.js')
let loadBinding

/** `native.js` anew, with something else in the place of `binding.js`. */
beforeEach((t) => {
  delete require.cache[path]
  const load = Module._load
  t.mock.method(Module, '_load', function (request, ...rest) {
    return request === '../binding.js' ? loadBinding() : load.call(this, request, ...rest)
  })
})

test('the binary is loaded at the first call, once', () => {
  let loads = 0
  const calls = []
  const member =
    (name) =>
    (...args) => {
      calls.push([name, ...args])
      return name
    }
  loadBinding = () => {
    loads++
    return { open: member('open'), bind: member('bind'), takeFailure: member('takeFailure') }
  }
  const { backend } = require(path)
  assert.equal(loads, 0)
  assert.deepEqual(
    [backend.open(1, 2, 3), backend.bind(3, null), backend.takeFailure()],
    ['open', 'bind', 'takeFailure']
  )
  assert.deepEqual(calls, [['open', 1, 2, 3], ['bind', 3, null], ['takeFailure']])
  assert.equal(loads, 1)
})

test('a binary that does not load says for which platform, why, and what to do', () => {
  const cause = new Error('GLIBC_2.99 not found')
  loadBinding = () => {
    throw cause
  }
  const { backend } = require(path)
  assert.throws(
    () => backend.takeFailure(),
    (error) => {
      assert.equal(error.code, 'ERR_MINTID_ADDON')
      assert.equal(error.cause, cause)
      assert.match(error.message, new RegExp(`${process.platform}-${process.arch}`))
      assert.match(error.message, /npm install --include=optional/)
      return true
    }
  )
})
