'use strict'

// Holders that are killed or stopped in the middle of minting.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { setTimeout: pause } = require('node:timers/promises')
const { idType } = require('mintid')
const { assertDistinct } = require('../support/numbers.js')
const { Peer } = require('../support/peer.js')
const { KINDS, Records, recordingMinter, writesMore } = require('../support/recording.js')
const { Registry } = require('../support/registry.js')

const sortable = idType('', { kind: 'sortable' })
const timestamp = (number) => sortable.inspect(sortable.fromDb(number)).timestamp.getTime()

test('kill -9, five times in a row: the machine ID is free at once and no number comes twice', async (t) => {
  const [registry, records] = [new Registry(), new Records()]
  const starts = []
  for (let round = 0; round < 5; round++) {
    starts.push(records.numbers('sortable').length)
    const holder = new Peer(t, recordingMinter, records.input(registry.only(3)))
    const { machineId, retries } = await holder.next()
    assert.deepEqual([machineId, retries], [3, 0])
    await writesMore(holder)
    holder.kill('SIGKILL')
    assert.equal((await holder.end()).signal, 'SIGKILL')
  }
  for (const kind of KINDS) {
    const numbers = records.numbers(kind)
    assert.ok(numbers.length >= 5 * 300)
    assertDistinct([numbers])
    // Each new holder begins after everything that was promised before, so the numbers ascend over all lives.
    assert.deepEqual(numbers, numbers.slice().sort())
  }
  const numbers = records.numbers('sortable')
  for (const start of starts.slice(1)) assert.ok(timestamp(numbers[start]) > timestamp(numbers[start - 1]))
})

test('a holder that is stopped for two seconds goes on in a later fence, without events', async (t) => {
  const [registry, records, others] = [new Registry(), new Records(), new Records()]
  const holder = new Peer(t, recordingMinter, records.input({ coordinator: registry.coordinator }))
  const { machineId } = await holder.next()
  await writesMore(holder)
  holder.kill('SIGSTOP')
  const stopped = Date.now()

  const newcomer = new Peer(t, recordingMinter, others.input({ coordinator: registry.coordinator }))
  const { machineId: another } = await newcomer.next()
  assert.notEqual(another, machineId)
  await writesMore(newcomer)
  await pause(2000)
  const before = records.numbers('sortable').length
  const promised = registry.endOf(machineId)
  assert.ok(promised < stopped + 1500, 'the holder was not stopped')

  holder.kill('SIGCONT')
  while (records.numbers('sortable').length < before + 1000) await writesMore(holder)
  // The one number that was under way when it stopped may still be of before.
  const after = records.numbers('sortable').slice(before + 1)
  assert.ok(after.every((number) => timestamp(number) > promised))
  assert.ok(registry.endOf(machineId) > promised)
  for (const peer of [holder, newcomer]) peer.kill('SIGKILL')
  await Promise.all([holder.end(), newcomer.end()])
  for (const kind of KINDS) assertDistinct([records.numbers(kind), others.numbers(kind)])
})

test('a stopped holder keeps its machine ID', async (t) => {
  const registry = new Registry()
  const holder = new Peer(t, recordingMinter, new Records().input(registry.only(3)))
  await holder.next()
  await writesMore(holder)
  holder.kill('SIGSTOP')
  const { stderr } = await new Peer(
    t,
    recordingMinter,
    new Records().input({
      ...registry.only(3),
      lease: { acquireTimeoutMs: 100 }
    })
  ).end()
  assert.match(stderr, /ERR_MINTID_EXHAUSTED/)
  holder.kill('SIGCONT')
  await writesMore(holder)
})
