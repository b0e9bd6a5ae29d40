'use strict'

const LONGEST_SHOWN = 64

/**
 * Refuses an option.
 *
 * @param {string} option its dotted name, for example 'lease.ttlMs'
 * @param {string} message what is wrong with it
 * @param {unknown} [cause]
 * @returns {never}
 */
function refuse(option, message, cause) {
  fail(`${option}: ${message}`, { option, cause })
}

function fail(message, details) {
  const { ConfigError } = require('../errors.js')
  throw new ConfigError(message, details)
}

/** Refuses a value that is not what was expected, and shows it. Not for secrets. */
function unexpected(option, expected, found) {
  refuse(option, `expected ${expected}, found ${shown(found)}`)
}

/**
 * Checks that a value is an object with known names only, none of them undefined or empty.
 *
 * @param {unknown} value
 * @param {string} path the object's own dotted name; '' for the top
 * @param {string[]} names what it may have
 * @param {string[]} [mayBeEmpty] where '' has a meaning
 */
function record(value, path, names, mayBeEmpty) {
  known(value, path, names)
  filled(value, path, mayBeEmpty)
}

/** Refuses what is undefined or empty: an environment variable that is not set must not turn into a default. */
function filled(value, path, mayBeEmpty = []) {
  for (const [name, given] of Object.entries(value)) {
    if (given === undefined || (given === '' && !mayBeEmpty.includes(name))) {
      const option = dotted(path, name)
      const missing = given === undefined ? 'undefined' : 'empty'
      fail(`${option} is ${missing}; is the environment variable set?`, { option })
    }
  }
}

/** Checks that a value is an object with known names only; undefined is as good as absent. */
function known(value, path, names) {
  if (!isObject(value)) unexpected(path || 'options', 'an object', value)
  for (const name of Object.keys(value)) {
    if (names.includes(name)) continue
    const meant = meantBy(name, names)
    const hint = meant === undefined ? `known are ${names.join(', ')}` : `did you mean '${meant}'?`
    refuse(dotted(path, name), `unknown option; ${hint}`)
  }
}

/** Checks an integer; `note` says in words where the bounds come from. */
function integer(value, option, least, most, note = '') {
  if (Number.isInteger(value) && value >= least && value <= most) return value
  return unexpected(option, `an integer from ${least} to ${most}${note && ` (${note})`}`, value)
}

/** Checks true or false. */
function boolean(value, option) {
  return typeof value === 'boolean' ? value : unexpected(option, 'true or false', value)
}

/** Checks one of a few words. */
function oneOf(value, option, words) {
  if (words.includes(value)) return value
  const meant = typeof value === 'string' ? meantBy(value, words) : undefined
  const hint = meant === undefined ? '' : `; did you mean '${meant}'?`
  return refuse(option, `expected ${listed(words)}, found ${shown(value)}${hint}`)
}

function meantBy(word, words) {
  return require('./closest.js').closest(word, words)
}

/** Whether something is an object with named options: no array, no function, no null. */
function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether something is a Uint8Array or Buffer, also of another realm (`instanceof` fails in Jest). */
function isBytes(value) {
  return ArrayBuffer.isView(value) && value[Symbol.toStringTag] === 'Uint8Array'
}

/** Bytes that are the caller's no more: of a text its UTF-8. What lies over detached memory has none, and cannot be read. */
function copied(value) {
  if (typeof value === 'string') return new TextEncoder().encode(value)
  return value.length === 0 ? new Uint8Array() : Uint8Array.from(value)
}

/** Whether something is a Date, also of another realm. */
function isDate(value) {
  return Object.prototype.toString.call(value) === '[object Date]'
}

/**
 * What was found, for a message: at most 64 characters, printable ASCII; objects by their kind only, and no URL, which
 * may hold a password whatever option it ended up in.
 */
function shown(value) {
  switch (typeof value) {
    case 'string':
      return value.includes('://') ? 'a URL' : shownText(value.slice(0, LONGEST_SHOWN + 1))
    case 'bigint':
      return cut(`${value}n`)
    case 'object':
      return shownObject(value)
    case 'function':
      return 'a function'
    case 'symbol':
      return 'a symbol'
    default:
      return String(value)
  }
}

function listed(words) {
  const quoted = words.map((word) => `'${word}'`)
  if (quoted.length === 1) return quoted[0]
  return `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`
}

/** The dotted name of an object's member. */
function dotted(path, name) {
  const plain = /^[\w.-]{1,64}$/.test(name) ? name : shown(name)
  return path ? `${path}.${plain}` : plain
}

function shownText(value) {
  return cut(JSON.stringify(value).replace(/[^\x20-\x7e]/gu, escaped))
}

function shownObject(value) {
  if (value === null) return 'null'
  if (isDate(value)) return Number.isNaN(value.getTime()) ? 'an invalid Date' : value.toISOString()
  return Array.isArray(value) ? 'an array' : 'an object'
}

function escaped(character) {
  return `\\u{${character.codePointAt(0).toString(16)}}`
}

function cut(text) {
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text
}

module.exports = {
  refuse,
  unexpected,
  record,
  filled,
  known,
  integer,
  boolean,
  oneOf,
  isObject,
  isBytes,
  copied,
  isDate,
  shown,
  dotted
}
