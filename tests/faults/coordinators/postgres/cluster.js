'use strict'

const { execFile, execFileSync } = require('node:child_process')
const { chownSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync } = require('node:fs')
const { join } = require('node:path')
const process = require('node:process')
const { setTimeout: pause } = require('node:timers/promises')
const { promisify } = require('node:util')
const { now } = require('../../clock.js')
const { freePort } = require('../port.js')

const run = promisify(execFile)

/** Who may run a server if this is root: PostgreSQL refuses to be root's. */
const SYSTEM_USER = 'postgres'
const DEBIAN = '/usr/lib/postgresql'

const [LONGEST_MS, BETWEEN_MS] = [20_000, 20]

/** No machine crashes here, only servers: what they wrote to the system is kept without fsync too. */
const SETTINGS = `
fsync = off
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 800
timezone = 'UTC'
log_timezone = 'UTC'
log_error_verbosity = terse
shared_buffers = 32MB
`

/** One throw-away server: a data folder, a port, a log. */
class Cluster {
  /**
   * @param {string} folder the data folder's; its log stands beside it
   * @param {number} port
   */
  constructor(folder, port) {
    this.folder = folder
    this.port = port
    this.log = `${folder}.log`
  }

  /** Makes an empty cluster in a folder that does not exist yet. */
  static async create(folder) {
    await program('initdb', ['-D', folder, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'])
    const cluster = new Cluster(folder, await freePort())
    cluster.configure(SETTINGS)
    cluster.append('pg_hba.conf', 'host all all 127.0.0.0/8 trust\n')
    return cluster
  }

  /** A copy of this cluster, which must not run, in another folder and on another port. */
  async copy(folder) {
    copyFolder(this.folder, folder)
    return new Cluster(folder, await freePort())
  }

  /** Adds settings to its configuration: for the next start, or `reload()`. */
  configure(settings) {
    this.append('postgresql.conf', settings)
  }

  append(file, text) {
    execFileSync(...asOwner('sh', ['-c', 'cat >> "$0"', join(this.folder, file)]), { input: text, cwd: '/' })
  }

  start() {
    return program('pg_ctl', ['start', '-w', '-s', '-D', this.folder, '-l', this.log, '-o', `-p ${this.port}`])
  }

  /** @param {'fast' | 'immediate' | 'smart'} mode */
  stop(mode = 'fast') {
    return program('pg_ctl', ['stop', '-w', '-s', '-D', this.folder, '-m', mode])
  }

  /** Ends a standby's recovery: from here it is a primary. */
  promote() {
    return program('pg_ctl', ['promote', '-w', '-s', '-D', this.folder])
  }

  reload() {
    return program('pg_ctl', ['reload', '-s', '-D', this.folder])
  }

  get running() {
    return existsSync(join(this.folder, 'postmaster.pid'))
  }

  /** Runs SQL as the superuser, and gives the rows as lines of fields joined by `|`. */
  async sql(database, text, user = 'postgres') {
    const args = ['-X', '-A', '-t', '-q', '-v', 'ON_ERROR_STOP=1', '-d', this.#where(database, user), '-c', text]
    const { stdout } = await run(binary('psql'), args, { maxBuffer: 1 << 28 })
    return stdout.split('\n').filter((line) => line !== '')
  }

  /** Waits until SQL gives a row that begins with `t`. */
  async until(database, text) {
    const latest = now() + LONGEST_MS
    while (now() < latest) {
      const [row] = await this.sql(database, text)
      if (row?.startsWith('t')) return
      await pause(BETWEEN_MS)
    }
    throw new Error(`waited ${LONGEST_MS} ms in vain for: ${text}`)
  }

  dump(database, file) {
    return run(binary('pg_dump'), ['-d', this.#where(database), '-Fc', '-f', file])
  }

  /** Restores a dump over what is there. */
  restore(database, file) {
    return run(binary('pg_restore'), ['-d', this.#where(database), '--clean', '--if-exists', file])
  }

  /** A streaming replica of this cluster that follows it, in another folder. */
  async replica(folder) {
    const replica = new Cluster(folder, await freePort())
    const from = `host=127.0.0.1 port=${this.port} user=postgres`
    await program('pg_basebackup', ['-D', folder, '-d', from, '-R', '-X', 'stream', '-c', 'fast', '--no-sync'])
    await replica.start()
    await this.until('postgres', "select count(*) > 0 from pg_stat_replication where state = 'streaming'")
    return replica
  }

  /** All that its server wrote into its log. */
  logged() {
    return existsSync(this.log) ? readFileSync(this.log, 'utf8') : ''
  }

  async remove() {
    if (this.running) await this.stop('immediate')
    rmSync(this.folder, { recursive: true, force: true })
  }

  #where(database, user = 'postgres') {
    return `host=127.0.0.1 port=${this.port} user=${user} dbname=${database} connect_timeout=10`
  }
}

/** Copies a data folder with its owner and modes. */
function copyFolder(from, to) {
  cpSync(from, to, { recursive: true, preserveTimestamps: true, errorOnExist: true, force: false })
  if (isRoot()) execFileSync('chown', ['-R', `${SYSTEM_USER}:`, to])
  execFileSync('chmod', ['0700', to])
}

/** A folder in which the servers' owner may work. */
function ownedFolder(folder) {
  mkdirSync(folder, { recursive: true })
  if (isRoot()) chownSync(folder, Number(idOf('-u')), Number(idOf('-g')))
  return folder
}

const idOf = (flag) => execFileSync('id', [flag, SYSTEM_USER], { encoding: 'utf8' })

const isRoot = () => process.getuid() === 0

/** One of PostgreSQL's programs, run as who may run a server. */
function program(name, args) {
  // A server that is started keeps its standard streams: none of them may be a pipe that somebody waits for.
  const [command, all] = asOwner(binary(name), args)
  return new Promise((resolve, reject) => {
    const child = execFile(command, all, { cwd: '/' }, (error, stdout, stderr) => {
      if (error) reject(new Error(`${name} ${args.join(' ')}: ${stderr || stdout || error.message}`))
      else resolve(stdout)
    })
    child.once('exit', () => {
      child.stdout.destroy()
      child.stderr.destroy()
    })
  })
}

function asOwner(command, args) {
  if (!isRoot()) return [command, args]
  return ['setpriv', ['--reuid', SYSTEM_USER, '--regid', SYSTEM_USER, '--clear-groups', command, ...args]]
}

let folderOfBinaries

/** The path of one of PostgreSQL's programs; throws if there is no server on this machine. */
function binary(name) {
  folderOfBinaries ??= candidates().find((folder) => existsSync(join(folder, 'initdb')))
  if (!folderOfBinaries) throw new Error('no PostgreSQL server on this machine (Debian: apt-get install postgresql)')
  return join(folderOfBinaries, name)
}

/** Where the programs may be: PG_BINDIR's folder, pg_config's, and Debian's, the newest version first. */
function candidates() {
  const { PG_BINDIR } = process.env
  if (PG_BINDIR) return [PG_BINDIR]
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => b - a) : []
  const found = versions.map((version) => join(DEBIAN, version, 'bin'))
  try {
    found.unshift(execFileSync('pg_config', ['--bindir'], { encoding: 'utf8' }).trim())
  } catch {
    // Not installed: Debian's server packages come without it.
  }
  return found
}

module.exports = { Cluster, binary, copyFolder, ownedFolder, run }
