'use strict'

// NoNoncense's statements, run by Elixir, and ours take turns on one hash of Redis or one table of PostgreSQL, MySQL or
// MariaDB: nobody may ever hold what another one holds. Run by `npm run test:servers -- turns`.
//
//   node tests/turns/run.js <elixir> redis://127.0.0.1:6379 …
//   node tests/turns/run.js <elixir> postgres://postgres@127.0.0.1/test …
//   node tests/turns/run.js <elixir> mysql://root@127.0.0.1/test …    (a user without a password)

const { spawn, spawnSync } = require('node:child_process')
const { randomBytes } = require('node:crypto')
const path = require('node:path')

const PROCESSES = 3
const LEASES = 150

const TABLE = (schema) => `create schema ${schema}; set search_path to ${schema};
  create table no_noncense_leases (
    id smallint primary key, token bytea, expires_at timestamp not null, lock_version integer not null default 0);
  insert into no_noncense_leases (id, expires_at) select id, 'epoch' from generate_series(0, 511) as id`

const MYSQL_TABLE = (database) => `create database ${database}; use ${database};
  create table no_noncense_leases (
    id smallint primary key, token blob, expires_at datetime(6) not null, lock_version int not null default 0);
  insert into no_noncense_leases (id, expires_at)
  with recursive ids (id) as (select 0 union all select id + 1 from ids where id < 511) select id, '1970-01-01' from ids`

const PLACES = { redis: hash, valkey: hash, postgres: table, postgresql: table, mysql: mysqlTable }

main(process.argv.slice(2)).catch((error) => {
  console.error(error)
  process.exit(1)
})

async function main([elixir, ...urls]) {
  for (const url of urls) {
    const place = PLACES[url.split(':')[0]](url)
    try {
      const theirs = lines(elixir, [path.join(__dirname, 'nononcense.exs'), ...place.elixir, PROCESSES, LEASES])
      const ours = Array.from({ length: PROCESSES }, () =>
        lines(process.execPath, [path.join(__dirname, 'holder.js'), place.url, place.namespace, LEASES])
      )
      check(url.split(':')[0], await theirs, (await Promise.all(ours)).flat())
    } finally {
      place.end()
    }
  }
}

function hash(url) {
  const { hostname, port, search } = new URL(url)
  const namespace = `turns-${randomBytes(6).toString('hex')}`
  return {
    elixir: ['redis', hostname, port || '6379', namespace],
    url: `${url}${search ? '&' : '?'}registry=nononcense`,
    namespace,
    end() {}
  }
}

function table(url) {
  const { hostname, port, username, pathname } = new URL(url)
  const schema = `turns_${randomBytes(6).toString('hex')}`
  sql(url, TABLE(schema))
  return {
    elixir: ['postgres', hostname, port || '5432', username, pathname.slice(1), schema],
    url: `${url}${url.includes('?') ? '&' : '?'}schema=${schema}&registry=nononcense`,
    namespace: 'default',
    end: () => sql(url, `drop schema ${schema} cascade`)
  }
}

function mysqlTable(url) {
  const { hostname, port, username } = new URL(url)
  const database = `turns_${randomBytes(6).toString('hex')}`
  mysql(url, MYSQL_TABLE(database))
  const own = new URL(url)
  own.pathname = `/${database}`
  own.searchParams.set('registry', 'nononcense')
  return {
    elixir: ['mysql', hostname, port || '3306', username, database],
    url: own.href,
    namespace: 'default',
    end: () => mysql(url, `drop database ${database}`)
  }
}

function mysql(url, text) {
  const { hostname, port, username } = new URL(url)
  const args = ['--no-defaults', '--skip-ssl', `--host=${hostname}`, `--port=${port || 3306}`, `--user=${username}`]
  const { status, stderr, error } = spawnSync('mariadb', args, { input: text, encoding: 'utf8' })
  if (status !== 0) throw new Error(`mariadb: ${error?.message ?? stderr}`)
}

function sql(url, text) {
  const args = ['--no-psqlrc', '--quiet', '--set=ON_ERROR_STOP=1', url]
  const { status, stderr, error } = spawnSync('psql', args, { input: text, encoding: 'utf8' })
  if (status !== 0) throw new Error(`psql: ${error?.message ?? stderr}`)
}

/** The leases that a process prints. */
async function lines(command, args) {
  const child = spawn(command, args.map(String), { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  for await (const chunk of child.stdout) text += chunk
  if (child.exitCode === null) await new Promise((resolve) => child.once('close', resolve))
  if (child.exitCode !== 0) throw new Error(`${path.basename(args[0])}: exit code ${child.exitCode}`)
  const leases = text.trim().split('\n')
  return leases.map((line) => line.split(' ').map(Number)).map(([id, from, until]) => ({ id, from, until }))
}

function check(name, theirs, ours) {
  const all = [...theirs.map((lease) => ({ ...lease, theirs: true })), ...ours].sort((a, b) => a.from - b.from)
  const last = new Map()
  let turns = 0
  for (const lease of all) {
    const before = last.get(lease.id)
    if (before && lease.from < before.until) {
      throw new Error(`machine ID ${lease.id} was held twice: ${JSON.stringify([before, lease])}`)
    }
    if (before && before.theirs !== lease.theirs) turns += 1
    last.set(lease.id, lease)
  }
  if (theirs.length !== PROCESSES * LEASES || ours.length !== PROCESSES * LEASES) throw new Error('leases are missing')
  if (turns < LEASES / 5) throw new Error(`only ${turns} times did one follow the other`)
  console.log(`${name}: ${theirs.length} leases of theirs, ${ours.length} of ours, ${turns} turns, none held twice`)
}
