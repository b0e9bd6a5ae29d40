'use strict'

// The checker must find what it is there to find: each planted fault, and nothing in a clean run.

const assert = require('node:assert/strict')
const { openSync, readFileSync } = require('node:fs')
const { join } = require('node:path')
const { test } = require('node:test')
const { temporaryDirectory } = require('../../../__test__/support/registry.js')
const { check } = require('../checker.js')
const { EPOCH_MS, KINDS, RecordWriter, Records, SIZE, pack, unpack } = require('../records.js')

const AT = Date.UTC(2026, 5, 1)
const [COUNTER, SORTABLE, ENCRYPTED] = KINDS.keys()

const packed = (timestamp, machineId, count) => pack({ timestamp, machineId, count })

const id = (timestamp, machineId, count, kind = COUNTER) => ({ timestamp, machineId, count, kind })
const fence = (machineId, start, end, token = `${machineId} ${start}`) => ({ machineId, start, end, token })

/** A process that wrote these IDs: `number` is what they make unless they say so themselves. */
function process(name, ids, cut = 0) {
  const file = join(temporaryDirectory(), name)
  const writer = new RecordWriter(openSync(file, 'w'), 3)
  for (const { kind, number, ...parts } of ids) {
    writer.add(number ?? packed(parts.timestamp, parts.machineId, parts.count), parts, kind, 0)
  }
  writer.flush()
  const bytes = readFileSync(file)
  return { name, records: new Records(bytes.subarray(0, bytes.length - cut)) }
}

test('a number comes apart into what it was made of', () => {
  for (const [timestamp, machineId, count] of [
    [AT, 511, 8191],
    [AT + 1023, 0, 0],
    [EPOCH_MS + 2 ** 42 - 1, 256, 4096]
  ]) {
    assert.deepEqual(unpack(packed(timestamp, machineId, count)), { timestamp, machineId, count })
  }
})

test('a clean run has neither duplicates nor IDs outside of the fences', () => {
  const first = process('first', [id(AT, 1, 0), id(AT, 1, 1), id(AT + 9, 1, 0, SORTABLE)])
  const second = process('second', [id(AT, 2, 0), id(AT + 10, 1, 0), id(AT, 2, 0, SORTABLE)])
  const fences = [fence(1, AT, AT + 10), fence(1, AT + 10, AT + 20), fence(2, AT, AT + 1)]
  assert.deepEqual(check([first, second], fences), {
    ids: 6,
    kinds: { counter: 4, sortable: 2, encrypted: 0 },
    duplicates: 0,
    outside: 0,
    examples: []
  })
})

test('a number that two processes emitted, or one of them twice, is a duplicate', () => {
  for (const kind of KINDS.keys()) {
    const one = process('one', [id(AT, 1, 0, kind), id(AT, 1, 1, kind)])
    const other = process('other', [id(AT, 1, 1, kind)])
    const { ids, duplicates, examples } = check([one, other], null)
    assert.deepEqual([ids, duplicates], [3, 1])
    assert.match(examples[0], new RegExp(`^${KINDS[kind]} \\d+ from one and other$`))
    assert.equal(check([process('alone', [id(AT, 1, 0, kind), id(AT, 1, 0, kind)])], null).duplicates, 1)
  }
})

test('the same number in another kind is none', () => {
  const ids = [COUNTER, SORTABLE, ENCRYPTED].map((kind) => id(AT, 1, 0, kind))
  assert.equal(check([process('one', ids)], null).duplicates, 0)
})

test('an ID before, at or after the end of its fence, or of a machine ID without one, is outside', () => {
  const fences = [fence(1, AT, AT + 10), fence(1, AT + 20, AT + 30), fence(2, AT - 50, AT + 50)]
  for (const [timestamp, machineId] of [
    [AT - 1, 1],
    [AT + 10, 1],
    [AT + 19, 1],
    [AT + 30, 1],
    [AT, 3]
  ]) {
    const inside = [id(AT, 1, 0), id(AT + 29, 1, 0), id(AT, 2, 0)]
    const { outside, examples } = check([process('one', [...inside, id(timestamp, machineId, 7)])], fences)
    assert.equal(outside, 1, `${timestamp - AT} of ${machineId}`)
    assert.match(examples[0], /^one: machine ID \d at 2026-.* in no fence$/)
  }
  const encrypted = process('one', [{ ...id(AT + 10, 1, 0, ENCRYPTED), number: 99n }])
  assert.equal(check([encrypted], fences).outside, 1)
})

test('two processes in one fence are seen, even if no number came twice', () => {
  const processes = [process('one', [id(AT, 1, 0)]), process('other', [id(AT, 1, 1), id(AT + 1, 1, 0)])]
  const { duplicates, outside, examples } = check(processes, [fence(1, AT, AT + 10)])
  assert.deepEqual([duplicates, outside, examples[0]], [0, 2, 'other: an ID in a fence of one'])
})

test('where a registry forgot a grant, the later fence counts from its start', () => {
  const processes = [process('one', [id(AT, 1, 0)]), process('other', [id(AT + 5, 1, 0)])]
  assert.equal(check(processes, [fence(1, AT, AT + 10), fence(1, AT + 5, AT + 15)]).outside, 0)
  const late = process('late', [id(AT, 1, 0), id(AT + 7, 1, 0)])
  assert.equal(check([late, processes[1]], [fence(1, AT, AT + 10), fence(1, AT + 5, AT + 15)]).outside, 1)
})

test('a record that is not about its number is seen', () => {
  const { outside, examples } = check([process('one', [{ ...id(AT, 1, 0), number: packed(AT, 2, 0) }])], null)
  assert.equal(outside, 1)
  assert.match(examples[0], /is not about it$/)
})

test('the torn last record of a killed process is left out, whole ones before it are not', () => {
  const { records } = process('killed', [id(AT, 1, 0), id(AT, 1, 1)], 1)
  assert.deepEqual([records.length, records.count(0)], [1, 0])
  assert.equal(process('killed', [id(AT, 1, 0)], SIZE - 1).records.length, 0)
})
