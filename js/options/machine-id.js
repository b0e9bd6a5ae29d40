'use strict'

/**
 * Reads what a machine ID by hand depends on: the environment variable, or this host's names. Only called when a lease
 * is wanted, so that building a generator reads nothing.
 *
 * @param {{ number?: number, env?: string, hosts?: string[] } | undefined} machineId
 * @returns {object | undefined} as native code takes it
 */
function resolveMachineId(machineId) {
  if (machineId?.env !== undefined) {
    return { env: { name: machineId.env, value: require('node:process').env[machineId.env] } }
  }
  if (machineId?.hosts !== undefined) return { hosts: { list: machineId.hosts, own: ownNames() } }
  return machineId
}

function ownNames() {
  const { hostname, networkInterfaces } = require('node:os')
  const addresses = Object.values(networkInterfaces())
    .flat()
    .filter(({ internal }) => !internal)
  return [hostname(), ...addresses.map(({ address }) => address)]
}

module.exports = { resolveMachineId }
