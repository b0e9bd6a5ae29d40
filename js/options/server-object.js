'use strict'

const { filled, refuse, dotted, isObject, shown } = require('./check.js')
const { TYPES } = require('./servers.js')

/** What an object calls otherwise than a URL does. */
const URL_NAMES = {
  postgres: new Map([['database', 'dbname']]),
  mysql: new Map(),
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
    parameters: Object.entries(parameters).map(([name, value]) => {
      const option = dotted('coordinator', name)
      const isList = LISTS.includes(name) && Array.isArray(value)
      return [names.get(name) ?? name, isList ? list(option, value) : text(option, value)]
    })
  }
}

function list(option, servers) {
  if (servers.length === 0) refuse(option, 'expected at least one server, found an empty array')
  return servers.map((server, index) => address(`${option}[${index}]`, server)).join(',')
}

function address(option, server) {
  if (!isObject(server)) return named(option, server)
  const { host, port } = server
  const name = named(`${option}.host`, host)
  const bracketed = name.includes(':') && !name.startsWith('[') ? `[${name}]` : name
  return port === undefined ? bracketed : `${bracketed}:${text(`${option}.port`, port)}`
}

/** A server of a list: nothing would turn into a default. */
function named(option, value) {
  return typeof value === 'string' && value.trim() !== ''
    ? value
    : refuse(option, `expected a server like 'db-1:6379', found ${typeof value === 'string' ? "''" : kind(value)}`)
}

/** Messages never show a text, a number or a bigint: any of them may be the password. */
function text(option, value) {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean' || Number.isFinite(value)) return String(value)
  const certificates = /\.(ssl|tls)$/.test(option) && isObject(value)
  const hint = certificates ? '; certificates belong into the option tls' : ''
  return refuse(option, `expected a text, a number, true or false, found ${kind(value)}${hint}`)
}

function kind(value) {
  const hidden = typeof value === 'bigint' || Number.isFinite(value)
  return hidden ? `a ${typeof value}` : shown(value)
}

module.exports = { serverObject }
