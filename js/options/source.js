'use strict'

const { refuse, unexpected, record, integer, oneOf, isObject, shown } = require('./check.js')
const { TYPES, serverOfScheme } = require('./servers.js')

const WORDS = ['local', 'none']
const SCHEME = /^([a-z][a-z0-9+.-]{0,31}):\/\//i
/** Coordinators that cannot guard a machine ID: other hosts would not know of it. */
const UNGUARDING = { local: "'local'", none: "'none'", directory: 'a directory' }
const OF_LAYOUT = 'the machine IDs of the layout'
const EXPECTED =
  "expected 'local', 'none', or a URL like postgres://db.internal/app, mysql://db.internal/app, redis://cache.internal or file:///var/lib/mintid"
const EXPECTED_TO_GUARD =
  'expected a server that all who use the machine IDs share, like postgres://db.internal/app, mysql://db.internal/app or redis://cache.internal'

/**
 * Where machine IDs come from: exactly one of `coordinator` and `machineId`, the latter with or without a `guard`.
 *
 * @param {object} options the user's generator options
 * @param {number} machines how many machine IDs the layout has
 * @returns {{ coordinator: string, directory?: string, url?: string, parameters?: [string, string][], functions?: object,
 *   name?: string, schema?: string, dialect?: string, machineId?: object, machineIds?: { from: number, to: number } }} `machineId` still names
 *   its environment variable or hosts: see `resolveMachineId`; beside a server as the coordinator it is guarded there
 */
function sourceOptions({ coordinator, machineId, guard, machineIds }, machines) {
  if (machineId !== undefined) {
    if (coordinator !== undefined) {
      const hint = 'to have a machine ID of yours guarded, name the coordinator in guard'
      refuse('machineId', `expected either coordinator or machineId, found both; ${hint}`)
    }
    if (machineIds !== undefined) refuse('machineIds', 'expected none beside machineId, which names the one ID itself')
    if (guard === undefined) return { coordinator: 'fixed', machineId: machineIdOption(machineId, machines) }
    // The highest machine ID of a registry is the database's.
    return { ...guardOption(guard), machineId: machineIdOption(machineId, machines - 1) }
  }
  if (guard !== undefined) refuse('guard', 'expected machineId beside it, which is what it guards, found none')
  if (coordinator === undefined) refuse('coordinator', `${EXPECTED} (or machineId instead), found neither`)
  return { ...coordinatorOption(coordinator), machineIds: machineIdsOption(machineIds, machines) }
}

/** A coordinator in the option `guard`; what is wrong with it is said of that option. */
function guardOption(value) {
  const source = guarding(() => coordinatorOption(value))
  const found = UNGUARDING[source.coordinator]
  if (found !== undefined) refuse('guard', `${EXPECTED_TO_GUARD}, found ${found}`)
  return source
}

function guarding(read) {
  try {
    return read()
  } catch (error) {
    const { ConfigError } = require('../errors.js')
    if (!(error instanceof ConfigError) || !/^coordinator\b/.test(error.option)) throw error
    const ofGuard = (text) => text.replace(/^coordinator\b/, 'guard').replace(EXPECTED, EXPECTED_TO_GUARD)
    throw new ConfigError(ofGuard(error.message), { option: ofGuard(error.option), cause: error.cause })
  }
}

/** Messages never show the value: a coordinator's URL may hold a password. */
function coordinatorOption(value) {
  if (isObject(value)) return coordinatorObject(value)
  if (typeof value !== 'string') refuse('coordinator', `${EXPECTED}, found ${shown(value)}`)
  if (WORDS.includes(value)) return { coordinator: value }
  const scheme = SCHEME.exec(value)?.[1].toLowerCase()
  if (scheme === 'file') return { coordinator: 'directory', directory: directoryOf(value) }
  const server = serverOfScheme(scheme)
  if (server !== undefined) return { coordinator: server, url: value }
  const { mistaken } = require('./mistaken.js')
  return refuse('coordinator', `${EXPECTED}${mistaken(value, scheme, WORDS)}`)
}

function coordinatorObject(value) {
  const { type } = value
  const lent = require('./lent.js').lentBy(value)
  if (lent !== undefined) return lent
  const { isCustom, customObject } = require('./custom.js')
  if (isCustom(value)) return customObject(value)
  if (TYPES.has(type)) return require('./server-object.js').serverObject(value)
  const types = [...TYPES.keys()]
  if (!('type' in value)) {
    const all = types.map((type) => `'${type}'`).join(', ')
    refuse('coordinator', `${EXPECTED}, or an object with a type: ${all}, or one with acquire, renew and release`)
  }
  return oneOf(type, 'coordinator.type', types)
}

function directoryOf(value) {
  const bad = (found, cause) => refuse('coordinator', `expected file:/// and a directory, found ${found}`, cause)
  if (!/^file:\/\/\//i.test(value)) bad('one with a host or a relative path (three slashes make it absolute)')
  if (/[?#]/.test(value)) bad("one with '?' or '#' (write %3F and %23 for these characters)")
  let directory
  try {
    directory = require('node:url').fileURLToPath(value)
  } catch (cause) {
    bad('one that is no path on this system', cause)
  }
  if (directory.includes('\0')) bad('one with a NUL character')
  return directory
}

function machineIdsOption(machineIds, machines) {
  if (machineIds === undefined) return undefined
  record(machineIds, 'machineIds', ['from', 'to'])
  const { from, to } = machineIds
  integer(from, 'machineIds.from', 0, machines - 1, OF_LAYOUT)
  integer(to, 'machineIds.to', from, machines - 1, `${OF_LAYOUT} that are not below machineIds.from`)
  return { from, to }
}

function machineIdOption(value, machines) {
  if (typeof value === 'number') return { number: integer(value, 'machineId', 0, machines - 1, OF_LAYOUT) }
  if (!isObject(value)) unexpected('machineId', 'a number, { env: name } or { hosts: names }', value)
  record(value, 'machineId', ['env', 'hosts'])
  const { env, hosts } = value
  if ((env === undefined) === (hosts === undefined)) refuse('machineId', 'expected exactly one of env and hosts')
  return env === undefined ? { hosts: hostsOption(hosts, machines) } : { env: envOption(env) }
}

function envOption(env) {
  return typeof env === 'string' ? env : unexpected('machineId.env', "an environment variable's name", env)
}

function hostsOption(hosts, machines) {
  const expected = `1 to ${machines} distinct host names or addresses`
  if (!Array.isArray(hosts)) unexpected('machineId.hosts', expected, hosts)
  if (hosts.length < 1 || hosts.length > machines) unexpected('machineId.hosts', expected, hosts.length)
  for (const [index, host] of hosts.entries()) {
    const option = `machineId.hosts[${index}]`
    if (typeof host !== 'string' || host === '') unexpected(option, 'a host name or an address', host)
    if (hosts.indexOf(host) !== index) unexpected(option, 'distinct hosts', host)
  }
  return [...hosts]
}

module.exports = { sourceOptions }
