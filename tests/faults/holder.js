'use strict'

// A process that holds a lease and mints all three kinds without end, as its parent (process.js) tells it. Each ID goes
// into a file of records, each event as a line of JSON into descriptor 3, both before anything else happens: what was
// emitted is known however this process ends. Its argument is JSON: { options, file, pace }.

const { openSync } = require('node:fs')
const process = require('node:process')
const { setTimeout: pause } = require('node:timers/promises')
const { now } = require('./clock.js')
const { Minter } = require('./minter.js')
const { observe } = require('./observed.js')
const { connected, hear, say } = require('./role.js')

const { options, file, pace } = JSON.parse(process.argv[2])

/** A pause of this length in the middle of a synchronous batch can only be a SIGSTOP. */
const STOPPED_MS = 1500
const REPORT_EVERY_MS = 50

let closing = false

const observed = observe()

async function main() {
  say({ event: 'observed' })
  const ids = await connected(options)
  const minter = new Minter(ids, openSync(file, 'a'), say)
  hear(commands(ids, minter))
  let reported = 0
  while (!closing) {
    minter.round(pace)
    if (minter.lastAt - reported >= REPORT_EVERY_MS) {
      reported = minter.lastAt
      say({ event: 'count', at: minter.firstOfRound, made: minter.made, refused: minter.refused })
    }
    await pause(pace.everyMs)
  }
}

function commands(ids, minter) {
  return {
    wall: () => ({ wall: Date.now() }),

    observed: () => observed(ids),

    /**
     * Mints without a break until it was stopped in the middle, and `after` rounds more. Nothing is heard meanwhile:
     * what keeps it from minting somebody else's numbers is not an event.
     */
    burst({ after }) {
      let [last, left, pausedMs, before] = [now(), after, 0, null]
      say({ event: 'burst' })
      while (left > 0) {
        if (pausedMs > 0) left--
        else before = { made: minter.made, refused: minter.refused }
        const at = minter.round(pace)
        if (at - last > STOPPED_MS) pausedMs = at - last
        last = at
      }
      return { pausedMs, made: minter.made - before.made, refused: minter.refused - before.refused }
    },

    relinquish: ({ reason }) => ids.relinquish(reason),

    /** What it minted after that is told: nothing. */
    async close() {
      closing = true
      await ids.close()
      const before = minter.made
      minter.round(pace)
      return { minted: minter.made - before }
    }
  }
}

main()
