'use strict'

const { join } = require('node:path')
const { setUp } = require('../../cli.js')
const { fencesOf } = require('../fences.js')
const { NOWHERE } = require('../port.js')
const { Server } = require('./server.js')

const NAME = 'mymaster'
/** For how long nobody answers before somebody else takes over. */
const DOWN_AFTER_MS = 500

/** A server, a replica, and a Sentinel who lets the replica take over. */
class Watched {
  #primary
  #replica
  #sentinel

  constructor(primary, replica, sentinel) {
    this.#primary = primary
    this.#replica = replica
    this.#sentinel = sentinel
  }

  static async create(folder) {
    const primary = await Server.start(join(folder, 'primary'), {})
    const replica = await primary.replica(join(folder, 'replica'))
    const settings = {
      sentinel: [
        `monitor ${NAME} 127.0.0.1 ${primary.port} 1`,
        `down-after-milliseconds ${NAME} ${DOWN_AFTER_MS}`,
        `failover-timeout ${NAME} 3000`
      ]
    }
    const sentinel = await Server.start(join(folder, 'sentinel'), settings, { sentinel: true })
    await sentinel.until(['SENTINEL', 'REPLICAS', NAME], 'master-link-status,ok')
    return new Watched(primary, replica, sentinel)
  }

  /** Sentinel says where to go: nobody stands in between. */
  address = { host: '127.0.0.1', port: NOWHERE }

  url(_port, parameters = '') {
    return `redis+sentinel://127.0.0.1:${this.#sentinel.port}/${NAME}${parameters}`
  }

  setup(agreement) {
    return setUp(this.url(), agreement)
  }

  async fences() {
    return fencesOf([...(await this.#primary.changes()), ...(await this.#replica.changes())])
  }

  /** The server that is used: the primary, while there is one. */
  get owner() {
    return this.#primary.running ? this.#primary : this.#replica
  }

  /** The replica hears of nothing more. */
  fallBehind() {
    return this.#primary.leaveBehind(this.#replica)
  }

  crash() {
    return this.#primary.stop('SIGKILL')
  }

  /** As an operator changes over: the one before becomes a replica. */
  async changeOver() {
    // It may not have found out yet that the replica is a good one.
    await this.#sentinel.until(['SENTINEL', 'FAILOVER', NAME], 'OK')
    await this.takenOver()
  }

  /** Waits until the replica has taken over. */
  async takenOver() {
    await this.#sentinel.until(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME], String(this.#replica.port))
    await this.#replica.until(['ROLE'], 'master')
  }

  /** Waits until the one before knows that it has been replaced. */
  demoted() {
    return this.#primary.until(['ROLE'], 'slave')
  }

  async end() {
    for (const server of [this.#sentinel, this.#replica, this.#primary]) await server.remove()
  }
}

module.exports = Watched
