'use strict'

const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { layoutOptions } = require('../../options/layout.js')
const { UsageError } = require('../arguments.js')
const { quoted } = require('./names.js')

/** The highest of more would not be the database's. */
const MOST_MACHINE_BITS = 15

/** What MySQL and MariaDB have in common. */
const MYSQL = {
  now: "timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)) div 1000",
  types: { signed: 'bigint', unsigned: 'bigint unsigned' }
}

/** The databases that can mint: their words, what `result` is made of, and what is said above the SQL. */
const DIALECTS = {
  postgres: {
    schema: 'public',
    now: 'floor(extract(epoch from clock_timestamp()) * 1000)::bigint',
    types: { signed: 'bigint', unsigned: 'numeric(20)' },
    signed: () => 'id',
    unsigned: () => 'case when id < 0 then id + 18446744073709551616::numeric else id end',
    note: ({ sequence }) => `Roles that insert need: grant usage on sequence ${sequence}`
  },
  mariadb: {
    ...MYSQL,
    // The condition takes the value: of two operands nothing says which is evaluated first.
    signed: (words) => taken(words, `cast(${packed(`lastval(${words.sequence})`, words)} as signed)`),
    unsigned: (words) => taken(words, packed(`lastval(${words.sequence})`, words)),
    note: ({ sequence }) => `Users who insert need: grant select, insert on ${sequence}`
  },
  mysql: {
    ...MYSQL,
    signed: (words) => `cast(${packed('minted', words)} as signed)`,
    unsigned: (words) => packed('minted', words),
    note: () => 'The ID of the last row that a connection inserted is in @mintid_default.'
  }
}

function taken({ sequence }, id) {
  return `if(nextval(${sequence}) < 0, null, ${id})`
}

/** A value of the sequence, its parts where the layout has them. */
function packed(value, { bits, shift, constant, mask }) {
  return `((${value} >> ${bits}) << ${shift}) | ${constant} | (${value} & ${mask})`
}

/**
 * SQL that makes a database mint IDs, or moves what it mints from past what a restored backup forgot.
 *
 * @param {{ database: string, format: 'signed' | 'unsigned', layout?: object, name: string, schema?: string,
 *   table?: string, column: string }} wanted names as the flags have them
 * @param {boolean} restored
 * @returns {{ layout: string, machineId: number, sequence: string, statements: string[], sql: string }}
 */
function mintingSql(wanted, restored) {
  const { database, table } = wanted
  const words = wordsOf(wanted)
  const templates = readFileSync(join(__dirname, `${database}${restored ? '-restored' : ''}.sql`), 'utf8')
  const statements = templates
    .trimEnd()
    .split('\n\n')
    .filter((template) => table !== undefined || !template.includes('{table}'))
    .map((template) => template.replace(/\{(\w+)\}/g, (_, word) => words[word]))
  const { layout, machine, sequence } = words
  const notes = restored ? restoredNotes(words) : mintingNotes(words, database, table)
  return { layout, machineId: machine, sequence, statements, sql: script(notes, statements) }
}

/** What stands in the templates' braces. */
function wordsOf({ database, format, layout, name, schema, table = 'orders', column }) {
  const { partition, time, machine, sequence: bits, epochMs } = layoutOptions(layout)
  if (machine < 1 || machine > MOST_MACHINE_BITS) {
    throw new UsageError(
      `--layout: expected 1 to ${MOST_MACHINE_BITS} bits of machine IDs with --default, found ${machine}`
    )
  }
  const dialect = DIALECTS[database]
  const place = (schema ?? dialect.schema) === undefined ? '' : `${quoted(schema ?? dialect.schema, database)}.`
  const own = schema === undefined ? '' : place
  const highest = 2 ** machine - 1
  const text = `${partition}/${time}/${machine}/${bits}@${epochMs}`
  const words = {
    layout: text,
    mark: `mintid ddl --default ${text}`,
    machine: highest,
    sequence: `${place}${quoted(name, database)}`,
    function: `${place}${quoted(format === 'unsigned' ? `${name}_unsigned` : name, database)}`,
    table: `${own}${quoted(table, database)}`,
    trigger: `${own}${quoted(`${table}_mintid`, database)}`,
    column: quoted(column, database),
    type: dialect.types[format],
    floor: `((${dialect.now} - ${epochMs}) << ${bits})`,
    // The last millisecond of a layout is never used.
    last: (((1n << BigInt(time)) - 1n) << BigInt(bits)) - 1n,
    bits,
    shift: machine + bits,
    constant: BigInt(highest) << BigInt(bits),
    mask: 2 ** bits - 1
  }
  return { ...words, result: dialect[format](words) }
}

function mintingNotes(words, database, table) {
  const { machine, layout } = words
  return [
    `IDs that the database mints itself, as machine ID ${machine} of layout ${layout}, which no registry leases.`,
    'One sequence for all columns of a database: a second one would mint the same IDs again.',
    DIALECTS[database].note(words),
    ...(table === undefined ? ['What gives a column its default is added by: mintid ddl --default --table <name>'] : [])
  ]
}

function restoredNotes({ sequence }) {
  return [
    `Run after a backup was put back, before anybody inserts: moves ${sequence} past all that it can have given out by now.`
  ]
}

/** As the clients of the databases read it: a statement that has semicolons inside is ended by something else. */
function script(notes, statements) {
  const lines = statements.flatMap((statement) => {
    const quotes = statement.includes('$mintid$')
    return statement.includes(';') && !quotes ? ['delimiter //', `${statement} //`, 'delimiter ;'] : [`${statement};`]
  })
  return [...notes.map((note) => `-- ${note}`), ...lines, ''].join('\n')
}

module.exports = { MINTING: Object.keys(DIALECTS), mintingSql }
