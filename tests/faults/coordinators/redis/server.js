'use strict'

const { execFileSync, spawn } = require('node:child_process')
const { once } = require('node:events')
const { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } = require('node:fs')
const { delimiter, join } = require('node:path')
const process = require('node:process')
const { setTimeout: pause } = require('node:timers/promises')
const { now } = require('../../clock.js')
const { freePort } = require('../port.js')
const { ask } = require('./client.js')
const { Watch } = require('./watch.js')

const [LONGEST_MS, BETWEEN_MS] = [20_000, 20]

/** As whom a replica comes, so that it alone can be kept out. */
const REPLICATION = 'replication'

/** Nothing is kept on disk unless a scenario says so, and nobody waits for anything. */
const SETTINGS = {
  bind: '127.0.0.1',
  user: `${REPLICATION} on >${REPLICATION} ~* &* +@all`,
  masteruser: REPLICATION,
  masterauth: REPLICATION,
  save: '""',
  appendonly: 'no',
  'repl-diskless-sync-delay': 0,
  'repl-ping-replica-period': 1,
  'shutdown-timeout': 0
}

/** One throw-away server, or one Sentinel: a folder, a port, a process. */
class Server {
  /** Where it listens, from the moment on when it may be used; null while it is down. */
  port = null
  #folder
  #sentinel
  #watched
  #process = null
  /** Of each start one. */
  #watches = []

  /**
   * @param {string} folder its own
   * @param {object} settings as in its configuration file, a list for what may come more than once
   * @param {{ sentinel?: boolean, watched?: boolean }} [kind] `watched`: all that it grants is known later
   */
  constructor(folder, settings, { sentinel = false, watched = true } = {}) {
    this.#folder = folder
    this.#sentinel = sentinel
    this.#watched = watched && !sentinel
    mkdirSync(folder, { recursive: true })
    this.configure({
      ...(sentinel ? { bind: '127.0.0.1' } : SETTINGS),
      dir: folder,
      logfile: this.file('log'),
      ...settings
    })
  }

  /** A running one. */
  static async start(folder, settings, kind) {
    const server = new Server(folder, settings, kind)
    await server.start()
    return server
  }

  /** Adds settings for the next start; the last one of a name counts. */
  configure(settings) {
    const lines = Object.entries(settings).flatMap(([name, values]) =>
      [values].flat().map((value) => `${name} ${value}\n`)
    )
    appendFileSync(this.file('conf'), lines.join(''))
  }

  /** Starts it, on a port that nobody knows before it is watched. */
  async start() {
    const port = await freePort()
    const args = [this.file('conf'), '--port', port, ...(this.#sentinel ? ['--sentinel'] : [])]
    const child = spawn(program(), args, { stdio: 'ignore' })
    this.#process = child
    child.over = once(child, 'exit')
    running.add(child)
    child.over.then(() => running.delete(child))
    await this.#until(async () => (await ask(port, 'PING')) === 'PONG', 'to answer')
    if (this.#watched) this.#watches.push(await Watch.begin(port))
    this.port = port
  }

  /** A replica of this one that has caught up with it, in another folder. */
  async replica(folder) {
    const replica = await Server.start(folder, { replicaof: `127.0.0.1 ${this.port}` })
    await replica.until(['INFO', 'replication'], 'master_link_status:up')
    // How it caught up is nothing that MONITOR tells.
    await replica.#watches.pop().end()
    replica.#watches.push(await Watch.begin(replica.port))
    return replica
  }

  /** Lets no replica follow any more, once these have all that was written until now. */
  async leaveBehind(...replicas) {
    const written = Number(await this.info('replication', 'master_repl_offset'))
    for (const replica of replicas) {
      const has = async () => Number(await replica.info('replication', 'slave_repl_offset')) >= written
      await this.#until(has, 'for a replica to follow')
    }
    await this.ask('ACL', 'SETUSER', REPLICATION, 'off')
    await this.ask('CLIENT', 'KILL', 'TYPE', 'replica')
    await this.until(['INFO', 'replication'], 'connected_slaves:0')
  }

  /** SIGTERM: as an operator stops it. SIGKILL: as a crash does. */
  async stop(signal = 'SIGTERM') {
    const child = this.#process
    this.#process = null
    this.port = null
    await Promise.all(this.#watches.map((watch) => watch.serverEnds()))
    child.kill(signal)
    await child.over
  }

  get running() {
    return this.#process !== null
  }

  /** Sends a command; its answer. */
  ask(...words) {
    return ask(this.port, ...words)
  }

  async set(name, value) {
    await this.ask('CONFIG', 'SET', name, value)
  }

  /** A field of INFO. */
  async info(section, name) {
    const text = await this.ask('INFO', section)
    return new RegExp(`^${name}:(.*)\\r$`, 'm').exec(text)?.[1]
  }

  /** Waits until a command's answer contains a text, or passes. */
  until(words, what) {
    const passes = typeof what === 'function' ? what : (answer) => String(answer).includes(what)
    return this.#until(async () => passes(await this.ask(...words)), `for another answer to ${words.join(' ')}`)
  }

  async #until(passes, what) {
    const latest = now() + LONGEST_MS
    for (;;) {
      if (await passes().catch(() => false)) return
      if (now() > latest || this.#process?.exitCode !== null)
        throw new Error(`waited in vain ${what}: ${this.#logged()}`)
      await pause(BETWEEN_MS)
    }
  }

  /** What scripts did to leases here. */
  async changes() {
    const lists = await Promise.all(this.#watches.map((watch) => watch.changes()))
    return lists.flat()
  }

  /** A file in its folder. */
  file(name) {
    return join(this.#folder, name)
  }

  #logged() {
    return existsSync(this.file('log')) ? readFileSync(this.file('log'), 'utf8').split('\n').slice(-12).join('\n') : ''
  }

  async remove() {
    for (const watch of this.#watches) await watch.end()
    if (this.running) await this.stop('SIGKILL')
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** Nothing outlives this process. */
const running = new Set()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

let found

/** The server's program: in the folder MINTID_TEST_REDIS_BIN or on the path; throws if there is none. */
function program() {
  const folders = [process.env.MINTID_TEST_REDIS_BIN, ...(process.env.PATH ?? '').split(delimiter)]
  const paths = ['redis-server', 'valkey-server'].flatMap((name) =>
    folders.filter(Boolean).map((folder) => join(folder, name))
  )
  found ??= paths.find((path) => existsSync(path))
  if (!found) throw new Error('no Redis or Valkey server on this machine (Debian: apt-get install redis-server)')
  return found
}

let known

/** What it is, as in 'Redis 7.0'. */
function version() {
  known ??= execFileSync(program(), ['--version'], { encoding: 'utf8' })
  const [, name, number] = /^(\w+) server v=(\d+\.\d+)/.exec(known)
  return `${name} ${number}`
}

module.exports = { Server, program, version }
