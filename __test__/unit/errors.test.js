'use strict'

const assert = require('node:assert/strict')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { test } = require('node:test')
const { inspect } = require('node:util')

const path = require.resolve('../../js/errors.js')
const { fromFailure, ...errors } = require(path)
const { MintidError, ConfigError, InvalidIdError, LeaseLostError, NotReadyError } = errors
const classes = Object.values(errors).filter((Class) => Class !== MintidError)

/** Every code, also of classes that have several. */
const codes = () => classes.flatMap((Class) => Class.codes ?? [Class.code]).sort()
const read = (...names) => readFileSync(join(__dirname, '..', '..', ...names), 'utf8')

test('every class has its own code and name, static and on the instance', () => {
  assert.equal(new Set(codes()).size, codes().length)
  assert.equal(new Set(classes.map((Class) => Class.code)).size, classes.length)
  for (const [name, Class] of Object.entries(errors)) {
    const error = new Class('a message')
    assert.equal(error.code, Class.code)
    assert.equal(error.name, name)
    assert.equal(String(error), `${name}: a message`)
    assert.ok(error instanceof Class && error instanceof MintidError && error instanceof Error)
  }
})

test('classes, typings and native code have the same codes', () => {
  const declared = new Map(
    [...read('index.d.ts').matchAll(/^export class (\w+Error) .*?^}/gms)].map(([text, name]) => [name, text])
  )
  assert.deepEqual([...declared.keys()].sort(), Object.keys(errors).sort())
  for (const Class of classes) {
    const text = declared.get(Class.prototype.name)
    assert.ok(text.includes(`static readonly code: '${Class.code}'`), text)
    const [, union] = /^ {2}readonly code: (.*)$/m.exec(text)
    assert.deepEqual(union.match(/\w+/g), Class.codes ?? [Class.code])
  }

  const native = [...read('src', 'error.rs').matchAll(/=> "(ERR_MINTID_\w+)"/g)].map(([, code]) => code)
  assert.ok(native.length > 0)
  // Only JavaScript can find out that the addon does not load.
  assert.deepEqual([...native, 'ERR_MINTID_ADDON'].sort(), codes())
})

test('a failure becomes an error of its class, with its fields and its cause', () => {
  const cause = { failure: true, code: 'ERR_MINTID_EXHAUSTED', message: 'all leased', capacity: 512 }
  const timeout = { failure: true, code: 'ERR_MINTID_ACQUIRE_TIMEOUT', message: 'gave up', attempts: 3, cause }
  const error = fromFailure(timeout)
  assert.ok(error instanceof errors.AcquireTimeoutError)
  assert.deepEqual({ ...error }, { code: 'ERR_MINTID_ACQUIRE_TIMEOUT', attempts: 3 })
  assert.ok(error.cause instanceof errors.ExhaustedError)
  assert.equal(error.cause.capacity, 512)
})

test('a class may have two codes; times become Dates', () => {
  const at = Date.UTC(2026, 0, 1)
  const command = 'npx mintid setup --accept-reset'
  const reset = { failure: true, code: 'ERR_MINTID_REGISTRY_RESET', message: 'waits', notBefore: at, command }
  const error = fromFailure({ failure: true, code: 'ERR_MINTID_ACQUIRE_TIMEOUT', message: 'gave up', cause: reset })
  assert.ok(error.cause instanceof errors.RegistryError)
  assert.deepEqual({ ...error.cause }, { code: reset.code, notBefore: new Date(at), command })
  const newer = fromFailure({ failure: true, code: 'ERR_MINTID_REGISTRY_VERSION', message: 'newer' })
  assert.ok(newer instanceof errors.RegistryError)
  assert.deepEqual({ ...newer }, { code: 'ERR_MINTID_REGISTRY_VERSION' })
  assert.equal(newer.name, 'RegistryError')
})

test('a server says in its own words what is wrong', () => {
  const failure = {
    failure: true,
    code: 'ERR_MINTID_COORDINATOR',
    message: 'no',
    serverCode: '28P01',
    hint: 'check it'
  }
  const error = fromFailure(failure)
  assert.ok(error instanceof errors.CoordinatorError)
  assert.deepEqual({ ...error }, { code: failure.code, serverCode: '28P01', hint: 'check it' })
})

test('absent fields stay absent', () => {
  const code = 'ERR_MINTID_COORDINATOR'
  const error = fromFailure({ failure: true, code, message: 'no', coordinator: 'local', hint: undefined })
  assert.deepEqual(Object.keys(error), ['code', 'coordinator'])
  assert.equal(Object.hasOwn(error, 'cause'), false)
})

test('a code of a newer addon still is a MintidError', () => {
  const error = fromFailure({ failure: true, code: 'ERR_MINTID_LATER', message: 'new' })
  assert.ok(error instanceof MintidError)
  assert.equal(error.code, 'ERR_MINTID_LATER')
})

test('the stack begins at the caller of the public function', () => {
  function publicFunction() {
    return fromFailure({ failure: true, code: 'ERR_MINTID_CLOSED', message: 'closed' }, publicFunction)
  }
  function caller() {
    return publicFunction()
  }
  const [head, first] = caller().stack.split('\n')
  assert.equal(head, 'ClosedError: closed')
  assert.match(first, /at caller /)
})

test('HTTP frameworks find their status', () => {
  assert.equal(new InvalidIdError('x').statusCode, 400)
  assert.equal(new NotReadyError('x').statusCode, 503)
  assert.equal(new LeaseLostError('x').statusCode, 503)
  assert.equal(new errors.ConflictError('x').statusCode, 503)
})

test('instanceof holds across copies of the module', () => {
  delete require.cache[path]
  const copy = require(path)
  assert.notEqual(copy.ConfigError, ConfigError)
  const error = new copy.ConfigError('x')
  assert.ok(error instanceof ConfigError && error instanceof MintidError)
  assert.ok(!(error instanceof InvalidIdError))
})

test("a user's subclass is told apart from its base", () => {
  class MyError extends ConfigError {}
  assert.ok(new MyError('x') instanceof MyError)
  assert.ok(new MyError('x') instanceof ConfigError)
  assert.ok(!(new ConfigError('x') instanceof MyError))
})

test('what is no error is no instance', () => {
  for (const value of [undefined, null, 1, 'ERR_MINTID_CONFIG', {}, new Error('x')]) {
    assert.ok(!(value instanceof MintidError), inspect(value))
  }
})
