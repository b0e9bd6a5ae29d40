'use strict'

const { filled, refuse, dotted, isObject, shown } = require('./check.js')
const { TYPES } = require('./servers.js')

/** What an object calls otherwise than a URL does. */
const URL_NAMES = {
  postgres: new Map([['database', 'dbname']]),
  redis: new Map()
}

/** Lists of servers: texts `host:port`, or objects as ioredis and node-redis take them. */
const LISTS = ['nodes', 'rootNodes', 'sentinels', 'sentinelRootNodes']

/**
 * A server in its object form. Which parameters there are, and what they may be, is known to native code alone, as for
 * URLs.
 *
 * @param {object} given `{ type: 'postgres', host, port, user, password, database, … }`
 * @returns {{ coordinator: string, parameters: [string, string][] }} under the names that URLs use
 */
function serverObject(given) {
  filled(given, 'coordinator')
  const coordinator = TYPES.get(given.type)
  const names = URL_NAMES[coordinator]
  for (const [own, inUrl] of names) {
    if (!Object.hasOwn(given, own) || !Object.hasOwn(given, inUrl)) continue
    refuse(`coordinator.${inUrl}`, `expected one of ${own} and ${inUrl}, which mean the same, found both`)
  }
  const { type: _, ...parameters } = given
  return {
    coordinator,
    parameters: Object.entries(parameters).map(([name, value]) => [
      names.get(name) ?? name,
      LISTS.includes(name) && Array.isArray(value) ? list(name, value) : text(name, value)
    ])
  }
}

function list(name, servers) {
  return servers.map((server, index) => address(`${name}[${index}]`, server)).join(',')
}

function address(name, server) {
  if (!isObject(server)) return text(name, server)
  const { host, port } = server
  const named = text(`${name}.host`, host)
  const bracketed = named.includes(':') && !named.startsWith('[') ? `[${named}]` : named
  return port === undefined ? bracketed : `${bracketed}:${text(`${name}.port`, port)}`
}

/** Messages never show a text, a number or a bigint: any of them may be the password. */
function text(name, value) {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean' || Number.isFinite(value)) return String(value)
  const found = typeof value === 'bigint' ? 'a bigint' : shown(value)
  const certificates = (name === 'ssl' || name === 'tls') && isObject(value)
  const hint = certificates ? '; certificates belong into the option tls' : ''
  return refuse(dotted('coordinator', name), `expected a text, a number, true or false, found ${found}${hint}`)
}

module.exports = { serverObject }
