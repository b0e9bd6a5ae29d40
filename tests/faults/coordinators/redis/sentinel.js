'use strict'

const { join } = require('node:path')
const { setUp } = require('../../cli.js')
const { fencesOf } = require('../fences.js')
const { NOWHERE } = require('../port.js')
const { Server } = require('./server.js')

const NAME = 'mymaster'
/** For how long nobody answers before somebody else takes over. */
const DOWN_AFTER_MS = 500
const WHERE = ['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME]

/** A primary, its replicas, and a Sentinel who lets one of them take over. */
class Watched {
  #primary
  #replicas
  #sentinel
  /** The server that is used. */
  owner

  constructor(primary, replicas, sentinel) {
    this.#primary = primary
    this.#replicas = replicas
    this.#sentinel = sentinel
    this.owner = primary
  }

  static async create(folder, { replicas: count = 1 }) {
    const primary = await Server.start(join(folder, 'primary'), {})
    const replicas = []
    while (replicas.length < count) replicas.push(await primary.replica(join(folder, `replica-${replicas.length}`)))
    const settings = {
      sentinel: [
        `monitor ${NAME} 127.0.0.1 ${primary.port} 1`,
        `down-after-milliseconds ${NAME} ${DOWN_AFTER_MS}`,
        `failover-timeout ${NAME} 3000`
      ]
    }
    const sentinel = await Server.start(join(folder, 'sentinel'), settings, { sentinel: true })
    const all = (answer) => String(answer).split('master-link-status,ok').length === count + 1
    await sentinel.until(['SENTINEL', 'REPLICAS', NAME], all)
    return new Watched(primary, replicas, sentinel)
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
    const changes = await Promise.all([this.#primary, ...this.#replicas].map((server) => server.changes()))
    return fencesOf(changes.flat())
  }

  /** No replica hears of anything more. */
  fallBehind() {
    return this.#primary.leaveBehind(...this.#replicas)
  }

  crash() {
    return this.#primary.stop('SIGKILL')
  }

  /** As an operator changes over: the one before becomes a replica, some time later. */
  async changeOver() {
    // Sentinel may not have found out yet that there is a good replica.
    await this.#sentinel.until(['SENTINEL', 'FAILOVER', NAME], 'OK')
    await this.takenOver()
  }

  /** Waits until a replica has taken over. */
  async takenOver() {
    let owner
    await this.#sentinel.until(WHERE, ([, port]) => {
      owner = this.#replicas.find((replica) => replica.port === Number(port))
      return owner !== undefined
    })
    await owner.until(['ROLE'], 'master')
    this.owner = owner
  }

  /** Waits until the one before knows that it has been replaced. */
  demoted() {
    return this.#primary.until(['ROLE'], 'slave')
  }

  async end() {
    for (const server of [this.#sentinel, ...this.#replicas, this.#primary]) await server.remove()
  }
}

module.exports = Watched
