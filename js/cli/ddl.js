'use strict'

const { ConfigError } = require('../errors.js')
const { shown } = require('../options/check.js')
const { typeOptions } = require('../options/type.js')
const { UsageError } = require('./arguments.js')
const { COLUMNS, DATABASES, columnOf } = require('./ddl/columns.js')
const { MINTING, mintingSql } = require('./ddl/minting.js')
const { nameFlag, quoted } = require('./ddl/names.js')
const { table } = require('./help.js')
const { layoutFlags, layoutOf } = require('./layout.js')

/** What has a meaning with --default only, and what has none with it. */
const OF_DEFAULT = ['restored', 'layout', 'epoch', 'name', 'schema', 'table']
const OF_COLUMNS = ['prefix', 'persist-prefix']

const NOTES = [
  'url64 does not sort like the number; the others do, signed like the signed number.',
  'Put primary key, references … before check.'
]

module.exports = {
  summary: 'print column types for IDs, or SQL with which a database mints them',
  usage: 'ddl [flags]',
  about: `Prints how columns for IDs are declared, by database and dbFormat. Texts that differ in their case or in a blank at
the end stay apart, and what has not the length of an ID is refused. --database and --format print one of them alone.

With --default it prints SQL with which the database mints IDs itself: for psql, COPY, triggers, seeds and programs
without mintid. They have the highest machine ID of the layout, which registries never lease. The layout must be that
of the generators which write the same columns. Without --table it prints what a database needs once; with it, also
what gives a column its default. It may be run again. After a backup was put back, the SQL of --default --restored, or
mintid setup --restored in the same database, moves the sequence past what the backup forgot.`,
  words: [],
  flags: {
    database: { type: 'string', value: 'name', choices: Object.keys(DATABASES), otherwise: 'all', about: 'for which' },
    format: { type: 'string', value: 'format', choices: COLUMNS, otherwise: 'all', about: 'dbFormat' },
    column: { type: 'string', value: 'name', about: "the column; by default 'id'" },
    prefix: { type: 'string', value: 'text', about: "the types' prefix" },
    'persist-prefix': { type: 'boolean', about: 'the column holds the prefix too' },
    default: { type: 'boolean', about: 'SQL with which the database mints (--format signed or unsigned)' },
    restored: { type: 'boolean', about: 'with --default: SQL to run after a backup was put back' },
    table: { type: 'string', value: 'name', about: 'with --default: also what gives the column its default' },
    schema: { type: 'string', value: 'name', about: 'with --default: where sequence and table are' },
    name: { type: 'string', value: 'name', about: "with --default: the sequence; by default 'mintid_default'" },
    ...layoutFlags
  },

  run(flags) {
    const [useless] = (flags.default ? OF_COLUMNS : OF_DEFAULT).filter((flag) => flag in flags)
    if (useless) throw new UsageError(`--${useless} has no meaning with${flags.default ? '' : 'out'} --default`)
    for (const flag of ['column', 'name', 'schema', 'table']) if (flag in flags) nameFlag(flag, flags[flag])
    return flags.default ? minting(flags) : columns(flags)
  }
}

function minting({ database, format = 'signed', column = 'id', name = 'mintid_default', schema, table, ...flags }) {
  if (!MINTING.includes(database)) throw cannotMint(database)
  if (!['signed', 'unsigned'].includes(format)) {
    throw new UsageError(`--format: expected signed or unsigned with --default, found ${shown(format)}`)
  }
  const wanted = { database, format, column, name, schema, table, layout: layoutOf(flags) }
  const { sql, ...answer } = mintingSql(wanted, flags.restored === true)
  return { json: { database, format, ...answer, sql }, lines: [sql.trimEnd()] }
}

function cannotMint(database) {
  const expected = `--database: expected ${MINTING.join(', ')} with --default, found`
  if (database === undefined) return new UsageError(`${expected} nothing`)
  return new UsageError(
    `${expected} ${shown(database)}; who writes to a file can load mintid: coordinator 'local', or file:///…`
  )
}

function columns({ database, format, prefix = '', 'persist-prefix': persists = false, column = 'id' }) {
  const databases = database === undefined ? Object.keys(DATABASES) : [database]
  const formats = format === undefined ? COLUMNS.filter((name) => !persists || isBytes(name)) : [format]
  if (persists && prefix === '') throw new UsageError('--persist-prefix expects --prefix <text>')
  // Says what an ID type would say.
  for (const dbFormat of formats) typeOptions(prefix, { dbFormat, ...(persists ? { persistPrefix: true } : {}) })
  const kept = persists ? prefix : ''
  const all = databases.flatMap((database) =>
    formats.map((format) => columnOf({ database, format, prefix: kept, column: quoted(column, database) }))
  )
  const found = all.filter((column) => column !== undefined)
  if (found.length === 0) {
    throw new ConfigError(
      `--format: ${DATABASES[database].name} has no type for ${format}: its integers are signed; use signed`,
      { option: 'format' }
    )
  }
  return { json: { columns: found }, lines: found.length === 1 ? [found[0].definition] : described(found) }
}

/** Whether a format is one of texts or bytes, which can hold a prefix. */
function isBytes(format) {
  return format !== 'signed' && format !== 'unsigned'
}

function described(found) {
  const blocks = Object.entries(DATABASES).flatMap(([database, { name }]) => {
    const rows = found.filter((column) => column.database === database)
    return rows.length === 0 ? [] : [name, table(rows.map(({ format, definition }) => [format, definition])), '']
  })
  return [...blocks, ...NOTES]
}
