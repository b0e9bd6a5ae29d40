'use strict'

// `mintid ddl --default` on the real databases: what they mint themselves.

const assert = require('node:assert/strict')
const { mkdtempSync, rmSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { test } = require('node:test')
const { IdGenerator } = require('mintid')
const { Database } = require('../support/databases.js')
const { ALL, mintedIn, mintingDatabase, mintingSql, mintTogether, moveTo, on } = require('../support/minting.js')
const { temporaryRole } = require('../support/psql.js')
const { mintid } = require('./cli.js')

const HIGHEST = 511
const LAYOUT = { time: 41, machine: 10, sequence: 12, epoch: '2020-01-01' }
const ids = new IdGenerator({ coordinator: 'none' })

/** The parts of numbers as a database shows them. */
function inspected(numbers, layout) {
  const generator = layout ? new IdGenerator({ coordinator: 'none', layout }) : ids
  const type = generator.type('')
  return numbers.map((number) => type.inspect(type.fromDb(BigInt(number))))
}

on(ALL, 'whatever inserts without an ID gets one of the highest machine ID', (t, place) => {
  const folder = mkdtempSync(join(tmpdir(), 'mintid-test-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'rows')
  writeFileSync(file, 'file\n'.repeat(5000))
  const load = {
    postgres: `\\copy ids (maker) from '${file}'`,
    mariadb: `load data local infile '${file}' into table ids (maker);`,
    mysql: `load data local infile '${file}' into table ids (maker);`
  }
  const before = Date.now()
  const database = mintingDatabase(t, place)
  if (place.kind === 'mysql') database.run('set global local_infile = 1;')
  database.run(`
    insert into ids (maker) values ('one');
    insert into ids (maker) values ('several'), ('several'), ('several');
    insert into ids (id, maker) values (default, 'default');
    insert into ids (maker) select 'copied' from ids order by id;
    insert into ids (id, maker) values (77, 'other');
    create table log (maker varchar(40));
    ${trigger(place.kind)}
    insert into log (maker) values ('by trigger');
    ${load[place.kind]}
    `)
  const numbers = mintedIn(database)
  assert.equal(numbers.length, 1 + 3 + 1 + 5 + 1 + 5000)
  const parts = inspected(numbers)
  assert.deepEqual([...new Set(parts.map(({ machineId }) => machineId))], [HIGHEST])
  const counted = ({ timestamp, sequence }) => (timestamp - parts[0].timestamp) * 8192 + sequence - parts[0].sequence
  const gap = parts.findIndex((part, index) => counted(part) !== index)
  assert.equal(gap, -1, 'one after the other, with no gap where nobody else took any')
  const began = parts[0].timestamp.getTime()
  assert.ok(began >= before - 1000 && began <= Date.now() + 1000, `${began} is not when the sequence was made`)
  assert.deepEqual(mintedIn(database, "maker = 'other'"), ['77'])
  assert.equal(mintedIn(database, "maker = 'by trigger'").length, 1)
})

function trigger(kind) {
  if (kind !== 'postgres') {
    return 'create trigger log_ids after insert on log for each row insert into ids (maker) values (new.maker);'
  }
  return `create function log_ids() returns trigger language plpgsql as
      'begin insert into ids (maker) values (new.maker); return null; end';
    create trigger log_ids after insert on log for each row execute function log_ids();`
}

on(['mariadb', 'postgres'], 'returning tells the ID', (t, place) => {
  const database = mintingDatabase(t, place)
  const found = database.run("insert into ids (maker) values ('a'), ('b') returning id;").flat()
  assert.deepEqual(found, mintedIn(database))
})

on(['mysql'], '@mintid_default tells the ID', (t, place) => {
  const database = mintingDatabase(t, place)
  const [[found]] = database.run("insert into ids (maker) values ('a'), ('b'); select @mintid_default;")
  assert.equal(found, mintedIn(database)[1])
})

for (const [format, type] of [
  ['signed', () => 'bigint'],
  ['unsigned', (kind) => (kind === 'postgres' ? 'numeric(20)' : 'bigint unsigned')]
]) {
  on(ALL, `${format} IDs to the last of the layout, and none after it`, (t, place) => {
    const database = mintingDatabase(t, place, { type: type(place.kind), args: ['--format', format] })
    const first = 2n ** 54n - 1n
    moveTo(database, first)
    database.run("insert into ids (maker) values ('below'), ('above');")
    const last = (2n ** 42n - 1n) * 8192n - 1n
    moveTo(database, last)
    database.run("insert into ids (maker) values ('last');")
    const expected = [first, first + 1n, last].map((value) => {
      const number = ((value >> 13n) << 22n) | (511n << 13n) | (value & 8191n)
      return String(format === 'signed' ? BigInt.asIntN(64, number) : number)
    })
    const found = ['below', 'above', 'last'].map((maker) => mintedIn(database, `maker = '${maker}'`)[0])
    assert.deepEqual(found, expected)
    const { errors } = database.tries("insert into ids (maker) values ('too late');")
    assert.match(errors, /maximum value of sequence|has run out|the layout has no later time/)
    assert.equal(mintedIn(database).length, 3)
  })
}

on(ALL, 'another layout and epoch', (t, place) => {
  const args = ['--layout', '0/41/10/12', '--epoch', LAYOUT.epoch]
  const database = mintingDatabase(t, place, { args })
  database.run("insert into ids (maker) values ('a'), ('b');")
  const parts = inspected(mintedIn(database), LAYOUT)
  assert.deepEqual(
    parts.map(({ machineId }) => machineId),
    [1023, 1023]
  )
  assert.ok(Math.abs(parts[0].timestamp.getTime() - Date.now()) < 60_000)
})

on(ALL, 'names of its own, and the statements one by one', (t, place) => {
  const database = Database.temporary(t, place)
  const schema = place.kind === 'postgres' ? 'Über' : new URL(database.url).pathname.slice(1)
  if (place.kind === 'postgres') database.run('create schema "Über";')
  const quote = place.kind === 'postgres' ? '"' : '`'
  const table = [schema, 'order'].map((name) => `${quote}${name}${quote}`).join('.')
  database.run(`create table ${table} (${quote}Id${quote} bigint not null primary key, n integer);`)
  const args = ['--schema', schema, '--table', 'order', '--column', 'Id', '--name', 'from-here']
  const { statements, layout, machineId, sequence } = mintingSql(place.kind, ...args, '--json')
  assert.deepEqual([layout, machineId], ['0/42/9/13@1735689600000', 511])
  assert.equal(sequence, `${table.replace('order', 'from-here')}`)
  const [before, end] = place.kind === 'postgres' ? ['', ';\n'] : ['delimiter //\n', '//\n']
  database.run(before + statements.map((statement) => statement + end).join(''))
  const found = place.kind === 'postgres' ? '' : 'delimiter ;\n'
  const [[id]] = database.run(`${found}insert into ${table} (n) values (1); select ${quote}Id${quote} from ${table};`)
  assert.equal(inspected([id])[0].machineId, HIGHEST)
})

on(ALL, 'run again it goes on', (t, place) => {
  const database = mintingDatabase(t, place)
  database.run("insert into ids (maker) values ('a');")
  database.run(mintingSql(place.kind, '--table', 'ids'))
  database.run("insert into ids (maker) values ('b');")
  const [a, b] = mintedIn(database)
  assert.equal(BigInt(b) - BigInt(a), 1n)
})

on(ALL, 'made anew, it begins after all that it made before', (t, place) => {
  const database = mintingDatabase(t, place)
  database.run("insert into ids (maker) values ('a');")
  const drop = {
    postgres: 'drop function mintid_default() cascade; drop sequence mintid_default;',
    mariadb: 'alter table ids alter column id drop default; drop sequence mintid_default;',
    mysql: 'drop table mintid_default;'
  }
  database.run(drop[place.kind])
  database.run(mintingSql(place.kind, '--table', 'ids'))
  database.run("insert into ids (maker) values ('b');")
  const made = ["maker = 'a'", "maker = 'b'"].map((where) => BigInt(mintedIn(database, where)[0]))
  assert.ok(made[1] > made[0], String(made))
})

on(
  ['postgres'],
  'a second sequence under the same machine ID is refused, and one of another layout is not',
  (t, place) => {
    const database = mintingDatabase(t, place)
    const second = database.tries(mintingSql('postgres', '--name', 'second'))
    assert.match(second.errors, /mints under machine ID 511 already, from public\.mintid_default: use that/)
    const other = ['--layout', '0/41/10/12']
    assert.match(
      database.tries(mintingSql('postgres', ...other)).errors,
      /public\.mintid_default is there already, and was not made for this layout/
    )
    database.run(mintingSql('postgres', ...other, '--name', 'second'))
  }
)

on(['postgres'], 'a role needs the right that the SQL names, and no other', (t, place) => {
  const database = mintingDatabase(t, place)
  const role = temporaryRole(t)
  database.run(`grant insert on ids to ${role};`)
  const insert = `set role ${role}; insert into ids (maker) values ('a');`
  assert.match(database.tries(insert).errors, /permission denied for sequence mintid_default/)
  const [, right] = /^-- Roles that insert need: (.*)$/m.exec(mintingSql('postgres'))
  database.run(`${right} to ${role};`)
  database.run(insert)
  assert.equal(mintedIn(database).length, 1)
})

on(['mariadb', 'mysql'], 'a user needs the rights that the SQL names, and no others', (t, place) => {
  const database = mintingDatabase(t, place)
  const server = new Database(place.kind, place.url)
  const name = new URL(database.url).pathname.slice(1).replace('mintid_test', 'user')
  server.run(`create user ${name} identified by 'secret';`)
  t.after(() => server.run(`drop user ${name};`))
  database.run(`grant insert on ids to ${name};`)
  const url = new URL(database.url)
  url.username = name
  url.password = 'secret'
  const user = new Database(place.kind, url.href)
  const insert = "insert into ids (maker) values ('a');"
  if (place.kind === 'mariadb') {
    assert.match(user.tries(insert).errors, /command denied to user .* for table .*`mintid_default`/)
    const [, rights] = /^-- Users who insert need: (.*)$/m.exec(mintingSql('mariadb'))
    database.run(`${rights} to ${name};`)
  }
  user.run(insert)
  assert.equal(mintedIn(database).length, 1)
})

on(ALL, 'a fleet beside it, and nothing comes twice', async (t, place) => {
  const { database } = await mintTogether(t, place, { rows: 40, sessions: 2, processes: 3, each: 20 })
  const numbers = database.run("select min(id), max(id) from ids where maker = 'database';").flat()
  assert.deepEqual(
    inspected(numbers).map(({ machineId }) => machineId),
    [HIGHEST, HIGHEST]
  )
})

for (const [args, expected] of [
  [['--default'], /--database: expected postgres, mariadb, mysql with --default, found nothing/],
  [['--default', '--database', 'sqlite'], /found "sqlite"; who writes to a file can load mintid: coordinator 'local'/],
  [['--default', '--database', 'mysql', '--format', 'hex'], /--format: expected signed or unsigned with --default/],
  [['--default', '--database', 'mysql', '--prefix', 'a_'], /--prefix has no meaning with --default/],
  [['--layout', '0/41/10/12'], /--layout has no meaning without --default/],
  [['--restored'], /--restored has no meaning without --default/],
  [['--column', 'id"; drop table users'], /--column: expected a name of at most 40 letters, .* found/],
  [['--default', '--database', 'mysql', '--table', 'a.b'], /--table: expected a name/],
  [['--persist-prefix'], /--persist-prefix expects --prefix <text>/],
  [['--database', 'oracle'], /--database: expected postgres, mysql, mariadb, sqlite; found "oracle"/]
]) {
  test(`not understood: mintid ddl ${args.join(' ')}`, () => {
    const { status, stdout, stderr } = mintid(['ddl', ...args])
    assert.deepEqual([status, stdout], [2, ''])
    assert.match(stderr, expected)
  })
}

for (const [args, expected] of [
  [['--database', 'sqlite', '--format', 'unsigned'], /ERR_MINTID_CONFIG: --format: SQLite has no type for unsigned/],
  [['--format', 'signed', '--prefix', 'a_', '--persist-prefix'], /ERR_MINTID_CONFIG: persistPrefix: expected false/],
  [['--prefix', 'a b'], /ERR_MINTID_CONFIG: prefix: expected/],
  [['--default', '--database', 'mysql', '--layout', '0/1/1/1'], /ERR_MINTID_CONFIG: layout\.time: /]
]) {
  test(`refused: mintid ddl ${args.join(' ')}`, () => {
    const { status, stdout, stderr } = mintid(['ddl', ...args])
    assert.deepEqual([status, stdout], [1, ''])
    assert.match(stderr, expected)
  })
}
