'use strict'

const { spawn, spawnSync } = require('node:child_process')
const { randomBytes } = require('node:crypto')
const { once } = require('node:events')
const { SERVER } = require('./psql.js')

const MARIADB = process.env.MINTID_TEST_MARIADB || 'mysql://root@127.0.0.1:3306/test'
const MYSQL = process.env.MINTID_TEST_MYSQL

/** What the tests of SQL run on: what `mintid ddl` calls it, and where a server is, if it has one. */
const PLACES = [
  { kind: 'postgres', url: SERVER },
  { kind: 'mariadb', url: MARIADB },
  { kind: 'mysql', url: MYSQL, without: 'there is no MINTID_TEST_MYSQL' },
  { kind: 'sqlite' }
]

/** A database with nothing in it, which is gone after the test. SQLite's is in the memory of each run. */
class Database {
  /** @param {{ after: Function }} t */
  static temporary(t, { kind, url }) {
    if (kind === 'sqlite') return new Database(kind)
    const server = new Database(kind, url)
    const name = `mintid_test_${randomBytes(6).toString('hex')}`
    server.run(`create database ${name};`)
    t.after(() => server.run(`drop database ${name}${kind === 'postgres' ? ' with (force)' : ''};`))
    const own = new URL(url)
    own.pathname = `/${name}`
    return new Database(kind, own.href)
  }

  constructor(kind, url) {
    this.kind = kind
    this.url = url
  }

  /**
   * Runs SQL.
   *
   * @returns {string[][]} the rows of its answers, each cell as text
   */
  run(text) {
    const { status, stdout, stderr } = this.#spawned(text)
    if (status !== 0) throw new Error(`${this.kind}: ${stderr}`)
    return rows(stdout)
  }

  /** Runs SQL past its errors: `found` is what the rest answered, `errors` what the server said. */
  tries(text) {
    const { stdout, stderr } = this.#spawned(text, true)
    return { found: rows(stdout), errors: stderr }
  }

  #spawned(input, goesOn = false) {
    const [command, args, env] = client(this, goesOn)
    const done = spawnSync(command, args, { input, env, encoding: 'utf8', maxBuffer: 2 ** 30 })
    if (done.error) throw done.error
    return done
  }

  /** The command of a client, its arguments and its environment. */
  client() {
    return client(this)
  }

  /** A client that runs what is written to its `stdin`; `done()` ends that and resolves to its rows. */
  session() {
    const [command, args, env] = client(this)
    const child = spawn(command, args, { env, stdio: 'pipe' })
    const texts = { stdout: '', stderr: '' }
    for (const name of Object.keys(texts)) {
      child[name].setEncoding('utf8').on('data', (text) => {
        texts[name] += text
      })
    }
    // What it said on its way out tells more than the pipe that broke.
    child.stdin.on('error', () => {})
    const done = async () => {
      child.stdin.end()
      const [code] = await once(child, 'close')
      if (code !== 0) throw new Error(`${this.kind}: ${texts.stderr}`)
      return rows(texts.stdout)
    }
    return { stdin: child.stdin, done }
  }
}

/** The command that runs SQL from its standard input, stops at an error or goes on, and prints rows with tabs. */
function client({ kind, url }, goesOn) {
  if (kind === 'sqlite') {
    return ['sqlite3', ['-batch', ...(goesOn ? [] : ['-bail']), '-separator', '\t'], process.env]
  }
  if (kind === 'postgres') {
    const args = ['--no-psqlrc', '--quiet', '--no-password', '--tuples-only', '--no-align', '--field-separator=\t']
    return ['psql', [...args, `--set=ON_ERROR_STOP=${goesOn ? 0 : 1}`, url], process.env]
  }
  const { hostname, port, username, password, pathname } = new URL(url)
  const args = [
    '--no-defaults',
    '--batch',
    '--skip-column-names',
    '--skip-ssl',
    '--local-infile=1',
    ...(goesOn ? ['--force'] : [])
  ]
  const place = [`--host=${hostname}`, `--port=${port || 3306}`, `--user=${username}`, pathname.slice(1)]
  return ['mariadb', [...args, ...place], { ...process.env, MYSQL_PWD: decodeURIComponent(password) }]
}

function rows(text) {
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split('\t'))
}

module.exports = { PLACES, Database }
