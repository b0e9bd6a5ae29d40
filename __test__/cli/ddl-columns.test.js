'use strict'

// What `mintid ddl` prints, on the real databases: each column keeps what mintid writes, and nothing else is taken for it.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { IdGenerator } = require('mintid')
const { Database, PLACES } = require('../support/databases.js')
const { mintid } = require('./cli.js')

const [LEAST_NEGATIVE, GREATEST] = [2n ** 63n, 2n ** 64n - 1n]
/** In ascending order; the first and the last are the lowest and the highest there are. */
const NUMBERS = [0n, 1n, 0x0123456789abcdefn, LEAST_NEGATIVE - 1n, LEAST_NEGATIVE, GREATEST - 1n, GREATEST]
const PREFIX = 'a-B_'
const TEXTS = ['base58', 'url64', 'hex', 'hex32', 'base62', 'decimal']

const ids = new IdGenerator({ coordinator: 'none' })

/** The columns of a database, as the command prints them. */
function columnsOf(database, ...args) {
  const { status, stdout, stderr } = mintid(['ddl', '--database', database, ...args, '--json'])
  assert.deepEqual([status, stderr], [0, ''])
  return JSON.parse(stdout).columns
}

/** What a column of `format` has for each number, as mintid writes it. */
function valuesOf(format, prefix) {
  const type = ids.type(prefix, { format: 'hex', dbFormat: format, ...(prefix ? { persistPrefix: true } : {}) })
  return NUMBERS.map((number) => type.toDb(`${prefix}${number.toString(16).padStart(16, '0')}`))
}

/** A value as SQL writes it. */
function literal(kind, value) {
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'string') return `'${value}'`
  const hex = Buffer.from(value).toString('hex')
  return kind === 'postgres' ? `'\\x${hex}'` : `x'${hex}'`
}

/** The column of a row as text. */
function shownBy(kind, format) {
  if (format !== 'raw') return 'id'
  return kind === 'postgres' ? "encode(id, 'hex')" : 'lower(hex(id))'
}

/** In the order of the numbers as the database has them. */
function inOrder(format) {
  const signed = (number) => BigInt.asIntN(64, number)
  const labels = NUMBERS.map((number, label) => ({ number: format === 'signed' ? signed(number) : number, label }))
  return labels.sort((a, b) => (a.number < b.number ? -1 : 1)).map(({ label }) => String(label))
}

for (const place of PLACES) {
  const { kind } = place
  const skip = kind !== 'sqlite' && !place.url ? place.without : false

  for (const prefix of ['', PREFIX]) {
    test(`${kind}: every column keeps what mintid writes${prefix && ', prefixes too'}`, { skip }, (t) => {
      const database = Database.temporary(t, place)
      const columns = columnsOf(kind, ...(prefix ? ['--prefix', prefix, '--persist-prefix'] : []))
      const numeric = kind === 'sqlite' ? ['signed'] : ['signed', 'unsigned']
      assert.deepEqual(
        columns.map(({ format }) => format),
        [...(prefix ? [] : numeric), 'raw', ...TEXTS]
      )
      for (const column of columns) keeps(database, column, prefix)
    })
  }

  test(`${kind}: texts that differ in case or in a blank at the end are two`, { skip }, (t) => {
    const database = Database.temporary(t, place)
    const texts = columnsOf(kind).filter(({ format }) => TEXTS.includes(format))
    assert.equal(texts.length, TEXTS.length)
    for (const { format, type } of texts) {
      const found = database.run(`
        create table t_${format} (id ${type} primary key);
        insert into t_${format} (id) values ('abcdefghij'), ('abcdefghij '), ('abcdefghiJ'), ('ABCDEFGHIJ');
        select count(*) from t_${format} where id = 'abcdefghij';
        select count(*) from t_${format} where id = 'Abcdefghij';
        select count(*) from t_${format} where id = 'abcdefghij ';`)
      assert.deepEqual(found.flat(), ['1', '0', '1'], format)
    }
  })

  test(`${kind}: what is no ID by its length is refused`, { skip }, (t) => {
    const database = Database.temporary(t, place)
    for (const column of columnsOf(kind)) refuses(database, column)
  })
}

function keeps(database, { format, definition, order }, prefix) {
  const { kind } = database
  const values = valuesOf(format, prefix)
  const rows = values.map((value, label) => `(${literal(kind, value)}, ${label})`)
  const shown = shownBy(kind, format)
  const found = database.run(`
    create table t_${format} (${definition}, label integer not null, primary key (id));
    insert into t_${format} (id, label) values ${rows.join(', ')};
    select ${shown}, label from t_${format} order by label;
    select 'sorted', label from t_${format} order by id;
    ${values.map((value) => `select 'found', count(*) from t_${format} where id = ${literal(kind, value)};`).join('\n')}`)
  const named = (name) => found.filter(([first]) => first === name).map(([, second]) => second)
  const [kept, labels] = [found.slice(0, NUMBERS.length), named('sorted')]
  const texts = values.map((value) => (typeof value === 'object' ? Buffer.from(value).toString('hex') : String(value)))
  assert.deepEqual(
    kept.map(([value]) => value),
    texts,
    format
  )
  assert.deepEqual(named('found'), Array(NUMBERS.length).fill('1'), `where id = … of ${format}`)
  if (order === null) assert.equal(format, 'url64')
  else assert.deepEqual(labels, inOrder(format), `order by ${format}`)
}

/** Values that each column must refuse, also where MySQL is told to be lenient. */
function refuses(database, { format, definition }) {
  const { kind } = database
  const values = NO_NUMBERS[format] ?? noLengths(kind, format)
  const modes = ['', "set sql_mode = '';"]
  for (const mode of kind === 'mysql' || kind === 'mariadb' ? modes : ['']) {
    // Numbers out of range are for MySQL itself to refuse; when it is lenient, it takes the nearest.
    if (mode && format in NO_NUMBERS) continue
    const inserts = values.map((value) => `insert into t_${format} (id) values (${value});`)
    const { found, errors } = database.tries(`
      create table ${mode && 'if not exists '}t_${format} (${definition});
      ${mode} ${inserts.join('\n')}
      select count(*) from t_${format};`)
    assert.deepEqual(found, [['0']], `${format}: ${errors}`)
    const said = errors.match(/check|constraint|out of range|too long|cannot be null/gi) ?? []
    assert.ok(said.length >= values.length, `${format}: ${errors}`)
  }
}

const NO_NUMBERS = {
  signed: ['9223372036854775808', '-9223372036854775809', 'null'],
  unsigned: ['18446744073709551616', '-1', 'null']
}

/** One too short, one too long, nothing, and blanks before and after. */
function noLengths(kind, format) {
  const [, , value] = valuesOf(format, '')
  if (format === 'raw') {
    const bytes = [value.subarray(1), value.subarray(0, 7), Buffer.concat([value, Buffer.of(0)]), Buffer.alloc(0)]
    return bytes.map((bytes) => literal(kind, bytes))
  }
  const texts = [value.slice(1), `${value}1`, '', `${value} `, `${value}  `, ` ${value}`, `${value}\n`]
  return texts.map((text) => literal(kind, text))
}
