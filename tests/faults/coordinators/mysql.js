'use strict'

const { cpSync, mkdirSync } = require('node:fs')
const { join } = require('node:path')
const { setUp } = require('../cli.js')
const { fencesOf } = require('./fences.js')
const { MysqlFraming } = require('./mysql/framing.js')
const { REPLICATION, Server, version } = require('./mysql/server.js')

/** The database of a scenario, and as whom mintid connects: it may do everything there, and nothing elsewhere. */
const [DATABASE, USER] = ['app', 'app']

const PREPARE = `
create database ${DATABASE};
create user '${USER}'@'%' identified by '';
grant all on ${DATABASE}.* to '${USER}'@'%';
create user '${REPLICATION}'@'%' identified by '';
grant replication slave on *.* to '${REPLICATION}'@'%'`

/** A zone that is always 14 h ahead; servers come without any. */
const ZONE_ID = 1
const makeZone = (name) => `
insert into mysql.time_zone (time_zone_id, use_leap_seconds) values (${ZONE_ID}, 'N');
insert into mysql.time_zone_name values ('${name}', ${ZONE_ID});
insert into mysql.time_zone_transition_type values (${ZONE_ID}, 0, ${14 * 3600}, 0, '+14')`

let template

/** A throw-away MariaDB or MySQL server for one scenario, and what can happen to it. */
class Mysql {
  static server = true
  static framing = MysqlFraming
  /** What is its own: protocol, clock, incarnation, binary log. The rest is as on PostgreSQL. */
  static short = ['server-killed', 'repeated', 'time-zone', 'leases-dropped']
  /** Of scenarios in which a server starts: nothing is leased in its first two seconds, and holders shall outlast that. */
  static startLease = { ttlMs: 8000, firstTtlMs: 7000 }
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
      version()
      return null
    } catch (error) {
      return error.message
    }
  }

  /**
   * @param {string} folder for everything that it writes
   * @param {string} shared a folder for all scenarios of this run
   */
  static async create(folder, shared) {
    mkdirSync(folder, { recursive: true })
    mkdirSync(shared, { recursive: true })
    template ??= Server.template(join(shared, 'mysql'))
    const server = await Server.copy(await template, join(folder, 'primary'))
    await server.start()
    await server.sql(PREPARE)
    await server.settle()
    return new Mysql(server, folder)
  }

  /** Where the server listens now, for the proxy in front of it. */
  get address() {
    return { host: '127.0.0.1', port: this.#server.port }
  }

  /** What a process gets as its `coordinator`, if the server is reached on this port; the proxy cannot look into TLS. */
  url(port) {
    return `mysql://${USER}@127.0.0.1:${port}/${DATABASE}?ssl-mode=DISABLED`
  }

  /** Creates the registry, with nothing to wait for. */
  setup(agreement) {
    return setUp(this.url(this.#server.port), agreement)
  }

  /** The fences that the registry ever granted, whatever it forgot later. */
  async fences() {
    const changes = await Promise.all(this.#servers.map((server) => server.changes()))
    // One server after the other: none of them is used again.
    return fencesOf(changes.flat().map((change, at) => ({ ...change, at })))
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

  /** Sessions get another time zone unless they take one themselves. */
  async setTimeZone(zone) {
    await this.#server.sql(`${makeZone(zone)}; set global time_zone = '${zone}'`)
  }

  /** A commit is confirmed long before it is safe. */
  async flushLate() {
    if (this.#server.losesNothing) throw new Error('MariaDB loses nothing in /dev/shm: TMPDIR must be another folder')
    await this.#server.sql('set global innodb_flush_log_at_trx_commit = 0, global innodb_flush_log_at_timeout = 2700')
  }

  /** A replica: `fallBehind()` ends its following, `promote()` makes it the server that is used. */
  async replica() {
    const followed = this.#server
    const replica = await followed.replica(await template, this.#next('replica'), this.#servers.length + 1)
    this.#servers.push(replica)
    await replica.follows(followed)
    return {
      fallBehind: async () => {
        await replica.follows(followed)
        await replica.leave()
      },
      promote: async () => {
        await replica.promote()
        this.#server = replica
      }
    }
  }

  /** A dump of the database. */
  async dump() {
    const file = this.#next('dump')
    await this.#server.dump(DATABASE, file)
    return file
  }

  /** Restores a dump over the database that it was made of. */
  restore(file) {
    return this.#server.restore(DATABASE, file)
  }

  /** Restores a dump into another database of this server, whose tables then change places with those of the first one. */
  async restoreElsewhere(file) {
    const [other, before] = [`${DATABASE}_restored`, `${DATABASE}_before`]
    await this.#server.sql(`create database ${other}; create database ${before}`)
    await this.#server.restore(other, file)
    const moves = ['mintid_leases', 'mintid_registry'].flatMap((table) => [
      `${DATABASE}.${table} to ${before}.${table}`,
      `${other}.${table} to ${DATABASE}.${table}`
    ])
    await this.#server.sql(`rename table ${moves.join(', ')}`)
  }

  /** A copy of the data folder, made while the server is down. */
  async coldCopy() {
    const copy = this.#next('copy')
    await this.#server.stop()
    cpSync(this.#server.data, copy, { recursive: true, preserveTimestamps: true })
    await this.#server.start()
    return copy
  }

  /** Puts a copy of the data folder in the place of the server's. */
  async putBack(copy) {
    if (this.#server.running) await this.#server.stop('SIGKILL')
    const { port, id } = this.#server
    this.#server = await Server.copy(copy, this.#next('restored'), { port, id })
    this.#servers.push(this.#server)
    await this.#server.start()
  }

  /** The leases are gone, and with `everything` all that mintid keeps; whoever comes first makes them again. */
  async wipe({ everything = false } = {}) {
    await this.#server.sql(`drop table ${everything ? 'mintid_leases, mintid_registry' : 'mintid_leases'}`, DATABASE)
  }

  /** Only the incarnation is gone. */
  async forgetIncarnation() {
    await this.#server.sql('update mintid_registry set incarnation = null', DATABASE)
  }

  async end() {
    for (const server of this.#servers) await server.remove()
  }

  #next(name) {
    return join(this.#folder, `${name}-${++this.#made}`)
  }
}

module.exports = { Mysql }
