'use strict'

// `mintid/coordinators`: the built-in coordinators over connections that the user's own program has.

const { refuse, unexpected, record, oneOf } = require('./options/check.js')
const { Lent } = require('./options/lent.js')

const DIALECTS = ['postgres']
const LATER_DIALECTS = ['mysql', 'mariadb']

/**
 * Leases from a database through a function that runs one statement.
 *
 * @param {{ dialect: 'postgres', query: Function, schema?: string }} options
 */
function sqlCoordinator(options) {
  record(options, '', ['dialect', 'query', 'schema'])
  const { dialect, query, schema = 'public' } = options
  if (LATER_DIALECTS.includes(dialect)) refuse('dialect', `'${dialect}' is not supported by this version`)
  oneOf(dialect, 'dialect', DIALECTS)
  if (typeof query !== 'function') unexpected('query', 'a function', query)
  if (typeof schema !== 'string' || schema.includes('\0')) unexpected('schema', "a schema's name", schema)
  return new Lent({ coordinator: dialect, name: 'sqlCoordinator', schema }, { query })
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
