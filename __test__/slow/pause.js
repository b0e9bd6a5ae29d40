'use strict'

const { setTimeout: pause } = require('node:timers/promises')
const { idType } = require('mintid')
const { count } = require('../support/numbers.js')
const { Peer } = require('../support/peer.js')
const { KINDS, Records, recordingMinter, writesMore } = require('../support/recording.js')
const { Registry } = require('../support/registry.js')

const [PAUSE_MS, AFTER] = [60_000, 20_000]
const sortable = idType('', { kind: 'sortable' })
const time = (number) => sortable.inspect(sortable.fromDb(number)).timestamp.toISOString().slice(11, 23)

/** A holder that is stopped in the middle of minting, and another process that mints meanwhile. */
async function measure(t) {
  const [registry, records, others] = [new Registry(), new Records(), new Records()]
  const holder = new Peer(t, recordingMinter, records.input({ coordinator: registry.coordinator }))
  const { machineId } = await holder.next()
  await writesMore(holder, 50)
  holder.kill('SIGSTOP')
  const newcomer = new Peer(t, recordingMinter, others.input({ coordinator: registry.coordinator }))
  const { machineId: another } = await newcomer.next()
  await writesMore(newcomer, 50)
  newcomer.kill('SIGKILL')
  await pause(PAUSE_MS)
  const before = records.numbers('sortable').length
  const end = registry.endOf(machineId)

  holder.kill('SIGCONT')
  // An event in between makes this fail: the holder must not notice anything.
  while (records.numbers('sortable').length < before + AFTER) await writesMore(holder)
  holder.kill('SIGKILL')
  await holder.end()

  const numbers = records.numbers('sortable')
  const counts = KINDS.map((kind) => count([records.numbers(kind), others.numbers(kind)]))
  const duplicates = counts.reduce((sum, { total, distinct }) => sum + total - distinct, 0)
  const at = (index) => time(numbers.at(index))
  const fence = new Date(end).toISOString().slice(11, 23)
  return {
    duplicates,
    rows: [
      { what: 'emitted before the pause', value: `${before} of each kind, the last sortable one at ${at(before - 1)}` },
      { what: 'its fence ended', value: fence },
      { what: 'emitted after it', value: `${numbers.length - before}, the second sortable one at ${at(before + 1)}` },
      { what: 'machine IDs', value: `${machineId} before and after; ${another} for who started meanwhile` },
      { what: 'events', value: 'none' },
      { what: 'duplicates', value: duplicates }
    ]
  }
}

module.exports = { title: `SIGSTOP of a holder for ${PAUSE_MS / 1000} s, then SIGCONT`, measure }
