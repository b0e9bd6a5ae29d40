'use strict'

const { randomBytes } = require('node:crypto')

/** A new base key: 32 random bytes as 43 characters of base64url. */
function newKey() {
  return randomBytes(32).toString('base64url')
}

module.exports = {
  newKey,
  summary: 'print a new base key',
  usage: 'key [--json]',
  about: `Prints a base key: 32 random bytes as 43 characters of base64url. Keep it secret, since who has it can unmask
IDs; and keep it, since another key changes every masked ID.`,
  words: [],
  flags: {},

  run() {
    const key = newKey()
    return { json: { key }, lines: [key] }
  }
}
