'use strict'

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { mintid } = require('../cli/cli.js')
const { Database, PLACES } = require('./databases.js')
const { Peer } = require('./peer.js')
const { Registry } = require('./registry.js')

/** As many rows as one statement inserts. */
const BATCH = 1000

/** How a thousand rows without an ID are inserted by one statement. */
const THOUSAND = {
  postgres: `insert into ids (maker) select 'database' from generate_series(1, ${BATCH});\n`,
  mariadb: `insert into ids (maker) select 'database' from seq_1_to_${BATCH};\n`,
  mysql: `insert into ids (maker) select 'database' from
    (with recursive s (n) as (select 1 union all select n + 1 from s where n < ${BATCH}) select n from s) numbers;\n`
}

const MINTING = PLACES.filter(({ kind }) => kind in THOUSAND)
const ALL = MINTING.map(({ kind }) => kind)

/** A test on each of some databases; one that has no server here is skipped by name. */
function on(kinds, name, body) {
  for (const place of MINTING.filter(({ kind }) => kinds.includes(kind))) {
    test(`${place.kind}: ${name}`, { skip: place.url ? false : place.without }, (t) => body(t, place))
  }
}

/** What `mintid ddl --default` prints, and its JSON with `--json`. */
function mintingSql(kind, ...args) {
  const { status, stdout, stderr } = mintid(['ddl', '--default', '--database', kind, ...args])
  assert.deepEqual([status, stderr], [0, ''])
  return args.includes('--json') ? JSON.parse(stdout) : stdout
}

/** A database of the test's own whose table `ids` mints. */
function mintingDatabase(t, place, { type = 'bigint', args = [] } = {}) {
  const database = Database.temporary(t, place)
  database.run(`create table ids (id ${type} not null primary key, maker varchar(40));`)
  database.run(mintingSql(place.kind, '--table', 'ids', ...args))
  return database
}

/** The IDs that the table's makers have, ascending. */
function mintedIn(database, where = "maker <> 'other'") {
  return database.run(`select id from ids where ${where} order by id;`).flat()
}

/** Puts what the database mints from somewhere else. */
function moveTo(database, value) {
  const statements = {
    postgres: `select setval('mintid_default', ${value}, false);`,
    mariadb: `alter sequence mintid_default restart with ${value};`,
    mysql: `alter table mintid_default auto_increment = ${value};`
  }
  database.run(statements[database.kind])
}

/** A process of a fleet that inserts what it mints into the table, `input.each` rows. */
async function inserting({ mintid, input, say, hear }) {
  const { spawn } = require('node:child_process')
  const { once } = require('node:events')
  const ids = await mintid.IdGenerator.connect(input.options)
  const type = ids.type('')
  say(ids.machineId)
  await hear()
  const [command, args, env] = input.client
  const client = spawn(command, args, { env, stdio: ['pipe', 'ignore', 'inherit'] })
  const closed = once(client, 'close')
  for (let left = input.each; left > 0; left -= input.batch) {
    const rows = [...type.nextManyDb(input.batch)]
    const text = input.copies
      ? `copy ids (id, maker) from stdin;\n${rows.map((id) => `${id}\tfleet`).join('\n')}\n\\.\n`
      : `insert into ids (id, maker) values ${rows.map((id) => `(${id}, 'fleet')`).join(', ')};\n`
    if (!client.stdin.write(text)) await Promise.race([once(client.stdin, 'drain'), closed])
    if (left % (10 * input.batch) === 0) say('goes on')
  }
  client.stdin.end()
  const [code] = await closed
  await ids.close()
  say({ code })
}

/**
 * The database and a fleet insert into one table at once, each its own IDs; the table's primary key refuses what comes
 * twice.
 *
 * @param {{ rows: number, sessions: number, processes: number, each: number }} amounts in thousands of rows: `rows` by the
 *   database, over several sessions; `each` by every process
 * @returns {Promise<{ database: Database, seconds: number }>}
 */
async function mintTogether(t, place, { rows, sessions, processes, each }) {
  const database = mintingDatabase(t, place)
  const options = { coordinator: coordinatorOf(database) }
  const fleet = Array.from({ length: processes }, () => {
    const copies = place.kind === 'postgres'
    return new Peer(t, inserting, { options, client: database.client(), each: each * BATCH, batch: BATCH, copies })
  })
  const machineIds = await Promise.all(fleet.map((peer) => peer.next()))
  assert.equal(new Set(machineIds).size, processes)
  const began = performance.now()
  for (const peer of fleet) peer.tell('go')
  const minting = Array.from({ length: sessions }, () => insertedBy(database.session(), place.kind, rows / sessions))
  const [codes] = await Promise.all([Promise.all(fleet.map(codeOf)), ...minting])
  assert.deepEqual(codes, Array(processes).fill(0))
  const seconds = (performance.now() - began) / 1000
  assertMade(database, { rows, processes, each, machineIds })
  return { database, seconds }
}

/** PostgreSQL is the coordinator of its own fleet; the others lease from a directory. */
function coordinatorOf({ kind, url }) {
  if (kind !== 'postgres') return new Registry().coordinator
  const { status, stderr } = mintid(['setup', '--fresh'], { env: { MINTID_URL: url } })
  assert.equal(status, 0, stderr)
  return url
}

async function insertedBy({ stdin, done }, kind, thousands) {
  stdin.write(THOUSAND[kind].repeat(thousands))
  await done()
}

/** The exit code of a process's client, when it is done. */
async function codeOf(peer) {
  for (;;) {
    const said = await peer.next()
    if (said !== 'goes on') return said.code
  }
}

/** Nothing is missing, and each machine ID is in the rows of those who hold it. */
function assertMade(database, { rows, processes, each, machineIds }) {
  const found = database.run(`
    select maker, count(*) from ids group by maker order by maker;
    select distinct maker, (id >> 13) & 511 as machine from ids order by maker, machine;`)
  assert.deepEqual(found, [
    ['database', String(rows * BATCH)],
    ['fleet', String(processes * each * BATCH)],
    ['database', '511'],
    ...machineIds.sort((a, b) => a - b).map((machineId) => ['fleet', String(machineId)])
  ])
}

module.exports = { ALL, on, mintingSql, mintingDatabase, mintedIn, moveTo, mintTogether }
