'use strict'

const { shown } = require('../../options/check.js')
const { UsageError } = require('../arguments.js')
const { DATABASES } = require('./columns.js')

/** Names that need no quotes in any database. */
const PLAIN = ['id', 'public', 'mintid_default', 'mintid_default_unsigned']

/** A name as SQL writes it. */
function quoted(name, database) {
  const { quote } = DATABASES[database]
  return PLAIN.includes(name) ? name : `${quote}${name}${quote}`
}

/** A name from a flag, with no character that could end its quotes. */
function nameFlag(flag, name) {
  if (/^[\p{L}_][\p{L}\p{N}_$-]{0,39}$/u.test(name)) return name
  throw new UsageError(`--${flag}: expected a name of at most 40 letters, digits, _, $ or -; found ${shown(name)}`)
}

module.exports = { quoted, nameFlag }
