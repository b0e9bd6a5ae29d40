'use strict'

// Where in the key space IDs lie: layouts, partitions, spaces, given times, what happens when a millisecond is used up.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { ConfigError, IdGenerator, TimeError, idType } = require('mintid')
const { fakeIds } = require('mintid/testing')
const { heard, recorded } = require('../support/events.js')
const { Registry } = require('../support/registry.js')

const KEY = '0123456789abcdef0123456789abcdef'
const PARTITIONED = { partition: 4, time: 41, machine: 9, sequence: 10 }
const config = (option) => (error) => error instanceof ConfigError && error.option === option

// Before there is a default generator.
test('a type with a layout of its own knows its ranges without a generator', () => {
  const type = idType('', { kind: 'sortable', layout: PARTITIONED, partition: 7 })
  assert.deepEqual(type.partitionRange(), { gte: 7n << 60n, lt: null })
  assert.deepEqual(type.partitionRange(0), { gte: 0n, lt: 1n << 60n })
  assert.deepEqual(type.partitionRange(15), { gte: -(1n << 60n), lt: 0n })
  const { gte, lt } = type.rangeFor({ from: new Date('2025-01-01'), to: new Date('2025-01-01T00:00:00.001Z') })
  assert.deepEqual({ gte, lt }, { gte: 7n << 60n, lt: (7n << 60n) | (1n << 19n) })
  assert.equal(type.rangeFor({ from: 0, to: 0, partition: 2 }).gte, 2n << 60n)
  assert.throws(() => type.partitionRange(16), config('partition'))
  assert.throws(() => type.rangeFor({ from: 0, to: 1, partition: 16 }), config('partition'))
  assert.throws(() => idType('', { kind: 'encrypted' }).partitionRange(), { code: 'ERR_MINTID_NOT_READY' })
  assert.throws(() => idType('').partitionRange(0), TimeError)
  assert.deepEqual(idType('', { dbFormat: 'unsigned' }).partitionRange(), { gte: 0n, lt: null })
  assert.throws(() => idType('', { bits: 96 }).partitionRange(0), config('bits'))
  assert.throws(() => idType('', { dbFormat: 'url64' }).partitionRange(0), config('dbFormat'))
})

const GENERATORS = {
  native: (options) => IdGenerator.connect({ coordinator: new Registry().coordinator, key: KEY, ...options }),
  fake: (options) => fakeIds(options)
}

for (const [name, make] of Object.entries(GENERATORS)) {
  test(`${name}: each partition has a sequence of its own`, async (t) => {
    const ids = await make({ layout: PARTITIONED })
    t.after(() => ids.close())
    for (const [prefix, options] of [
      ['c_', {}],
      ['m_', { mask: true, kind: 'sortable', dbFormat: 'hex' }],
      ['e_', { kind: 'encrypted', dbFormat: 'unsigned' }]
    ]) {
      const type = ids.type(prefix, options)
      const partitionOf = (id) => type.inspect(id).partition
      assert.equal(partitionOf(type.next()), 0)
      assert.equal(partitionOf(type.next({ partition: 3 })), 3)
      assert.equal(partitionOf(type.fromDb(type.nextDb({ partition: 4 }))), 4)
      const { id, db } = type.nextPair({ partition: 5 })
      assert.deepEqual([partitionOf(id), type.toDb(id)], [5, db])
      const many = type.nextMany(700, { partition: 15 })
      assert.ok(many.every((one) => partitionOf(one) === 15))
      assert.equal(new Set(many).size, 700)
      assert.equal(partitionOf(type.fromDb(type.nextManyDb(9, { partition: 1 })[8])), 1)
      assert.equal(type.nextManyDb(9).length, 9)
      for (const partition of [16, -1, 1.5, '3', 3n, null]) {
        assert.throws(() => type.next({ partition }), config('partition'))
        assert.throws(() => type.nextMany(2, { partition }), config('partition'))
      }
      assert.throws(() => type.next({ partitoin: 3 }), config('partitoin'))
    }
    const counter = ids.type('')
    const [first, other] = [counter.next({ partition: 8 }), counter.next({ partition: 9 })].map((id) =>
      counter.inspect(id)
    )
    assert.deepEqual([first.sequence, first.timestamp], [other.sequence, other.timestamp])
    const fixed = ids.type('', { partition: 8 })
    assert.equal(fixed.inspect(fixed.next()).sequence, first.sequence + 1)
    assert.equal(fixed.inspect(fixed.next({ partition: 9 })).partition, 9)
    assert.equal(fixed.partitionRange().gte, BigInt.asIntN(64, 8n << 60n))
  })

  test(`${name}: a function says the partition of each call`, async (t) => {
    const ids = await make({ layout: PARTITIONED })
    t.after(() => ids.close())
    let shard = 2
    const type = ids.type('', { partition: () => shard })
    assert.equal(type.inspect(type.next()).partition, 2)
    shard = 6
    assert.equal(type.inspect(type.nextMany(3)[2]).partition, 6)
    assert.equal(type.inspect(type.nextPair().id).partition, 6)
    assert.equal(type.inspect(type.next({ partition: 1 })).partition, 1)
    for (shard of ['6', 16, undefined, NaN]) assert.throws(() => type.next(), config('partition'))
  })

  test(`${name}: a layout without partitions has none`, async (t) => {
    const ids = await make()
    t.after(() => ids.close())
    assert.throws(() => ids.type('', { partition: 1 }).next(), config('partition'))
    assert.throws(() => ids.type('', { kind: 'sortable' }).next({ partition: 1 }), config('partition'))
    const zero = ids.type('', { partition: 0 })
    assert.equal(zero.inspect(zero.next()).partition, 0)
  })

  test(`${name}: a type's own layout is that of its IDs, if it has room for all machine IDs`, async (t) => {
    const ids = await make()
    t.after(() => ids.close())
    const epoch = Date.UTC(2020, 0, 1)
    const type = ids.type('', { layout: { ...PARTITIONED, epoch }, partition: 5, kind: 'sortable' })
    const id = type.next()
    const parts = type.inspect(id)
    assert.deepEqual([parts.partition, parts.machineId], [5, ids.machineId])
    const now = name === 'fake' ? Date.UTC(2026, 0, 1) : Date.now()
    assert.ok(Math.abs(parts.timestamp - now) < 60_000)
    const { gte, lt } = type.rangeFor({ from: parts.timestamp, to: parts.timestamp.getTime() + 1 })
    assert.ok(gte <= type.toDb(id) && type.toDb(id) < lt)
    assert.throws(() => ids.type('', { layout: { machine: 8 } }).next(), config('layout'))
  })

  test(`${name}: types of one space share its sequence, others do not`, async (t) => {
    const ids = await make()
    t.after(() => ids.close())
    const count = (options) => {
      const type = ids.type('', options)
      return type.inspect(type.next()).sequence
    }
    const own = count({})
    const first = count({ space: 'orders' })
    assert.equal(count({ space: 'orders', dbFormat: 'unsigned' }), first + 1)
    const [wide, wider] = [{ bits: 96 }, { bits: 96, space: 'orders' }].map(count)
    assert.equal(typeof own, 'number')
    assert.deepEqual([wide, wider], [0, 0])
  })

  test(`${name}: a given time is the ID's, inside the lease`, async (t) => {
    const ids = await make()
    t.after(() => ids.close())
    const began = name === 'fake' ? Date.UTC(2026, 0, 1) : Date.now()
    for (const options of [{}, { mask: true, dbFormat: 'hex' }]) {
      const type = ids.type('evt_', { kind: 'sortable', space: `a${options.mask}`, ...options })
      const at = began + 300
      assert.equal(type.inspect(type.next({ time: at })).timestamp.getTime(), at)
      assert.equal(type.inspect(type.next({ time: new Date(at + 5) })).timestamp.getTime(), at + 5)
      assert.equal(type.inspect(type.fromDb(type.nextDb({ time: at + 6 }))).timestamp.getTime(), at + 6)
      assert.equal(type.inspect(type.nextPair({ time: at + 7 }).id).timestamp.getTime(), at + 7)
      // Later than what was given out, never before.
      assert.equal(type.inspect(type.next({ time: at })).timestamp.getTime(), at + 7)
      for (const time of [0, began - 3_600_000, began + 3_600_000]) assert.throws(() => type.next({ time }), TimeError)
      for (const time of ['now', NaN, new Date(NaN), 1n]) assert.throws(() => type.next({ time }), config('time'))
    }
    const hidden = ids.type('', { kind: 'encrypted', base: 'sortable' })
    assert.equal(hidden.inspect(hidden.next({ time: began + 100 })).timestamp.getTime(), began + 100)
  })
}

