'use strict'

const { refuse, record, unexpected, shown } = require('./options/check.js')
const { partitionOption } = require('./options/place.js')

const NAMES = ['schema', 'partitions']
/** PostgreSQL cuts longer names off, and then they may be equal. */
const LONGEST_NAME = 63
/** A statement each: nobody wants all of 65 536. */
const MOST = 1024

/**
 * SQL for PostgreSQL that gives a table `partition by range (id)` a part for each partition of a type.
 *
 * @param {import('../index.js').IdType} type
 * @param {object} spec the type's
 * @param {string} table
 * @param {{ schema?: string, partitions?: number[] }} [options]
 * @returns {string} statements, each ending with a semicolon and a line break
 */
function partitionDdl(type, spec, table, options = {}) {
  record(options, '', NAMES)
  const { schema, partitions = every(spec) } = options
  if (!Array.isArray(partitions) || partitions.length === 0 || partitions.length > MOST) {
    const found = Array.isArray(partitions) ? `${partitions.length} of them` : shown(partitions)
    refuse('partitions', `expected an array of 1 to ${MOST} partition numbers, found ${found}`)
  }
  const place = schema === undefined ? '' : `${quoted(schema, 'schema')}.`
  const whole = place + quoted(table, 'table')
  const statements = partitions.map((partition) => {
    const { gte, lt } = type.partitionRange(partitionOption(partition))
    const part = place + quoted(`${table}_p${partition}`, 'table')
    const values = `from (${literal(gte)}) to (${lt === null ? 'maxvalue' : literal(lt)})`
    return `create table if not exists ${part} partition of ${whole} for values ${values};\n`
  })
  return statements.join('')
}

/** All partitions of the type's own layout; nobody asks a generator for SQL. */
function every({ layout }) {
  if (layout === undefined) refuse('partitions', "expected them for a type that has the generator's layout, found none")
  return Array.from({ length: 2 ** layout.partition }, (_, partition) => partition)
}

function literal(value) {
  if (typeof value === 'bigint') return String(value)
  return typeof value === 'string' ? `'${value}'` : `'\\x${value.toString('hex')}'`
}

function quoted(name, option) {
  const expected = `a name of 1 to ${LONGEST_NAME} bytes`
  if (typeof name !== 'string' || name === '' || name.includes('\0')) unexpected(option, expected, name)
  if (Buffer.byteLength(name) > LONGEST_NAME) unexpected(option, expected, name)
  return `"${name.replaceAll('"', '""')}"`
}

module.exports = { partitionDdl }
