'use strict'

const { filled, refuse, dotted, isObject, shown } = require('./check.js')

/** What an object calls otherwise than a URL does. */
const URL_NAMES = new Map([['database', 'dbname']])

/**
 * A PostgreSQL coordinator in its object form. Which parameters there are, and what they may be, is known to native code
 * alone, as for URLs.
 *
 * @param {object} given `{ type: 'postgres', host, port, user, password, database, … }`
 * @returns {{ coordinator: 'postgres', parameters: [string, string][] }} under the names that URLs use
 */
function postgresObject(given) {
  filled(given, 'coordinator')
  for (const [own, inUrl] of URL_NAMES) {
    if (!Object.hasOwn(given, own) || !Object.hasOwn(given, inUrl)) continue
    refuse(`coordinator.${inUrl}`, `expected one of ${own} and ${inUrl}, which mean the same, found both`)
  }
  const { type: _, ...parameters } = given
  return {
    coordinator: 'postgres',
    parameters: Object.entries(parameters).map(([name, value]) => [URL_NAMES.get(name) ?? name, text(name, value)])
  }
}

/** Messages never show a text, a number or a bigint: any of them may be the password. */
function text(name, value) {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean' || Number.isFinite(value)) return String(value)
  const found = typeof value === 'bigint' ? 'a bigint' : shown(value)
  const hint = name === 'ssl' && isObject(value) ? '; certificates belong into the option tls' : ''
  return refuse(dotted('coordinator', name), `expected a text, a number, true or false, found ${found}${hint}`)
}

module.exports = { postgresObject }