test('a space has one kind', async (t) => {
  const ids = await GENERATORS.native()
  t.after(() => ids.close())
  ids.type('', { space: 'orders' }).next()
  assert.throws(() => ids.type('', { space: 'orders', kind: 'sortable' }).next(), config('space'))
})

test('a type that drifts runs into the future with an event a second, one that waits does not', async (t) => {
  const ids = await GENERATORS.native({ layout: { sequence: 2 } })
  t.after(() => ids.close())
  const events = recorded(ids)
  const overflow = heard(ids, 'overflow')
  const drifting = ids.type('', { kind: 'sortable', space: 'fast', overflow: 'drift' })
  const began = Date.now()
  const last = drifting.inspect(drifting.nextMany(40_000).at(-1)).timestamp
  assert.ok(last - began > 9000, `${last - began} ms ahead`)
  const { at, space, partition } = await overflow
  assert.deepEqual([at instanceof Date, space, partition], [true, 'fast', 0])
  assert.ok(Date.now() - began < 5000)
  const told = events.filter(({ type }) => type === 'overflow').length
  assert.ok(told >= 1 && told <= 1 + Math.ceil((Date.now() - began) / 1000), `${told} events`)
  assert.equal(ids.stats().overflows, told)
  const waiting = ids.type('', { kind: 'sortable', space: 'slow' })
  const waited = waiting.inspect(waiting.nextMany(100).at(-1)).timestamp
  assert.ok(waited - Date.now() <= 1)
})

test('without machine bits there is one machine ID, which is set by hand', async (t) => {
  const layout = { machine: 0, sequence: 21 }
  const ids = await IdGenerator.connect({ machineId: 0, layout })
  t.after(() => ids.close())
  const type = ids.type('')
  assert.equal(type.inspect(type.next()).machineId, 0)
  const leased = new IdGenerator({ coordinator: new Registry().coordinator, layout })
  t.after(() => leased.close())
  await assert.rejects(leased.ready(), config('layout'))
})

test('the last year of a layout is told', async (t) => {
  const layout = { time: 32, machine: 9, sequence: 13, epoch: new Date(Date.now() - 86_400_000) }
  const ids = new IdGenerator({ coordinator: new Registry().coordinator, layout })
  t.after(() => ids.close())
  const warned = heard(ids, 'warning')
  await ids.ready()
  const { code, message } = await warned
  assert.equal(code, 'LAYOUT_ENDING')
  assert.match(message, /ends in 48 days, at \d+/)
})
