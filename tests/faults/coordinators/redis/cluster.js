'use strict'

const { join } = require('node:path')
const { setUp } = require('../../cli.js')
const { fencesOf } = require('../fences.js')
const { NOWHERE, freePort } = require('../port.js')
const { Server } = require('./server.js')

const [NODES, SLOTS] = [3, 16_384]
const KEY = 'mintid:{default}'

/** Three nodes that share the slots, and a replica of the one that has the registry. */
class Cluster {
  #nodes
  #first
  #replica

  constructor(nodes, first, replica) {
    this.#nodes = nodes
    this.#first = first
    this.#replica = replica
  }

  static async create(folder) {
    const nodes = []
    for (let index = 0; index <= NODES; index++) nodes.push(await node(join(folder, `node-${index}`)))
    const [replica, ...owners] = nodes
    for (const [index, owner] of owners.entries()) {
      const [first, next] = [index, index + 1].map((part) => Math.ceil((part * SLOTS) / NODES))
      await owner.ask('CLUSTER', 'ADDSLOTSRANGE', first, next - 1)
      await owner.ask('CLUSTER', 'MEET', '127.0.0.1', replica.port, replica.bus)
    }
    for (const server of nodes) {
      await server.until(['CLUSTER', 'INFO'], 'cluster_state:ok')
      await server.until(['CLUSTER', 'INFO'], `cluster_known_nodes:${nodes.length}`)
    }
    const slot = await replica.ask('CLUSTER', 'KEYSLOT', KEY)
    const owner = owners[Math.floor((slot * NODES) / SLOTS)]
    await replica.ask('CLUSTER', 'REPLICATE', await owner.ask('CLUSTER', 'MYID'))
    await replica.until(['INFO', 'replication'], 'master_link_status:up')
    for (const server of owners) await server.until(['CLUSTER', 'NODES'], 'slave')
    return new Cluster(nodes, owner, replica)
  }

  /** The nodes say where to go: nobody stands in between. */
  address = { host: '127.0.0.1', port: NOWHERE }

  url(_port, parameters = '') {
    const nodes = this.#nodes.filter(({ running }) => running).map(({ port }) => `127.0.0.1:${port}`)
    return `redis+cluster://${nodes.join(',')}${parameters}`
  }

  setup(agreement) {
    return setUp(this.url(), agreement)
  }

  async fences() {
    const changes = await Promise.all(this.#nodes.map((server) => server.changes()))
    return fencesOf(changes.flat())
  }

  /** The node that has the registry. */
  get owner() {
    return this.#first.running ? this.#first : this.#replica
  }

  /** The replica hears of nothing more. */
  fallBehind() {
    return this.#first.leaveBehind(this.#replica)
  }

  /** The node that has the registry is killed. */
  crash() {
    return this.#first.stop('SIGKILL')
  }

  /** Waits until the replica has taken over, and the others know. */
  async takenOver() {
    await this.#replica.until(['ROLE'], 'master')
    for (const server of this.#nodes) if (server.running) await server.until(['CLUSTER', 'INFO'], 'cluster_state:ok')
  }

  async end() {
    for (const server of this.#nodes) await server.remove()
  }
}

async function node(folder) {
  const bus = await freePort()
  const server = await Server.start(folder, {
    'cluster-enabled': 'yes',
    'cluster-port': bus,
    'cluster-node-timeout': 1000,
    'cluster-replica-validity-factor': 0
  })
  return Object.assign(server, { bus })
}

module.exports = Cluster
