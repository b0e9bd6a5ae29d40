'use strict'

const { spawn, spawnSync } = require('node:child_process')
const { randomBytes } = require('node:crypto')
const { once } = require('node:events')
const { mkdtempSync, rmSync } = require('node:fs')
const { createServer } = require('node:net')
const { tmpdir } = require('node:os')
const { join } = require('node:path')

/** The server of these tests; its user may do anything. */
const SERVER = process.env.MINTID_TEST_REDIS || 'redis://127.0.0.1:6379'

const LONGEST_MS = 20_000

/** One of the server's programs. */
function program(name) {
  return process.env.MINTID_TEST_REDIS_BIN ? join(process.env.MINTID_TEST_REDIS_BIN, name) : name
}

/**
 * Runs one command.
 *
 * @param {string} url
 * @param {...string} command its words
 * @returns {string[]} the lines of the answer
 */
function redisAt(url, ...command) {
  const args = ['-u', url, '--no-auth-warning', '-e', ...command]
  const { status, stdout, stderr, error } = spawnSync(program('redis-cli'), args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`redis-cli, ${new URL(url).host}: ${error?.message ?? `${stderr}${stdout}`}`)
  return stdout.split('\n').filter(Boolean)
}

/** The same on the server of these tests. */
function redis(...command) {
  return redisAt(SERVER, ...command)
}

/** The server's URL with another user, password or parameters. */
function serverUrl({ user, password, ...parameters } = {}) {
  const url = new URL(SERVER)
  if (user !== undefined) url.username = user
  if (password !== undefined) url.password = password
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}

/** A name that nobody else has. */
function freshName(prefix) {
  return `${prefix}-${randomBytes(6).toString('hex')}`
}

/** A namespace whose registry is gone after the test. */
function temporaryNamespace(t) {
  const namespace = freshName('mintid-test')
  t.after(() => redis('DEL', keyOf(namespace)))
  return namespace
}

/** A user with these rules and the password 'secret', gone after the test. */
function temporaryUser(t, rules) {
  const user = freshName('mintid-test')
  redis('ACL', 'SETUSER', user, 'on', '>secret', ...rules.split(' '))
  t.after(() => redis('ACL', 'DELUSER', user))
  return user
}

/** The hash that the registry of a namespace is in. */
function keyOf(namespace) {
  return `mintid:{${namespace}}`
}

/** A server of one test's own, which keeps nothing. */
class OwnServer {
  static async start(t) {
    const server = new OwnServer(await freePort())
    t.after(() => server.end())
    await server.until('PONG', 'PING')
    return server
  }

  #process
  #folder = mkdtempSync(join(tmpdir(), 'mintid-redis-'))

  constructor(port) {
    this.url = `redis://127.0.0.1:${port}`
    this.port = port
    const settings = { port, bind: '127.0.0.1', dir: this.#folder, save: '', 'repl-diskless-sync-delay': 0 }
    const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
    this.#process = spawn(program('redis-server'), args, { stdio: 'ignore' })
    this.ended = once(this.#process, 'close')
  }

  run(...command) {
    return redisAt(this.url, ...command)
  }

  /** Asks until the answer holds a text. */
  async until(wanted, ...command) {
    const ends = Date.now() + LONGEST_MS
    for (;;) {
      const said = answer(() => this.run(...command).join('\n'))
      if (said.includes(wanted)) return
      if (Date.now() > ends) throw new Error(`waited in vain for ${wanted}: ${said}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  /** Makes it a replica, with all that the other one has. */
  async follow(other) {
    this.run('REPLICAOF', '127.0.0.1', String(other.port))
    await this.until('master_link_status:up', 'INFO', 'replication')
  }

  async end() {
    this.#process.kill('SIGKILL')
    await this.ended
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

function answer(ask) {
  try {
    return ask()
  } catch (error) {
    return error.message
  }
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address()
  await new Promise((resolve) => probe.close(resolve))
  return port
}

module.exports = { OwnServer, freePort, keyOf, redis, redisAt, serverUrl, temporaryNamespace, temporaryUser }
