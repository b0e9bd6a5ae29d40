'use strict'

const assert = require('node:assert/strict')
const { beforeEach, test } = require('node:test')

const { ClosedError, idType, start, stop } = require('../../index.js')
const native = require('../../js/native.js').backend
const { slot } = require('../../js/shared.js')
const { fakeBackend, turn } = require('./fake-backend.js')

const options = { coordinator: 'local' }
const userId = idType('usr_', { mask: true })
let fake

beforeEach((t) => {
  slot.generator = null
  fake = fakeBackend()
  for (const [name, member] of Object.entries(fake.backend)) t.mock.method(native, name, member)
})

/** Starts, with a lease from the fake backend. */
async function started() {
  const starting = start(options)
  fake.handles.at(-1).grant()
  return starting
}

test('types convert while start waits, and mint when it is done', async () => {
  const starting = start(options)
  assert.equal(userId.fromDb(5n), 'usr_00000000005')
  fake.handles[0].grant()
  assert.equal(await starting, slot.generator)
  assert.equal(userId.next(), 'usr_00000000001')
})

test('a start that fails leaves no default and no handle behind', async () => {
  const starting = start(options)
  fake.handles[0].settle({ failure: true, code: 'ERR_MINTID_COORDINATOR', message: 'no', coordinator: 'local' })
  await assert.rejects(starting, { code: 'ERR_MINTID_COORDINATOR' })
  assert.equal(slot.generator, null)
  assert.equal(fake.handles[0].closed, true)
  await assert.rejects(start({}), { option: 'coordinator' })
})

test('start can be aborted', async () => {
  const controller = new AbortController()
  const starting = start(options, { signal: controller.signal, acquireTimeoutMs: Infinity })
  controller.abort()
  await assert.rejects(starting, { name: 'AbortError' })
  assert.equal(fake.handles[0].closed, true)
})

test('stop closes the default, which goes on converting', async () => {
  await started()
  await stop()
  await stop()
  assert.throws(() => userId.next(), ClosedError)
  assert.equal(userId.fromDb(5n), 'usr_00000000005')
})

test('stop without a start does nothing, and during one ends it', async () => {
  await stop()
  const starting = start(options)
  await stop()
  await assert.rejects(starting, ClosedError)
  assert.equal(slot.generator, null)
})

test('start after stop begins anew', async () => {
  await started()
  await stop()
  await started()
  assert.equal(userId.next(), 'usr_00000000001')
})

test('the default before serves until the new one is ready, and is closed then', async () => {
  const before = await started()
  const starting = start(options)
  assert.equal(slot.generator, before)
  userId.next()
  fake.handles[1].grant()
  await starting
  assert.equal(fake.handles[0].closed, true)
  assert.equal(userId.next(), 'usr_00000000001')
})

test('a second start that fails changes nothing', async () => {
  const before = await started()
  const starting = start(options)
  fake.handles[1].settle({ failure: true, code: 'ERR_MINTID_EXHAUSTED', message: 'no', capacity: 512 })
  await assert.rejects(starting, { code: 'ERR_MINTID_EXHAUSTED' })
  assert.equal(slot.generator, before)
  assert.equal(fake.handles[0].closed, false)
})

test('of two starts at once the later one wins, whichever is ready first', async () => {
  for (const [first, second] of [
    [0, 1],
    [1, 0]
  ]) {
    slot.generator = null
    fake.handles.length = 0
    const starts = Promise.allSettled([start(options), start(options)])
    fake.handles[first].grant()
    await turn()
    fake.handles[second].grant()
    const [, { value: later }] = await starts
    assert.equal(slot.generator, later)
    assert.deepEqual(
      fake.handles.map(({ closed }) => closed),
      [true, false]
    )
  }
})

test('another copy of the module shares the default', async () => {
  await started()
  const copied = copyOf('../../index.js')
  assert.notEqual(copied.idType, idType)
  assert.equal(copied.idType('usr_').next(), 'usr_00000000001')
  assert.throws(() => copied.idType('usr_').toDb('usr_'), { code: 'ERR_MINTID_INVALID_ID' })
  await copied.stop()
  assert.throws(() => userId.next(), ClosedError)
})

/** The module as a cleared cache would load it again. */
function copyOf(name) {
  const kept = { ...require.cache }
  for (const path of Object.keys(require.cache)) delete require.cache[path]
  try {
    // All that it exports, now: what is not asked for is not loaded.
    return { ...require(name) }
  } finally {
    for (const path of Object.keys(require.cache)) delete require.cache[path]
    Object.assign(require.cache, kept)
  }
}
