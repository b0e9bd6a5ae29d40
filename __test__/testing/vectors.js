'use strict'

// The vectors recorded from the Elixir originals; tests/vectors says what each field means.

const { readFileSync } = require('node:fs')
const { join } = require('node:path')

/** One file of tests/vectors, parsed. */
function vectors(name) {
  return JSON.parse(readFileSync(join(__dirname, '../../tests/vectors', name), 'utf8'))
}

const OTHERS = {
  true: true,
  ':atom': Symbol('atom'),
  '1.0': 1.5,
  '[]': [],
  '%{}': {},
  '~c"AAAAAAAAAAA"': Array(11).fill('A')
}

/** The JavaScript value of a tagged one; a float stays one, since JavaScript cannot tell 1.0 from 1. */
function untagged([tag, value]) {
  switch (tag) {
    case 's':
      return value
    case 'h':
      return Buffer.from(value, 'hex')
    case 'i':
      return BigInt(value)
    case 'nil':
      return null
    default:
      return OTHERS[value]
  }
}

module.exports = { vectors, untagged }
