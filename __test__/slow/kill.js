'use strict'

const { writeFileSync } = require('node:fs')
const { join } = require('node:path')
const { count } = require('../support/numbers.js')
const { Peer } = require('../support/peer.js')
const { KINDS, Records, recordingMinter, writesMore } = require('../support/recording.js')
const { Registry, temporaryDirectory } = require('../support/registry.js')
const { library } = require('./faketime.js')

const [ROUNDS, HOUR_S] = [50, 3600]

async function measure(t) {
  const steps = { none: steadyClock(), 'an hour back in each round': steppingClock() }
  const rows = []
  for (const [step, clock] of Object.entries(steps)) rows.push(...(await killed(t, step, clock)))
  return { rows, duplicates: rows.reduce((sum, { duplicates }) => sum + duplicates, 0) }
}

/** Fifty holders of the one machine ID, each killed in the middle of minting. */
async function killed(t, step, clock) {
  const [registry, records] = [new Registry(), new Records()]
  let retries = 0
  for (let round = 0; round < ROUNDS; round++) {
    const env = clock.before(round)
    const holder = new Peer(t, recordingMinter, records.input(registry.only(3)), { env })
    const first = await holder.next()
    clock.check(round, first.wall)
    retries += first.retries
    await writesMore(holder, 20)
    clock.during(round)
    await writesMore(holder, 1 + round)
    holder.kill('SIGKILL')
    await holder.end()
  }
  return KINDS.map((kind) => {
    const numbers = records.numbers(kind)
    const { total, distinct } = count([numbers])
    const ascending = numbers.every((number, at) => at === 0 || number > numbers[at - 1])
    return {
      clock: step,
      kills: ROUNDS,
      kind,
      IDs: total,
      duplicates: total - distinct,
      ascending,
      'starts that waited': retries
    }
  })
}

function steadyClock() {
  return { before: () => ({}), check() {}, during() {} }
}

/** A wall clock that goes half an hour back before each start, and another half in the middle of each life. */
function steppingClock() {
  const file = join(temporaryDirectory(), 'offset')
  const env = {
    LD_PRELOAD: library(),
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1'
  }
  const set = (hours) => writeFileSync(file, `-${hours * HOUR_S}\n`)
  return {
    before(round) {
      set(round)
      return env
    },
    check(round, wall) {
      const off = Math.abs(Date.now() - wall - round * HOUR_S * 1000)
      if (off > 60_000) throw new Error(`libfaketime did not set the clock back in round ${round}`)
    },
    during: (round) => set(round + 0.5)
  }
}

module.exports = { title: `kill -9 of a holder, ${ROUNDS} times in a row`, measure }
