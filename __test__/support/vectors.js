'use strict'

// The vectors of tests/vectors, wherever the tests were copied to.

const { existsSync, readFileSync } = require('node:fs')
const { dirname, join } = require('node:path')

/** One file of tests/vectors, parsed. */
function vectors(name) {
  return JSON.parse(readFileSync(join(folder(__dirname), name), 'utf8'))
}

function folder(from) {
  const here = join(from, 'tests', 'vectors')
  if (existsSync(here)) return here
  if (dirname(from) === from) throw new Error(`no tests/vectors in any folder above ${__dirname}`)
  return folder(dirname(from))
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
