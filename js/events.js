'use strict'

const process = require('node:process')
const { fromFailure } = require('./errors.js')

/** What an operator should hear of even if nobody listens. */
const UNHEARD = {
  leaseLost: ({ machineId, reason }) => ({
    code: 'MINTID_LEASE_LOST',
    message:
      `the lease of machine ID ${machineId} was lost (${reason}); ` +
      "next() throws until another one is acquired. Listen to 'leaseLost' to handle this"
  }),
  conflict: ({ machineId }) => ({
    code: 'MINTID_CONFLICT',
    message:
      `machine ID ${machineId} is held by another process; ` +
      "next() throws until it is free. Listen to 'conflict' to handle this"
  }),
  warning: ({ code, message }) => ({ code, message })
}

/**
 * Hands an event to its listeners. Each of them runs, whatever the others do: one that throws surfaces as an uncaught
 * exception, as with any EventEmitter, but after the rest were called and outside of the native caller.
 *
 * @param {import('node:events').EventEmitter} emitter
 * @param {string} type the event's name
 * @param {object} event as listeners get it
 * @param {Set<string>} warned what this emitter has already put into `process.emitWarning`
 */
function deliver(emitter, type, event, warned) {
  const listeners = emitter.rawListeners(type)
  for (const listener of listeners) {
    try {
      listener.call(emitter, event)
    } catch (error) {
      queueMicrotask(() => {
        throw error
      })
    }
  }
  if (listeners.length === 0) warnOnce(type, event, warned)
}

/**
 * What listeners get of a native event.
 *
 * @param {object} fields a LeaseEvent without its type: times in ms since 1970, errors as failures
 */
function publicEvent(fields) {
  const event = {}
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) event[name] = value
  }
  event.at = new Date(event.at)
  if (event.error) event.error = fromFailure(event.error)
  return event
}

function warnOnce(type, event, warned) {
  const warning = UNHEARD[type]?.(event)
  if (warning === undefined || warned.has(warning.code)) return
  warned.add(warning.code)
  process.emitWarning(warning.message, { type: 'MintidWarning', code: warning.code })
}

module.exports = { publicEvent, deliver }
