'use strict'

// Generators of one process with the same coordinator and namespace share one lease: what they must agree on.

const assert = require('node:assert/strict')
const { symlinkSync } = require('node:fs')
const { join } = require('node:path')
const { test } = require('node:test')
const { pathToFileURL } = require('node:url')
const { inspect } = require('node:util')
const { ConfigError, IdGenerator } = require('mintid')
const { heard, recorded } = require('../support/events.js')
const { assertDistinct } = require('../support/numbers.js')
const { Registry, temporaryDirectory } = require('../support/registry.js')

const [KEY, OTHER_KEY] = ['0123456789abcdef0123456789abcdef', 'another key of thirty-two bytes..']

async function connected(t, options) {
  const ids = await IdGenerator.connect(options)
  t.after(() => ids.close())
  return ids
}

const DISAGREEING = [
  ['layout', { layout: { machine: 10, sequence: 12 } }],
  ['layout', { layout: { epoch: '2025-01-02' } }],
  ['key', { key: OTHER_KEY }],
  ['key', { key: undefined }],
  ['machineIds', { machineIds: { from: 0, to: 6 } }],
  ['machineIds', { machineIds: undefined }],
  ['lease.ttlMs', { lease: { ttlMs: 299_999 } }]
]

for (const [option, difference] of DISAGREEING) {
  test(`generators that share must agree: ${option}, ${inspect(difference)}`, async (t) => {
    const options = { coordinator: new Registry().coordinator, key: KEY, machineIds: { from: 0, to: 5 } }
    const ids = await connected(t, options)
    const type = ids.type('')
    const before = type.nextDb()
    const different = Object.fromEntries(Object.entries({ ...options, ...difference }).filter(([, value]) => value))
    await assert.rejects(IdGenerator.connect(different), (error) => {
      assert.ok(error instanceof ConfigError)
      assert.equal(error.option, option)
      assert.ok(!error.message.includes(KEY) && !error.message.includes(OTHER_KEY))
      return true
    })
    assert.ok(type.nextDb() > before)
    const beside = await connected(t, { ...different, namespace: 'beside' })
    assert.ok(beside.machineId !== null)
  })
}

test('agreement is asked of those who share at the time: the last one to close takes it along', async (t) => {
  const { coordinator } = new Registry()
  const first = await connected(t, { coordinator, key: KEY })
  const second = new IdGenerator({ coordinator, key: OTHER_KEY })
  t.after(() => second.close())
  await assert.rejects(second.ready(), { option: 'key' })
  await first.close()
  await second.ready()
})

test('a directory by two names is one coordinator', async (t) => {
  const registry = new Registry()
  const link = join(temporaryDirectory(), 'link')
  symlinkSync(registry.directory, link)
  const names = [
    registry.coordinator,
    pathToFileURL(link).href,
    `${registry.coordinator}/`,
    `${registry.coordinator}/./`
  ]
  const all = await Promise.all(names.map((coordinator) => connected(t, { coordinator })))
  assert.deepEqual(
    all.map(({ machineId }) => machineId),
    [0, 0, 0, 0]
  )
})

test('a directory that the first lease makes is the same one afterwards', async (t) => {
  const link = join(temporaryDirectory(), 'link')
  symlinkSync(temporaryDirectory(), link)
  const coordinator = pathToFileURL(join(link, 'made', 'at', 'first', 'need')).href
  const first = await connected(t, { coordinator })
  const second = await connected(t, { coordinator })
  assert.equal(second.machineId, first.machineId)
})

test('other timings are taken over with one warning to the newer generator', async (t) => {
  const { coordinator } = new Registry()
  const first = await connected(t, { coordinator })
  const older = recorded(first)
  const second = new IdGenerator({ coordinator, lease: { renewEveryMs: 10_000 } })
  t.after(() => second.close())
  const newer = recorded(second)
  const warned = heard(second, 'warning')
  await second.ready()
  const { at, code, message } = await warned
  assert.equal(code, 'OPTIONS_REPLACED')
  assert.match(message, /newer/)
  assert.ok(at instanceof Date)
  // The same timings again are no news.
  const third = await connected(t, { coordinator, lease: { renewEveryMs: 10_000 } })
  const news = recorded(third)
  third.relinquish()
  await heard(third, 'leaseLost')
  for (const [events, warnings] of [
    [older, 0],
    [newer, 1],
    [news, 0]
  ]) {
    assert.equal(events.filter(({ type }) => type === 'warning').length, warnings)
  }
})

test('namespaces of one coordinator are registries of their own', async (t) => {
  const { coordinator } = new Registry()
  const one = await connected(t, { coordinator, namespace: 'one', machineIds: { from: 0, to: 0 } })
  const two = await connected(t, { coordinator, namespace: 'two', machineIds: { from: 0, to: 0 }, key: KEY })
  assert.deepEqual([one.machineId, two.machineId], [0, 0])
})

test('machine IDs by hand: the same one is shared, others are not', async (t) => {
  const [seven, again, eight] = await Promise.all([7, 7, 8].map((machineId) => connected(t, { machineId })))
  assert.deepEqual(
    [seven, again, eight].map(({ machineId }) => machineId),
    [7, 7, 8]
  )
  assertDistinct([seven, again].map((ids) => ids.type('').nextManyDb(1000)))
  await assert.rejects(IdGenerator.connect({ machineId: 7, key: KEY }), { code: 'ERR_MINTID_CONFIG', option: 'key' })
})
