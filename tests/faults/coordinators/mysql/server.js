'use strict'

const { execFile, execFileSync, spawn } = require('node:child_process')
const { once } = require('node:events')
const { createReadStream, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync } = require('node:fs')
const { delimiter, join } = require('node:path')
const process = require('node:process')
const { setTimeout: pause } = require('node:timers/promises')
const { promisify } = require('node:util')
const { now } = require('../../clock.js')
const { freePort } = require('../port.js')
const { changesIn } = require('./audit.js')

const run = promisify(execFile)

const [LONGEST_MS, BETWEEN_MS] = [60_000, 20]

/** As whom a replica comes. */
const REPLICATION = 'replication'

/** No machine crashes here, only servers: what they wrote to the system is kept without fsync too. */
const SETTINGS = {
  'bind-address': '127.0.0.1',
  'skip-name-resolve': 'ON',
  'innodb-buffer-pool-size': '16M',
  'innodb-flush-method': 'nosync',
  'max-connections': 800,
  'binlog-format': 'ROW',
  'sync-binlog': 0
}
const OF_MARIADB = { 'innodb-log-file-size': '8M' }
const OF_MYSQL = {
  basedir: '/usr',
  mysqlx: 'OFF',
  'secure-file-priv': 'NULL',
  'log-replica-updates': 'OFF',
  'innodb-redo-log-capacity': '8M'
}

/** One throw-away server: a folder with its data and its binary log, a port, a process. Everybody on its socket is root. */
class Server {
  #folder
  #id
  #process = null

  /**
   * @param {string} folder its own
   * @param {{ port: number, id?: number }} place
   */
  constructor(folder, { port, id = 1 }) {
    mkdirSync(join(folder, 'binlog'), { recursive: true })
    this.#folder = folder
    this.#id = id
    this.port = port
  }

  /** The data of a server that nobody has used yet, in a folder that does not exist yet. */
  static async template(folder) {
    const data = `--datadir=${folder}`
    const [name, args] = isMariadb()
      ? ['mariadb-install-db', [...AS_ROOT, '--auth-root-authentication-method=normal', '--skip-test-db', data]]
      : ['mysqld', [...AS_ROOT, '--initialize-insecure', '--basedir=/usr', data]]
    const logs = isMariadb() ? '--innodb-log-file-size=8M' : '--innodb-redo-log-capacity=8M'
    await run(program(name), ['--no-defaults', ...args, logs])
    // What tells a server from its copy.
    rmSync(join(folder, 'auto.cnf'), { force: true })
    return folder
  }

  /** A server that does not run yet, with a copy of some data, on a port of its own unless it takes another's place. */
  static async copy(data, folder, { port, id } = {}) {
    const server = new Server(folder, { port: port ?? (await freePort()), id })
    cpSync(data, server.data, { recursive: true, preserveTimestamps: true })
    return server
  }

  get id() {
    return this.#id
  }

  get data() {
    return this.#file('data')
  }

