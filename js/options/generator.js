'use strict'

const { record, refuse, unexpected, isBytes } = require('./check.js')
const { sourceOptions } = require('./source.js')
const { serverOptions } = require('./server.js')
const { leaseOptions } = require('./lease.js')
const { layoutOptions } = require('./layout.js')

const NAMES = [
  'coordinator',
  'machineId',
  'guard',
  'machineIds',
  'namespace',
  'lease',
  'tls',
  'incarnation',
  'key',
  'layout'
]
const SHORTEST_KEY = 32

/**
 * Checks a generator's options and fills in the defaults. Pure: reads neither environment nor host.
 *
 * @param {object} options the user's
 * @returns {object} what native code takes, beside `machineId` (see `resolveMachineId`) and `acquireTimeoutMs`
 * @throws {ConfigError} with the option's dotted name
 */
function generatorOptions(options) {
  record(options, '', NAMES)
  const layout = layoutOptions(options.layout)
  const source = sourceOptions(options, 2 ** layout.machine)
  const { acquireTimeoutMs, ...lease } = leaseOptions(options.lease, source.coordinator, options.guard !== undefined)
  return {
    ...source,
    ...serverOptions(options, source),
    namespace: namespaceOption(options.namespace),
    lease,
    key: keyOption(options.key),
    layout,
    acquireTimeoutMs
  }
}

function namespaceOption(namespace = 'default') {
  const expected = "1 to 64 characters of A-Z a-z 0-9 . _ -, and neither '.' nor '..'"
  if (typeof namespace !== 'string' || !/^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/.test(namespace)) {
    unexpected('namespace', expected, namespace)
  }
  return namespace
}

/** A copy, so that the caller may wipe its own. Messages show nothing but the size. */
function keyOption(key) {
  if (key === undefined) return undefined
  if (typeof key !== 'string' && !isBytes(key)) {
    refuse('key', `expected a string or a Uint8Array, found a value of type ${typeof key}`)
  }
  const bytes = typeof key === 'string' ? new TextEncoder().encode(key) : key
  if (bytes.length < SHORTEST_KEY) {
    refuse('key', `expected at least ${SHORTEST_KEY} bytes, found ${bytes.length}; \`npx mintid key\` makes one`)
  }
  return Uint8Array.from(bytes)
}

module.exports = { generatorOptions }
