'use strict'

// A backup was put back: what the database mints from must not give out again what it gave out since.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const { randomBytes } = require('node:crypto')
const { test } = require('node:test')
const { IdGenerator } = require('mintid')
const { Database, PLACES } = require('../support/databases.js')
const { ALL, mintedIn, mintingDatabase, mintingSql, moveTo, on } = require('../support/minting.js')
const { temporaryRole } = require('../support/psql.js')
const { mintid } = require('./cli.js')

const SOME = 3000
const [POSTGRES, MARIADB] = PLACES
const OTHERS = ['mariadb', 'mysql']

/** The two ways to say that a backup was put back. */
const ANNOUNCEMENTS = {
  'the SQL of --default --restored': (database) => database.run(mintingSql(database.kind, '--restored')),
  'setup --restored': (database) => setup(database, '--restored')
}
const type = new IdGenerator({ coordinator: 'none' }).type('')

/** Inserts rows that the database mints an ID for. */
function insert(database, maker, count = SOME) {
  database.run(`insert into ids (maker) values ${Array(count).fill(`('${maker}')`).join(', ')};`)
}

/** What the next value of the sequence is, read off the last ID. */
function after(id) {
  const { timestamp, sequence } = type.inspect(type.fromDb(BigInt(id)))
  return ((BigInt(timestamp.getTime()) - 1_735_689_600_000n) << 13n) + BigInt(sequence) + 1n
}

/** Asserts that without a word the copy repeats the original, and not after `announce`. */
function assertForgetsNothing(copy, forgotten, announce) {
  insert(copy, 'too early', 1)
  assert.ok(forgotten.has(mintedIn(copy, "maker = 'too early'")[0]), 'the copy had forgotten nothing')
  announce()
  insert(copy, 'new', SOME)
  const again = mintedIn(copy, "maker = 'new'").filter((id) => forgotten.has(id))
  assert.deepEqual(again, [])
}

for (const [way, announce] of Object.entries(ANNOUNCEMENTS)) {
  on(ALL, `${way} moves what the database mints from past what it forgot`, (t, place) => {
    const database = mintingDatabase(t, place)
    insert(database, 'kept')
    const next = after(mintedIn(database).at(-1))
    insert(database, 'forgotten')
    const forgotten = new Set(mintedIn(database, "maker = 'forgotten'"))
    assert.equal(forgotten.size, SOME)
    // As the backup has it.
    database.run("delete from ids where maker = 'forgotten';")
    moveTo(database, next)
    assertForgetsNothing(database, forgotten, () => announce(database))
  })

  on(ALL, `${way} beside those who insert, and again, moves nothing back`, async (t, place) => {
    const database = mintingDatabase(t, place)
    const sessions = Array.from({ length: 3 }, () => database.session())
    for (const { stdin } of sessions) {
      stdin.write("insert into ids (maker) values ('a'), ('b'), ('c');\n".repeat(300))
    }
    const done = Promise.all(sessions.map((session) => session.done()))
    for (let round = 0; round < 3; round++) announce(database)
    await done
    const minted = mintedIn(database)
    assert.equal(minted.length, 3 * 3 * 300)
    insert(database, 'after', 1)
    announce(database)
    insert(database, 'last', 1)
    const [last] = mintedIn(database, "maker = 'last'")
    assert.ok(BigInt(last) > BigInt(mintedIn(database, "maker = 'after'")[0]))
  })
}

test('mariadb: a dump that was put back', (t) => {
  const database = mintingDatabase(t, MARIADB)
  const dump = dumped(database)
  insert(database, 'forgotten')
  const forgotten = new Set(mintedIn(database))
  database.run('drop table ids; drop sequence mintid_default;')
  database.run(dump)
  assertForgetsNothing(database, forgotten, () => database.run(mintingSql('mariadb', '--restored')))
})

