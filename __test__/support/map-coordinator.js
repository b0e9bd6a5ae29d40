'use strict'

/**
 * A custom coordinator over a Map: what one on a database would do in transactions. It keeps what it was asked, and has a
 * clock of its own.
 */
class MapCoordinator {
  name = 'map'
  asked = []
  /** How far its clock is ahead of this host's. */
  aheadMs = 0
  #rows = new Map()

  async acquire(request) {
    this.asked.push(['acquire', request])
    const { machineIds, ttlMs, token } = request
    const now = this.#now()
    const machineId = this.#longestFree(machineIds, now)
    if (machineId === undefined) return null
    const end = now + ttlMs
    this.#rows.set(machineId, { token, end })
    return { machineId, now, end }
  }

  async renew(request) {
    this.asked.push(['renew', request])
    const { machineId, token, ttlMs } = request
    const now = this.#now()
    const row = this.#rows.get(machineId)
    if (row?.token !== token || row.end < now) return null
    row.end = Math.max(row.end, now + ttlMs)
    return { now, end: row.end }
  }

  async release(request) {
    this.asked.push(['release', request])
    const { machineId, token, lastUsed } = request
    const row = this.#rows.get(machineId)
    // The row stays: where the last lease ended is kept.
    if (row?.token === token) this.#rows.set(machineId, { token: null, end: Math.max(this.#now(), lastUsed) })
  }

  /** Takes a machine ID away from its holder, as an operator might. */
  evict(machineId) {
    this.#rows.get(machineId).token = null
  }

  /** What the functions of a name were called with. */
  requests(name) {
    return this.asked.filter(([asked]) => asked === name).map(([, request]) => request)
  }

  #longestFree({ from, to }, now) {
    const since = (machineId) => this.#rows.get(machineId)?.end ?? 0
    const all = Array.from({ length: to - from + 1 }, (_, index) => from + index)
    return all.filter((machineId) => since(machineId) < now).sort((one, other) => since(one) - since(other))[0]
  }

  #now() {
    return Date.now() + this.aheadMs
  }
}

module.exports = { MapCoordinator }
