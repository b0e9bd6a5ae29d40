'use strict'

// What the processes of a scenario have in common: how they report, how they hear, how they get their lease.

const { writeSync } = require('node:fs')
const process = require('node:process')
const { setTimeout: pause } = require('node:timers/promises')
const { IdGenerator } = require('mintid')
const { now } = require('./clock.js')

const REPORTS = 3
const EVENTS = ['leaseAcquired', 'leaseRenewed', 'leaseRetry', 'leaseLost', 'leaseReleased', 'conflict', 'warning']

/** What a process that waits for its lease may be told without being wrong itself; others end it. */
const PASSING = ['ACQUIRE_TIMEOUT', 'EXHAUSTED', 'CONFLICT', 'COORDINATOR', 'REGISTRY_RESET'].map(
  (name) => `ERR_MINTID_${name}`
)
const AGAIN_MS = 100

/** Tells the parent, before this returns. */
function say(event) {
  writeSync(REPORTS, `${JSON.stringify({ at: now(), ...event })}\n`)
}

/** Does what the parent asks for, one after the other, and answers. Ends with the parent. */
function hear(commands) {
  process.on('disconnect', () => process.exit())
  let turn = Promise.resolve()
  process.on('message', ({ id, name, args }) => {
    turn = turn.then(async () => say({ event: 'answer', id, value: (await commands[name](args)) ?? null }))
  })
}

/** A generator whose every event was told, with a lease: asks again where a service would be started again. */
async function connected(options) {
  const ids = new IdGenerator(options)
  for (const type of EVENTS) ids.on(type, (event) => say({ event: type, ...plain(event) }))
  const wall = Date.now()
  say({ event: 'connecting', wall })
  for (;;) {
    try {
      await ids.ready()
      say({ event: 'ready', machineId: ids.machineId })
      return ids
    } catch (error) {
      say({ event: 'connectFailed', ...described(error) })
      if (!PASSING.includes(error.code)) throw error
      await pause(AGAIN_MS)
    }
  }
}

/** An event as JSON takes it; `at` is this machine's, not the wall clock's. */
function plain({ at, error, ...fields }) {
  return { ...fields, wall: at.getTime(), ...(error && { error: described(error) }) }
}

function described({ code, message, serverCode, notBefore, cause }) {
  return { code, message, serverCode, notBefore, cause: cause?.message }
}

module.exports = { connected, described, hear, say }