test('postgres: setup --restored announces a dump that was put back', async (t) => {
  const original = mintingDatabase(t, POSTGRES)
  setup(original, '--fresh')
  await (await IdGenerator.connect({ coordinator: original.url, lease: { ttlMs: 60_000 } })).close()
  const dump = dumped(original)
  insert(original, 'forgotten')
  const forgotten = new Set(mintedIn(original))
  const copy = Database.temporary(t, POSTGRES)
  copy.run(dump)
  assertForgetsNothing(copy, forgotten, () => {
    const { created, notBefore, sequences } = setup(copy, '--restored')
    assert.equal(created, false)
    assert.deepEqual(sequences, [{ name: 'public.mintid_default', moved: true }])
    const wait = Date.parse(notBefore) - Date.now()
    assert.ok(wait > 55_000 && wait < 70_000, `${wait} ms`)
  })
  assert.deepEqual(setup(copy).sequences, undefined, 'plain setup moves nothing')
})

test('postgres: wherever the sequences are, and whatever their layout', (t) => {
  const database = Database.temporary(t, POSTGRES)
  database.run(
    'create schema "Über"; create sequence ours; comment on sequence ours is \'mintid ddl --default or so\';'
  )
  database.run(mintingSql('postgres', '--schema', 'Über', '--name', 'from-here', '--layout', '0/41/10/12'))
  database.run(mintingSql('postgres'))
  const names = ['public.mintid_default', '"Über"."from-here"']
  const before = names.map((name) => position(database, name))
  const { sequences } = setup(database, '--restored')
  assert.deepEqual(
    sequences.map(({ name, moved }) => [name, moved]),
    names.map((name) => [name, true])
  )
  for (const [index, name] of names.entries()) {
    assert.ok(position(database, name) > before[index], name)
  }
  const milliseconds = (position(database, '"Über"."from-here"') >> 12n) + 1_735_689_600_000n
  assert.ok(Math.abs(Number(milliseconds) - Date.now()) < 60_000, `${milliseconds}`)
  assert.equal(position(database, 'ours'), 1n)
})

test('postgres: a sequence ahead of the clock is a failure, and stays', (t) => {
  const database = mintingDatabase(t, POSTGRES)
  moveTo(database, 2n ** 54n)
  const { status, stdout, stderr } = mintid(['setup', '--restored'], { env: { MINTID_URL: database.url } })
  assert.equal(status, 1)
  assert.match(stdout, /^Newcomers may lease from /m)
  assert.match(stderr, /warning: public\.mintid_default is ahead of the clock/)
  assert.equal(position(database, 'mintid_default'), 2n ** 54n)
  assert.match(
    database.tries(mintingSql('postgres', '--restored')).errors,
    /public\.mintid_default is ahead of the clock/
  )
})

on(OTHERS, 'setup --restored names what it moved, whatever its layout, and nothing else', (t, place) => {
  const database = mintingDatabase(t, place)
  const name = new URL(database.url).pathname.slice(1)
  database.run("create table ours (v bigint) comment 'mintid ddl --default or so';")
  database.run(mintingSql(place.kind, '--name', 'from-here', '--layout', '0/41/10/12'))
  const { created, sequences } = setup(database, '--restored')
  assert.equal(created, true)
  const moved = ['from-here', 'mintid_default'].map((each) => ({ name: `\`${name}\`.\`${each}\``, moved: true }))
  assert.deepEqual(sequences, moved)
  insert(database, 'new', 1)
  const { timestamp } = type.inspect(type.fromDb(BigInt(mintedIn(database)[0])))
  assert.ok(Math.abs(timestamp.getTime() - Date.now()) < 60_000, `${timestamp}`)
  assert.deepEqual(setup(database).sequences, undefined, 'plain setup moves nothing')
})

on(['mysql'], 'setup --restored leaves nothing in the table that counts', (t, place) => {
  const database = mintingDatabase(t, place)
  setup(database, '--restored')
  assert.deepEqual(database.run('select v from mintid_default;'), [])
})