  /** Whether its engine's log is memory that outlives it, as MariaDB's is in /dev/shm: then a crash loses nothing. */
  get losesNothing() {
    return /log sequence number \d+ \(memory-mapped\)/.test(this.#said())
  }

  get running() {
    return this.#process !== null
  }

  /** Starts it, or starts it again, and returns when it answers. */
  async start() {
    const settings = {
      ...SETTINGS,
      ...(isMariadb() ? OF_MARIADB : OF_MYSQL),
      datadir: this.data,
      socket: this.#file('s'),
      'pid-file': this.#file('pid'),
      'log-error': this.#file('log.err'),
      'log-bin': this.#file('binlog/log'),
      port: this.port,
      'server-id': this.#id
    }
    const args = Object.entries(settings).map(([name, value]) => `--${name}=${value}`)
    const child = spawn(program('mariadbd', 'mysqld'), ['--no-defaults', ...AS_ROOT, ...args], { stdio: 'ignore' })
    this.#process = child
    child.over = once(child, 'exit')
    running.add(child)
    child.over.then(() => running.delete(child))
    await this.until('select 1')
  }

  /** SIGTERM: as an operator stops it. SIGKILL: as a crash does. */
  async stop(signal = 'SIGTERM') {
    const child = this.#process
    this.#process = null
    child.kill(signal)
    await child.over
  }

  /** Runs statements as root, and gives the rows as lines of fields joined by tabs. */
  sql(text, database) {
    return client({ socket: this.#file('s'), user: 'root', database }, text)
  }

  /** Waits until a statement is answered, and its first field is not 0. */
  async until(text) {
    const latest = now() + LONGEST_MS
    for (let error = null; ; ) {
      try {
        const [row] = await this.sql(text)
        if (row !== undefined && !row.startsWith('0')) return
      } catch (thrown) {
        error = thrown
      }
      if (now() > latest || this.#process?.exitCode !== null)
        throw new Error(`waited in vain for: ${text}: ${error?.message}\n${this.#lastWords()}`)
      await pause(BETWEEN_MS)
    }
  }

  /** Waits until it has run for as long as a registry wants a server to run. */
  settle() {
    const schema = isMariadb() ? 'information_schema' : 'performance_schema'
    return this.until(`select variable_value > 1 from ${schema}.global_status where variable_name = 'UPTIME'`)
  }

  async dump(database, file) {
    const plain = isMariadb() ? [] : ['--set-gtid-purged=OFF']
    const args = [...this.#asRoot(), ...plain, '--single-transaction', `--result-file=${file}`, database]
    await run(program('mariadb-dump', 'mysqldump'), args)
  }

  /** Restores a dump over what is there. It is no lease that is granted: its binary log does not say so. */
  async restore(database, file) {
    const args = [...this.#asRoot(), '--init-command=set sql_log_bin = 0', database]
    const child = spawn(program('mariadb', 'mysql'), args, { stdio: ['pipe', 'ignore', 'inherit'] })
    createReadStream(file).pipe(child.stdin)
    const [code] = await once(child, 'exit')
    if (code !== 0) throw new Error(`a dump could not be restored: code ${code}`)
  }

  /** A replica of this one that follows all that it did since it was made, in another folder. */
  async replica(data, folder, id) {
    const replica = await Server.copy(data, folder, { id })
    await replica.start()
    const word = isMariadb() ? 'master' : 'source'
    const change = isMariadb() ? 'change master to' : 'change replication source to'
    const more = isMariadb() ? ", master_use_gtid = no, master_password = ''" : ''
    const [first] = await this.sql('show binary logs')
    await replica.sql(`set global read_only = 1;
      ${change} ${word}_host = '127.0.0.1', ${word}_port = ${this.port}, ${word}_user = '${REPLICATION}',
        ${word}_log_file = '${first.split('\t')[0]}', ${word}_log_pos = 4${more};
      start ${isMariadb() ? 'slave' : 'replica'}`)
    return replica
  }

  /** Waits until this replica has executed all that another server wrote until now. */
  async follows(other) {
    const [status] = await other.sql(isMariadb() ? 'show master status' : 'show binary log status')
    const [file, position] = status.split('\t')
    const wait = isMariadb() ? 'master_pos_wait' : 'source_pos_wait'
    const [events] = await this.sql(`select ${wait}('${file}', ${position}, ${LONGEST_MS / 1000})`)
    if (!(Number(events) >= 0)) throw new Error(`a replica does not follow: ${events}\n${this.#lastWords()}`)
  }

  /** Ends a replica's following. */
  async leave() {
    await this.sql(`stop ${isMariadb() ? 'slave' : 'replica'}`)
  }

  /** From here on a replica is a primary. */
  async promote() {
    await this.sql(`reset ${isMariadb() ? 'slave' : 'replica'} all; set global read_only = 0`)
  }

  /** What its binary log says of leases, from the first start on. */
  async changes() {
    const folder = this.#file('binlog')
    const files = readdirSync(folder).filter((name) => /^log\.\d+$/.test(name))
    const args = ['--no-defaults', '--verbose', '--base64-output=DECODE-ROWS', ...files.sort()]
    const options = { cwd: folder, encoding: 'latin1', maxBuffer: 1 << 30 }
    const { stdout } = await run(program('mariadb-binlog', 'mysqlbinlog'), args, options)
    return changesIn(stdout, { letters: !isMariadb() })
  }

  async remove() {
    if (this.running) await this.stop('SIGKILL')
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #asRoot() {
    return to({ socket: this.#file('s'), user: 'root' })
  }

  #file(name) {
    return join(this.#folder, name)
  }

  /** What it told its operator. */
  #said() {
    const file = this.#file('log.err')
    return existsSync(file) ? readFileSync(file, 'utf8') : ''
  }

  #lastWords() {
    return this.#said().split('\n').slice(-12).join('\n')
  }
}

/**
 * Runs statements, and gives the rows as lines of fields joined by tabs.
 *
 * @param {{ port?: number, socket?: string, user: string, database?: string }} place
 * @param {string} text
 */
async function client({ database = '', ...place }, text) {
  const args = [...to(place), '-N', '-B', '-e', text, database]
  const { stdout } = await run(program('mariadb', 'mysql'), args, { maxBuffer: 1 << 28 })
  return stdout.split('\n').filter((line) => line !== '')
}

/** How the programs are told where a server is; nothing between them is encrypted. */
function to({ socket, port, user }) {
  const plain = isMariadb() ? '--skip-ssl' : '--ssl-mode=DISABLED'
  const where = socket === undefined ? ['-h', '127.0.0.1', '-P', String(port)] : ['-S', socket]
  return ['--no-defaults', plain, '-u', user, ...where]
}

/** Root's servers do not ask what else they could be. */
const AS_ROOT = process.getuid() === 0 ? ['--user=root'] : []

/** Nothing outlives this process. */
const running = new Set()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** The first of these programs that is there, in the folder MINTID_TEST_MYSQL_BIN or on the path; throws if none is. */
function program(...names) {
  const { MINTID_TEST_MYSQL_BIN: own, PATH = '' } = process.env
  const folders = own ? [own] : [...PATH.split(delimiter), '/usr/sbin']
  const paths = names.flatMap((name) => folders.map((folder) => join(folder, name)))
  const found = paths.find((path) => existsSync(path))
  if (!found) throw new Error('no MySQL or MariaDB server on this machine (Debian: apt-get install mariadb-server)')
  return found
}

let known

/** What it is, as in 'MariaDB 10.11'. */
function version() {
  known ??= execFileSync(program('mariadbd', 'mysqld'), ['--version'], { encoding: 'utf8' })
  const [, number] = /Ver (\d+\.\d+)/.exec(known)
  return `${known.includes('MariaDB') ? 'MariaDB' : 'MySQL'} ${number}`
}

const isMariadb = () => version().startsWith('MariaDB')

module.exports = { REPLICATION, Server, client, version }
