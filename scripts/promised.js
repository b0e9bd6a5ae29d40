'use strict'

// What the README says that the tests need, looked for before they run: a server that is missing is no hundred failures.

const { spawnSync } = require('node:child_process')
const path = require('node:path')

const SERVERS = [
  {
    name: 'PostgreSQL',
    variable: 'MINTID_TEST_POSTGRES',
    usual: 'postgres://postgres@127.0.0.1:5432/test',
    client: 'psql',
    question: (url) => ['--no-psqlrc', '--no-password', '--tuples-only', '--no-align', '--command=select 1', url],
    answer: '1'
  },
  {
    name: 'Redis',
    variable: 'MINTID_TEST_REDIS',
    usual: 'redis://127.0.0.1:6379',
    client: program('redis-cli'),
    question: (url) => ['-u', url, '--no-auth-warning', 'PING'],
    answer: 'PONG'
  },
  {
    name: 'MariaDB',
    variable: 'MINTID_TEST_MARIADB',
    usual: 'mysql://root@127.0.0.1:3306/test',
    client: 'mariadb',
    question: (url) => {
      const { hostname, port, username, password } = new URL(url)
      const place = [`--host=${hostname}`, `--port=${port || 3306}`, `--user=${username}`, '--skip-ssl']
      return ['--no-defaults', '--skip-column-names', ...place, `--password=${password}`, '--execute=select 1']
    },
    answer: '1'
  }
]

/** What tests of SQL start beside the clients. */
const PROGRAMS = ['pg_dump', 'mariadb-dump', 'sqlite3']

/** Ends this process, with what to do, if one of the servers does not answer. */
function promised() {
  const missing = SERVERS.map(complaint).filter(Boolean)
  const { error } = spawnSync(program('redis-server'), ['--version'])
  if (error) missing.push(`redis-server was not found; the tests start their own (MINTID_TEST_REDIS_BIN: its folder)`)
  const own = ['mariadbd', 'mysqld'].every((name) => spawnSync(inFolder(name), ['--version']).error)
  if (own) missing.push('mariadbd was not found; the tests start their own (MINTID_TEST_MYSQL_BIN: its folder)')
  const absent = PROGRAMS.filter((name) => spawnSync(name, ['--version']).error)
  if (absent.length > 0) missing.push(`${absent.join(', ')}: not found; the tests of SQL need them`)
  if (missing.length === 0) return
  console.error(missing.join('\n'))
  process.exit(1)
}

/** What is wrong with a server; never its URL, which may hold a password. */
function complaint({ name, variable, usual, client, question, answer }) {
  const place = process.env[variable] ? `at ${variable}` : `at ${usual}`
  const url = process.env[variable] || usual
  const { stdout, stderr, error } = spawnSync(client, question(url), { encoding: 'utf8', timeout: 10_000 })
  if (stdout?.trim() === answer) return undefined
  const said = error?.code === 'ENOENT' ? `${client} was not found` : error?.message || (stderr || stdout).trim()
  return `the tests need a ${name} ${place}: ${said}\n  start one there, or set ${variable} to the URL of another one`
}

function inFolder(name) {
  return process.env.MINTID_TEST_MYSQL_BIN ? path.join(process.env.MINTID_TEST_MYSQL_BIN, name) : name
}

function program(name) {
  return process.env.MINTID_TEST_REDIS_BIN ? path.join(process.env.MINTID_TEST_REDIS_BIN, name) : name
}

module.exports = { promised }