on(OTHERS, 'what is ahead of the clock is a failure of setup --restored, and stays', (t, place) => {
  const database = mintingDatabase(t, place)
  moveTo(database, 2n ** 54n)
  const { status, stdout, stderr } = mintid(['setup', '--restored'], { env: { MINTID_URL: database.url } })
  assert.equal(status, 1)
  assert.match(stdout, /^Newcomers may lease from /m)
  assert.match(stderr, /warning: `mintid_test_\w+`\.`mintid_default` is ahead of the clock/)
  insert(database, 'new', 1)
  const next = after(mintedIn(database)[0])
  assert.ok(next > 2n ** 54n && next < 2n ** 54n + 10n, `${next}`)
})

on(OTHERS, 'who may not move it is told who may', (t, place) => {
  const database = mintingDatabase(t, place)
  setup(database, '--fresh')
  const user = `mintid_${randomBytes(6).toString('hex')}`
  t.after(() => new Database(place.kind, place.url).run(`drop user ${user}@'%';`))
  database.run(`create user ${user}@'%' identified by 'secret'; grant select on mintid_default to ${user}@'%';`)
  for (const table of ['mintid_leases', 'mintid_registry']) {
    database.run(`grant select, insert, update on ${table} to ${user}@'%';`)
  }
  const url = new URL(database.url)
  url.username = user
  url.password = 'secret'
  const { status, stderr } = mintid(['setup', '--restored'], { env: { MINTID_URL: url.href } })
  assert.equal(status, 1)
  assert.match(stderr, /INSERT command denied.*\n.*as a user with .* on `mintid_test_\w+`\.`mintid_default`/)
  assert.doesNotMatch(stderr, /secret/)
})

test('postgres: who does not own the sequence is told who must', (t) => {
  const database = mintingDatabase(t, POSTGRES)
  const role = temporaryRole(t)
  database.run(`grant create, usage on schema public to ${role};`)
  const url = new URL(database.url)
  url.username = role
  url.password = 'secret'
  const { status, stderr } = mintid(['setup', '--restored'], { env: { MINTID_URL: url.href } })
  assert.equal(status, 1)
  assert.match(
    stderr,
    /must be owner of sequence mintid_default\n.*as the owner of the sequence public\.mintid_default/
  )
  assert.doesNotMatch(stderr, /secret/)
})

test('postgres: a transaction that took an ID and is still open is waited for, and not for long', async (t) => {
  const database = mintingDatabase(t, POSTGRES)
  const session = database.session()
  session.stdin.write("begin; insert into ids (maker) values ('a');\n")
  const holds = "select count(*) from pg_locks where relation = 'mintid_default'::regclass;"
  while (database.run(holds)[0][0] === '0');
  const { status, stderr } = mintid(['setup', '--restored'], { env: { MINTID_URL: database.url } })
  assert.equal(status, 1)
  assert.match(stderr, /lock timeout\n.*a transaction that took IDs from public\.mintid_default is still open/)
  await session.done()
  setup(database, '--restored')
})

/** `mintid setup`, its JSON. */
function setup({ url }, ...args) {
  const { status, stdout, stderr } = mintid(['setup', ...args, '--json'], { env: { MINTID_URL: url } })
  assert.deepEqual([status, stderr], [0, ''])
  return JSON.parse(stdout)
}

function position(database, sequence) {
  return BigInt(database.run(`select last_value from ${sequence};`)[0][0])
}

/** All that is in a database, as SQL. */
function dumped({ kind, url }) {
  const { hostname, port, username, password, pathname } = new URL(url)
  const place = [`--host=${hostname}`, `--port=${port || 3306}`, `--user=${username}`, pathname.slice(1)]
  const [command, args] = kind === 'postgres' ? ['pg_dump', [url]] : ['mariadb-dump', ['--no-defaults', ...place]]
  const env = { ...process.env, MYSQL_PWD: decodeURIComponent(password) }
  const { status, stdout, stderr, error } = spawnSync(command, args, { env, encoding: 'utf8', maxBuffer: 2 ** 30 })
  if (status !== 0) throw error ?? new Error(stderr)
  return stdout
}
