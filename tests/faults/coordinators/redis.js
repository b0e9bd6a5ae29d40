'use strict'

const { copyFileSync, mkdirSync, statSync, truncateSync } = require('node:fs')
const { join } = require('node:path')
const { setUp } = require('../cli.js')
const { fencesOf } = require('./fences.js')
const { NOWHERE } = require('./port.js')
const { RedisFraming } = require('./redis/framing.js')
const { program, Server, version } = require('./redis/server.js')

/** A registry's hash. */
const keyOf = (namespace) => `mintid:{${namespace}}`

const DUMP = 'dump.rdb'
/** The part of the append-only file that is written to. */
const LOG = 'appendonlydir/appendonly.aof.1.incr.aof'

/** One of as many parts of another application's data that together make a server drop keys. */
const [PART_BYTES, ROOM_BYTES] = [65_536, 8 * 1_048_576]
const CROWD = `redis.call('SETRANGE', KEYS[1], ${PART_BYTES - 1}, 'x') return redis.call('EXISTS', KEYS[2])`

/** A throw-away Redis or Valkey server for one scenario, and what can happen to it. */
class Redis {
  static server = true
  static framing = RedisFraming
  #server
  #servers
  #folder
  #made = 0

  constructor(server, folder) {
    this.#server = server
    this.#servers = [server]
    this.#folder = folder
  }

  static get title() {
    return version()
  }

  /** Why this machine cannot run it, or null. */
  static unavailable() {
    try {
      program()
      return null
    } catch (error) {
      return error.message
    }
  }

  /**
   * @param {string} folder for everything that it writes
   * @param {string} _shared
   * @param {{ load?: boolean, topology?: 'sentinel' | 'cluster', replicas?: number, settings?: object }}
   *   [options] `load`: a server as one would
   *   have it, that is not watched; `settings`: of its configuration file
   */
  static async create(folder, _shared, { load = false, topology, replicas, settings = {} } = {}) {
    if (topology) return require(`./redis/${topology}.js`).create(folder, { replicas })
    const more = load ? { bind: '0.0.0.0', 'protected-mode': 'no', maxclients: 2000 } : {}
    const server = await Server.start(join(folder, 'server'), { ...settings, ...more }, { watched: !load })
    return new Redis(server, folder)
  }

  /** Whether a write that it confirms (WAITAOF) is on its disk: earlier ones have no such word, some give it too early. */
  get keepsWord() {
    const [name, number] = version().split(' ')
    return name === 'Redis' && Number.parseFloat(number) >= 7.2 && number !== '7.4'
  }

  /** Where the server listens now, for the proxy in front of it: nowhere while it is down. */
  get address() {
    return { host: '127.0.0.1', port: this.#server.port ?? NOWHERE }
  }

  /** What a process gets as its `coordinator`, if the server is reached on this port. */
  url(port, parameters = '') {
    return `redis://127.0.0.1:${port}${parameters}`
  }

  /** Creates the registry, with nothing to wait for. */
  setup(agreement) {
    return setUp(this.url(this.#server.port), agreement)
  }

  /** The fences that the registry ever granted, whatever it forgot later. */
  async fences() {
    const changes = await Promise.all(this.#servers.map((server) => server.changes()))
    return fencesOf(changes.flat())
  }

  /** The server is killed: nothing is written that was not written yet. */
  crash() {
    return this.#server.stop('SIGKILL')
  }

  stop() {
    return this.#server.stop()
  }

  start() {
    return this.#server.start()
  }

  /** A replica: `fallBehind()` ends its following, `promote()` makes it the server that is used. */
  async replica() {
    const replica = await this.#server.replica(this.#next('replica'))
    this.#servers.push(replica)
    return {
      fallBehind: () => this.#server.leaveBehind(replica),
      promote: async () => {
        await replica.ask('REPLICAOF', 'NO', 'ONE')
        this.#server = replica
      }
    }
  }

  /** A copy of what a snapshot has. */
  async coldCopy() {
    const copy = this.#next('copy')
    await this.#server.ask('SAVE')
    mkdirSync(copy)
    copyFileSync(this.#server.file(DUMP), join(copy, DUMP))
    return copy
  }

  /** Starts another server on such a copy, in the place of this one. */
  async putBack(copy) {
    if (this.#server.running) await this.#server.stop('SIGKILL')
    this.#server = await Server.start(copy, {})
    this.#servers.push(this.#server)
  }

  /** Everything is gone, other applications' keys too. */
  async flush() {
    await this.#server.ask('FLUSHALL')
  }

  /** The registry is gone. */
  async deleteHash() {
    await this.#server.ask('DEL', keyOf('default'))
  }

  /** Only the incarnation is gone. */
  async forgetIncarnation() {
    await this.#server.ask('HDEL', keyOf('default'), 'incarnation')
  }

  async forgetScripts() {
    await this.#server.ask('SCRIPT', 'FLUSH')
  }

  /** The server closes every connection that was idle for so long. */
  closeIdle(seconds) {
    return this.#server.set('timeout', seconds)
  }

  /** How many connections were made so far. */
  async connections() {
    return Number(await this.#server.info('stats', 'total_connections_received'))
  }

  /** Another application writes until the server has dropped the registry. */
  async crowdOut() {
    const used = Number(await this.#server.info('memory', 'used_memory'))
    await this.#server.set('maxmemory-policy', 'allkeys-lru')
    await this.#server.set('maxmemory', used + ROOM_BYTES)
    for (let part = 0; ; part++) {
      if ((await this.#server.ask('EVAL', CROWD, 2, `app:${part}`, keyOf('default'))) === 0) return
    }
  }

  /** There is no room for anything more, and nothing is dropped. */
  async fillUp() {
    await this.#server.set('maxmemory-policy', 'noeviction')
    await this.#server.set('maxmemory', 1)
  }

  /** There is room again. */
  makeRoom() {
    return this.#server.set('maxmemory', 0)
  }

  /**
   * From here on the append-only file reaches no disk any more, for a power cut to come: while nobody asks for anything.
   *
   * @returns {Promise<number>} how much of it has
   */
  async stopSyncing() {
    await this.#server.set('appendfsync', 'always')
    await this.#server.ask('SET', 'app:mark', 1)
    await this.#server.set('appendfsync', 'no')
    return statSync(this.#server.file(LOG)).size
  }

  /** The server's machine dies, and is there again: with what had reached the disk. */
  async powerCut(synced) {
    await this.#server.stop('SIGKILL')
    truncateSync(this.#server.file(LOG), synced)
    await this.#server.start()
  }

  /** As many URLs of one registry, each by another of this machine's addresses. */
  urls(count) {
    const { port } = this.#server
    return Array.from({ length: count }, (_, index) => `redis://127.0.0.${1 + index}:${port}`)
  }

  /** How many commands were run so far, those of scripts too, and how many connections were made. */
  async statements() {
    const statements = Number(await this.#server.info('stats', 'total_commands_processed'))
    return { statements, connections: await this.connections() }
  }

  async end() {
    for (const server of this.#servers) await server.remove()
  }

  #next(name) {
    return join(this.#folder, `${name}-${++this.#made}`)
  }
}

module.exports = { Redis }
