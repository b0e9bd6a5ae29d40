'use strict'

const { spawnSync } = require('node:child_process')
const { randomBytes } = require('node:crypto')

/** The server of these tests; its role may do anything. */
const SERVER = process.env.MINTID_TEST_POSTGRES || 'postgres://postgres@127.0.0.1:5432/test'

/**
 * Runs SQL.
 *
 * @returns {string[][]} the rows of its answers, each cell as text
 */
function sql(text) {
  const args = ['--no-psqlrc', '--quiet', '--no-password', '--tuples-only', '--no-align', '--field-separator=\t']
  const all = [...args, '--set=ON_ERROR_STOP=1', SERVER]
  const { status, stdout, stderr, error } = spawnSync('psql', all, { input: text, encoding: 'utf8' })
  if (status !== 0) throw new Error(`psql: ${error?.message ?? stderr}`)
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split('\t'))
}

/** The server's URL with other parts: a user, a password, parameters. */
function serverUrl({ user, password, ...parameters } = {}) {
  const url = new URL(SERVER)
  if (user !== undefined) url.username = user
  if (password !== undefined) url.password = password
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}

/** A name that nobody else has. */
function freshName(prefix) {
  return `${prefix}_${randomBytes(6).toString('hex')}`
}

/** A schema that is gone after the test. */
function temporarySchema(t) {
  const schema = freshName('mintid_test')
  sql(`create schema ${schema}`)
  t.after(() => sql(`drop schema ${schema} cascade`))
  return schema
}

/** A role without any right, gone after the test together with those that it was given. */
function temporaryRole(t) {
  const role = freshName('mintid_test')
  sql(`create role ${role} login password 'secret'`)
  t.after(() => sql(`drop owned by ${role}; drop role ${role}`))
  return role
}

module.exports = { SERVER, sql, serverUrl, temporarySchema, temporaryRole }
