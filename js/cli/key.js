'use strict'

const { randomBytes } = require('node:crypto')

/** A base key: 32 random bytes, spelled in 43 characters of base64url. */
const newKey = () => randomBytes(32).toString('base64url')

module.exports = {
  newKey,
  summary: 'print a new base key',
  usage: 'mintid key [--json]',
  about: `Prints 32 random bytes as 43 characters of base64url: a base key for MINTID_KEY.
Keep it secret (who has it can unmask IDs) and keep it (another key changes every public ID).`,
  positionals: [],
  options: {},
  run() {
    const key = newKey()
    return { json: { key }, lines: [key] }
  },
}
