'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const { join } = require('node:path')
const process = require('node:process')
const { test } = require('node:test')

const { CoordinatorError, IdGenerator } = require('../../index.js')
const { fakeBackend } = require('./fake-backend.js')

/** A generator, and how its backend emits. */
function open() {
  const fake = fakeBackend()
  const ids = new IdGenerator({ coordinator: 'local' }, fake.backend)
  ids.type('usr_').toDb('usr_00000000000')
  return { ids, emit: fake.handles[0].onEvent }
}

test('events carry Dates and errors', () => {
  const { ids, emit } = open()
  const events = []
  ids.on('leaseRetry', (event) => events.push(event))
  const error = { failure: true, code: 'ERR_MINTID_COORDINATOR', message: 'no', coordinator: 'local' }
  emit({ type: 'leaseRetry', at: 5, operation: 'renew', attempt: 2, delayMs: 100, error, machineId: undefined })
  const [event] = events
  assert.ok(event.error instanceof CoordinatorError)
  assert.deepEqual({ ...event, error: 0 }, { at: new Date(5), operation: 'renew', attempt: 2, delayMs: 100, error: 0 })
})

test('once listeners run once', () => {
  const { ids, emit } = open()
  const seen = []
  ids.once('leaseAcquired', ({ machineId }) => seen.push(machineId))
  emit({ type: 'leaseAcquired', at: 0, machineId: 1, durationMs: 2, source: 'initial' })
  emit({ type: 'leaseAcquired', at: 0, machineId: 2, durationMs: 2, source: 'reacquire' })
  assert.deepEqual(seen, [1])
})

test('what nobody listens to is warned about once each', (t) => {
  const { emit } = open()
  const warned = t.mock.method(process, 'emitWarning', () => {})
  for (let round = 0; round < 2; round++) {
    emit({ type: 'leaseLost', at: 0, machineId: 7, reason: 'expired' })
    emit({ type: 'conflict', at: 0, machineId: 7 })
    emit({ type: 'warning', at: 0, code: 'MINTID_NEARLY_FULL', message: 'half of the machine IDs are leased' })
    emit({ type: 'warning', at: 0, code: 'MINTID_OTHER', message: 'something else' })
    emit({ type: 'leaseRenewed', at: 0, machineId: 7 })
  }
  const options = warned.mock.calls.map(({ arguments: [, given] }) => given)
  const expected = ['MINTID_LEASE_LOST', 'MINTID_CONFLICT', 'MINTID_NEARLY_FULL', 'MINTID_OTHER']
  assert.deepEqual(
    options,
    expected.map((code) => ({ type: 'MintidWarning', code }))
  )
  assert.match(warned.mock.calls[0].arguments[0], /machine ID 7 was lost \(expired\)/)
})

test('what somebody listens to is not', (t) => {
  const { ids, emit } = open()
  const warned = t.mock.method(process, 'emitWarning', () => {})
  ids.on('leaseLost', () => {})
  emit({ type: 'leaseLost', at: 0, machineId: 7, reason: 'expired' })
  assert.equal(warned.mock.callCount(), 0)
})

test('a listener that throws surfaces after the others ran, outside of the native caller', () => {
  const child = spawnSync(
    process.execPath,
    [
      '-e',
      `
    const { IdGenerator } = require('./index.js')
    const { fakeBackend } = require('./__test__/unit/fake-backend.js')
    const fake = fakeBackend()
    const ids = new IdGenerator({ coordinator: 'local' }, fake.backend)
    ids.type('usr_').toDb('usr_00000000000')
    const order = []
    process.on('uncaughtException', ({ message }) => order.push(message))
    ids.on('leaseLost', () => { throw new Error('first') })
    ids.on('leaseLost', () => order.push('second'))
    fake.handles[0].onEvent({ type: 'leaseLost', at: 0, machineId: 7, reason: 'expired' })
    order.push('returned')
    process.on('exit', () => console.log(order.join()))
  `
    ],
    { cwd: join(__dirname, '..', '..'), encoding: 'utf8' }
  )
  assert.equal(child.stdout.trim(), 'second,returned,first', child.stderr)
})
