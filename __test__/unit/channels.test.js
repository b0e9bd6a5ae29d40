'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const { subscribe, unsubscribe } = require('node:diagnostics_channel')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { test } = require('node:test')

const { IdGenerator } = require('../../index.js')
const { fakeIds } = require('../../js/testing.js')
const { fakeBackend } = require('./fake-backend.js')

const root = join(__dirname, '..', '..')

/** A generator, and how its backend emits. */
function open() {
  const fake = fakeBackend()
  const ids = new IdGenerator({ coordinator: 'local' }, fake.backend)
  ids.type('usr_').toDb('usr_00000000000')
  return { ids, emit: fake.handles[0].onEvent }
}

/** What arrives on the channels until the test ends, in its order. */
function heard(t, ...names) {
  const messages = []
  for (const name of names) {
    const listen = (message, channel) => messages.push([channel, message])
    subscribe(`mintid:${name}`, listen)
    t.after(() => unsubscribe(`mintid:${name}`, listen))
  }
  return messages
}

test('each event arrives on the channel of its name, as its listeners got it', (t) => {
  const { ids, emit } = open()
  const declared = /export interface IdGeneratorEvents \{(.*?)^}/ms.exec(
    readFileSync(join(root, 'index.d.ts'), 'utf8')
  )[1]
  const names = [...declared.matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name)
  assert.ok(names.includes('leaseAcquired') && names.length >= 6)
  const messages = heard(t, ...names)
  const listened = []
  for (const name of names) {
    ids.on(name, (event) => listened.push(event))
    emit({ type: name, at: 5, machineId: 7, error: { failure: true, code: 'ERR_MINTID_COORDINATOR', message: 'no' } })
  }
  assert.deepEqual(
    messages.map(([channel]) => channel),
    names.map((name) => `mintid:${name}`)
  )
  for (const [index, [, message]] of messages.entries()) {
    assert.deepEqual(Object.keys(message), ['generator', 'event'])
    assert.equal(message.generator, ids)
    assert.equal(message.event, listened[index])
    assert.deepEqual(message.event.at, new Date(5))
  }
})

test('who leaves hears no more; a channel is no listener', (t) => {
  const { emit } = open()
  const warned = t.mock.method(process, 'emitWarning', () => {})
  let count = 0
  const listen = () => count++
  subscribe('mintid:leaseLost', listen)
  emit({ type: 'leaseLost', at: 0, machineId: 7, reason: 'expired' })
  unsubscribe('mintid:leaseLost', listen)
  emit({ type: 'leaseLost', at: 0, machineId: 7, reason: 'expired' })
  assert.equal(count, 1)
  assert.equal(warned.mock.callCount(), 1)
})

test('fake IDs publish too, the first lease included', async (t) => {
  const messages = heard(t, 'leaseAcquired', 'leaseReleased')
  const ids = fakeIds()
  await ids.close()
  assert.deepEqual(
    messages.map(([channel, { generator, event }]) => [channel, generator === ids, event.source]),
    [
      ['mintid:leaseAcquired', true, 'initial'],
      ['mintid:leaseReleased', true, 'shutdown']
    ]
  )
})

test('a subscriber that throws disturbs neither the others nor the native caller', () => {
  const script = `
    const { subscribe } = require('node:diagnostics_channel')
    const { IdGenerator } = require('./index.js')
    const { fakeBackend } = require('./__test__/unit/fake-backend.js')
    const fake = fakeBackend()
    const ids = new IdGenerator({ coordinator: 'local' }, fake.backend)
    ids.type('usr_').toDb('usr_00000000000')
    const order = []
    process.on('uncaughtException', ({ message }) => order.push(message))
    subscribe('mintid:leaseRenewed', () => { throw new Error('first') })
    subscribe('mintid:leaseRenewed', () => order.push('second'))
    fake.handles[0].onEvent({ type: 'leaseRenewed', at: 0, machineId: 7 })
    order.push('returned')
    process.on('exit', () => console.log(order.join()))
  `
  const child = spawnSync(process.execPath, ['-e', script], { cwd: root, encoding: 'utf8' })
  assert.equal(child.stdout.trim(), 'second,returned,first', child.stderr)
})
