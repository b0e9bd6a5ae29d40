'use strict'

const { refuse, oneOf } = require('./check.js')
const { SERVERS } = require('./servers.js')

const INCARNATIONS = ['volatile', 'durable']

/** What the other sources of machine IDs are called in messages. */
const OTHERS = {
  local: "coordinator 'local'",
  none: "coordinator 'none'",
  directory: 'a directory',
  fixed: 'machineId',
  custom: 'a custom coordinator'
}

/**
 * The options that only a coordinator which is a server takes.
 *
 * @param {object} options the user's generator options
 * @param {{ coordinator: string, functions?: object }} source its kind, and what lends a connection to it
 * @returns {{ incarnation: 'volatile' | 'durable', tls?: object }}
 */
function serverOptions(options, { coordinator, functions }) {
  const { incarnation = 'volatile', tls } = options
  if (options.incarnation !== undefined) ofServer('incarnation', coordinator)
  if (tls !== undefined) ofServer('tls', coordinator)
  if (tls !== undefined && functions)
    refuse('tls', 'expected none beside a connection of your own, which is as you made it')
  return {
    incarnation: oneOf(incarnation, 'incarnation', INCARNATIONS),
    ...(tls !== undefined && { tls: require('./tls.js').tlsOptions(tls) })
  }
}

/** Refuses an option that was given although the coordinator is no server: it would have no effect. */
function ofServer(option, coordinator) {
  if (SERVERS.includes(coordinator)) return
  refuse(
    option,
    `expected none without a server as the coordinator (postgres:, mysql:, redis:), found it beside ${OTHERS[coordinator]}`
  )
}

module.exports = { serverOptions, ofServer }
