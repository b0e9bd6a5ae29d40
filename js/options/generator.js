'use strict'

const { record, unexpected } = require('./check.js')
const { keyOptions } = require('./keys.js')
const { sourceOptions } = require('./source.js')
const { serverOptions } = require('./server.js')
const { leaseOptions } = require('./lease.js')
const { layoutOptions, machinesOf } = require('./layout.js')

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
  'keys',
  'cipherKeys',
  'ciphers',
  'layout'
]

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
  const source = sourceOptions(options, machinesOf(layout))
  const { acquireTimeoutMs, ...lease } = leaseOptions(options.lease, source.coordinator, options.guard !== undefined)
  return {
    ...source,
    ...serverOptions(options, source),
    namespace: namespaceOption(options.namespace),
    lease,
    ...keyOptions(options),
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

module.exports = { generatorOptions }
