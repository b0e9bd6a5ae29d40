'use strict'

const { join } = require('node:path')
const { setUp } = require('../cli.js')
const { fencesOf } = require('./fences.js')
const { COMMITTED, INSTALL, changesIn } = require('./postgres/audit.js')
const { Cluster, binary, copyFolder, ownedFolder } = require('./postgres/cluster.js')
const { PostgresFraming } = require('./postgres/framing.js')

/** The database of a scenario, and its owner, as whom mintid connects: it may create tables there, and no more. */
const [DATABASE, ROLE] = ['app', 'app']

/** Several of this machine's own addresses lead to it, so that one process can hold several leases of one registry. */
const FOR_LOAD = `
fsync = on
listen_addresses = '*'
shared_preload_libraries = 'pg_stat_statements'
`

/** The longest that is allowed: what `synchronous_commit = off` may lose in a crash. */
const LAZY_WRITER = "wal_writer_delay = '10s'\nwal_writer_flush_after = 0\ncommit_delay = 0\n"

let template

/** A throw-away PostgreSQL server for one scenario, and what can happen to it. */
class Postgres {
  static title = 'PostgreSQL'
  static server = true
  static framing = PostgresFraming
  #cluster
  #clusters
  #folder
  #made = 0

  constructor(cluster, folder) {
    this.#cluster = cluster
    this.#clusters = [cluster]
    this.#folder = folder
  }

  /** Why this machine cannot run it, or null. */
  static unavailable() {
    try {
      binary('initdb')
      return null
    } catch (error) {
      return error.message
    }
  }

  /**
   * @param {string} folder for everything that it writes
   * @param {string} shared a folder for all scenarios of this run
   * @param {{ load?: boolean }} [options] `load`: a server as one would have it, that counts and is not watched
   */
  static async create(folder, shared, { load = false } = {}) {
    ownedFolder(shared)
    template ??= Cluster.create(join(shared, 'template'))
    const cluster = await (await template).copy(join(ownedFolder(folder), 'primary'))
    if (load) cluster.configure(FOR_LOAD)
    await cluster.start()
    await cluster.sql('postgres', `create role ${ROLE} login`)
    await cluster.sql('postgres', `create database ${DATABASE} owner ${ROLE}`)
    if (load) await cluster.sql(DATABASE, 'create extension pg_stat_statements')
    else await cluster.sql(DATABASE, INSTALL)
    return new Postgres(cluster, folder)
  }

  /** Where the server listens now, for the proxy in front of it. */
  get address() {
    return { host: '127.0.0.1', port: this.#cluster.port }
  }

  /** What a process gets as its `coordinator`, if the server is reached on this port. */
  url(port, parameters = '') {
    return `postgres://${ROLE}@127.0.0.1:${port}/${DATABASE}${parameters}`
  }

  /** Creates the registry, with nothing to wait for. */
  setup(agreement) {
    return setUp(this.url(this.#cluster.port), agreement)
  }

  /** The fences that the registry granted; `forgets`: those that it forgot later count too. */
  async fences({ forgets = false } = {}) {
    if (forgets) return fencesOf(this.#clusters.flatMap((cluster) => changesIn(cluster.logged())))
    return fencesOf((await this.#cluster.sql(DATABASE, COMMITTED)).map((row) => JSON.parse(row)))
  }

  /** The server is killed: nothing is written that was not written yet. */
  crash() {
    return this.#cluster.stop('immediate')
  }

  stop() {
    return this.#cluster.stop('fast')
  }

  start() {
    return this.#cluster.start()
  }

  /** Sessions of mintid's role get a time zone of their own. */
  async setTimeZone(zone) {
    await this.#cluster.sql('postgres', `alter role ${ROLE} set timezone = '${zone}'`)
  }

  /** A commit is confirmed up to thirty seconds before it is safe. */
  async confirmEarly() {
    await this.#cluster.sql('postgres', `alter role ${ROLE} set synchronous_commit = off`)
    this.#cluster.configure(LAZY_WRITER)
    await this.#cluster.reload()
  }

  /** A streaming replica: `fallBehind()` ends its streaming, `promote()` makes it the server that is used. */
  async replica() {
    const replica = await this.#cluster.replica(this.#next('replica'))
    this.#clusters.push(replica)
    return {
      fallBehind: async () => {
        await replica.sql('postgres', "alter system set primary_conninfo = ''")
        await replica.reload()
        await replica.until('postgres', 'select count(*) = 0 from pg_stat_wal_receiver')
      },
      promote: async () => {
        await replica.promote()
        this.#cluster = replica
      }
    }
  }

  /** A dump of the database. */
  async dump() {
    const file = this.#next('dump')
    await this.#cluster.dump(DATABASE, file)
    return file
  }

  /** Restores a dump over the database that it was made of. */
  restore(file) {
    return this.#cluster.restore(DATABASE, file)
  }

  /** Restores a dump into another database of this server, which then takes the first one's name. */
  async restoreElsewhere(file) {
    const other = `${DATABASE}_restored`
    const sql = (text) => this.#cluster.sql('postgres', text)
    await sql(`create database ${other} owner ${ROLE}`)
    await this.#cluster.restore(other, file)
    await sql(`alter database ${DATABASE} with allow_connections false`)
    await sql(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${DATABASE}'`)
    await sql(`alter database ${DATABASE} rename to ${DATABASE}_before`)
    await sql(`alter database ${other} rename to ${DATABASE}`)
  }

  /** A copy of the data folder, made while the server is down. */
  async coldCopy() {
    const copy = this.#next('copy')
    await this.#cluster.stop('fast')
    copyFolder(this.#cluster.folder, copy)
    await this.#cluster.start()
    return copy
  }

  /** Puts a copy of the data folder in the place of the server's. */
  async putBack(copy) {
    if (this.#cluster.running) await this.#cluster.stop('immediate')
    const restored = new Cluster(copy, this.#cluster.port)
    await restored.start()
    this.#clusters.push(restored)
    this.#cluster = restored
  }

  /** The leases are gone, and with `everything` all that mintid keeps; whoever comes first makes them again. */
  async wipe({ everything = false } = {}) {
    const tables = everything ? 'mintid_leases, mintid_registry, mintid_incarnation' : 'mintid_leases'
    await this.#cluster.sql(DATABASE, `drop table ${tables}`)
  }

  /** Only the incarnation is gone, as on hosts that scale to zero. */
  async forgetIncarnation() {
    await this.#cluster.sql(DATABASE, 'truncate mintid_incarnation')
  }

  /** As many URLs of one registry, each by another of this machine's addresses. */
  urls(count) {
    const { port } = this.#cluster
    return Array.from({ length: count }, (_, index) => `postgres://${ROLE}@127.0.0.${1 + index}:${port}/${DATABASE}`)
  }

  /** How many statements mintid's role ran so far, and how many connections it made. */
  async statements() {
    const [row] = await this.#cluster.sql(
      DATABASE,
      `select (select coalesce(sum(calls), 0) from pg_stat_statements where userid = '${ROLE}'::regrole),
        (select sessions from pg_stat_database where datname = '${DATABASE}')`
    )
    const [statements, connections] = row.split('|').map(Number)
    return { statements, connections }
  }

  async end() {
    for (const cluster of this.#clusters) await cluster.remove()
  }

  #next(name) {
    return join(this.#folder, `${name}-${++this.#made}`)
  }
}

module.exports = { Postgres }
