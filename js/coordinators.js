'use strict'

// `mintid/coordinators`: the built-in coordinators over connections that the user's own program has.

const { unexpected, record, oneOf } = require('./options/check.js')
const { Lent } = require('./options/lent.js')

const DIALECTS = ['postgres', 'mysql', 'mariadb']

/**
 * Leases from a database through a function that runs one statement.
 *
 * @param {{ dialect: 'postgres' | 'mysql' | 'mariadb', query: Function, schema?: string }} options
 */
function sqlCoordinator(options) {
  record(options, '', ['dialect', 'query', 'schema'])
  const { dialect, query } = options
  oneOf(dialect, 'dialect', DIALECTS)
  // Connections of a pool may be in different databases.
  const schema = options.schema ?? (dialect === 'postgres' ? 'public' : undefined)
  if (typeof query !== 'function') unexpected('query', 'a function', query)
  if (typeof schema !== 'string' || schema.includes('\0')) {
    unexpected('schema', dialect === 'postgres' ? "a schema's name" : "the database's name", schema)
  }
  const coordinator = dialect === 'postgres' ? 'postgres' : 'mysql'
  return new Lent({ coordinator, name: 'sqlCoordinator', schema, dialect }, { query })
}

/**
 * Leases from Redis or Valkey through a function that runs one script.
 *
 * @param {{ eval: Function }} options
 */
function redisCoordinator(options) {
  record(options, '', ['eval'])
  const { eval: run } = options
  if (typeof run !== 'function') unexpected('eval', 'a function', run)
  return new Lent({ coordinator: 'redis', name: 'redisCoordinator' }, { eval: run })
}

module.exports = { sqlCoordinator, redisCoordinator }
