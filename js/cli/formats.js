'use strict'

/** How many characters follow the prefix; decimal numbers have no fixed length. */
const LENGTHS = { base58: 11, url64: 11, hex: 16, hex32: 13 }

module.exports = { LENGTHS }
