'use strict'

/** How many characters follow the prefix; signed and unsigned numbers have no fixed length. */
const LENGTHS = { base58: 11, url64: 11, hex: 16, hex32: 13, base62: 11, decimal: 20 }

module.exports = { LENGTHS }
