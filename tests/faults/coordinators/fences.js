'use strict'

/**
 * The fence of each token. Its start are the token's last 8 bytes (milliseconds, big-endian); its end is the latest
 * expiry, or after a release one past the last use.
 *
 * @param {{ at: number, namespace: string, id: number, token: string, expires: number, released: boolean }[]} changes
 *   of leases, in any order
 * @returns {{ namespace: string, machineId: number, token: string, start: number, end: number }[]}
 */
function fencesOf(changes) {
  const fences = new Map()
  for (const { namespace, id: machineId, token, expires, released } of changes.toSorted((a, b) => a.at - b.at)) {
    const key = `${namespace} ${machineId} ${token}`
    const end = Math.floor(expires) + (released ? 1 : 0)
    const known = fences.get(key)
    if (!known) fences.set(key, { namespace, machineId, token, start: startIn(token), end })
    else known.end = released ? end : Math.max(known.end, end)
  }
  return [...fences.values()]
}

const startIn = (token) => Number(BigInt(`0x${token.slice(16)}`))

module.exports = { fencesOf }
