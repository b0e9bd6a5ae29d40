'use strict'

const { LENGTHS } = require('../formats.js')

/** Bytes of the number itself. */
const BYTES = 8
const GREATEST = '18446744073709551615'

/**
 * What a column is made of, by database: `type`, and what its `check` says of the column `id`. Each keeps texts apart that
 * differ in their case or in a blank at the end, and refuses another length; MySQL and MariaDB cut blanks off that are too
 * many for a varchar, and say nothing, so theirs has room for one more.
 */
const DATABASES = {
  postgres: {
    name: 'PostgreSQL',
    quote: '"',
    signed: () => ({ type: 'bigint' }),
    unsigned: (id) => ({ type: 'numeric(20)', check: `${id} between 0 and ${GREATEST}` }),
    raw: (id, length) => ({ type: 'bytea', check: `octet_length(${id}) = ${length}` }),
    text: (id, length) => ({ type: 'text collate "C"', check: `octet_length(${id}) = ${length}` })
  },
  mysql: mysqlLike('MySQL', 'character set utf8mb4 collate utf8mb4_0900_bin'),
  mariadb: mysqlLike('MariaDB', 'character set ascii collate ascii_nopad_bin'),
  sqlite: {
    name: 'SQLite',
    quote: '"',
    signed: (id) => ({ type: 'bigint', check: `typeof(${id}) = 'integer'` }),
    raw: (id, length) => ({ type: 'blob', check: `typeof(${id}) = 'blob' and length(${id}) = ${length}` }),
    text: (id, length) => ({
      type: 'text collate binary',
      check: `typeof(${id}) = 'text' and length(${id}) = ${length}`
    })
  }
}

function mysqlLike(name, collation) {
  const check = (id, length) => `octet_length(${id}) = ${length}`
  return {
    name,
    quote: '`',
    signed: () => ({ type: 'bigint' }),
    unsigned: () => ({ type: 'bigint unsigned' }),
    raw: (id, length) => ({ type: `varbinary(${length + 1})`, check: check(id, length) }),
    text: (id, length) => ({ type: `varchar(${length + 1}) ${collation}`, check: check(id, length) })
  }
}

/** Like what `order by` sorts the values of a format: the digits of url64 do not ascend. */
const ORDERS = { signed: 'signed number', url64: null }

const COLUMNS = ['signed', 'unsigned', 'raw', ...Object.keys(LENGTHS)]

/**
 * A column for IDs, or undefined where the database has no type for them.
 *
 * @param {{ database: string, format: string, prefix: string, column: string }} wanted `prefix`: what the column keeps of
 *   it; `column` as SQL writes it
 * @returns {{ database: string, format: string, length: number | null, order: string | null, type: string,
 *   check: string | null, definition: string } | undefined} `length`: in bytes, null for numbers
 */
function columnOf({ database, format, prefix, column }) {
  const length = format === 'raw' ? prefix.length + BYTES : format in LENGTHS ? prefix.length + LENGTHS[format] : null
  const { type, check = null } = DATABASES[database][format in LENGTHS ? 'text' : format]?.(column, length) ?? {}
  if (type === undefined) return undefined
  const order = format in ORDERS ? ORDERS[format] : 'number'
  const definition = `${column} ${type} not null${check ? ` check (${check})` : ''}`
  return { database, format, length, order, type, check, definition }
}

module.exports = { COLUMNS, DATABASES, columnOf }
