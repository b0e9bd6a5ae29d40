'use strict'

/** The bytes of a key by cipher and size; a cipher has no other sizes. */
const KEY_LENGTHS = {
  speck: { 64: 16, 96: 18, 128: 32 },
  aes: { 64: 32, 128: 32 },
  blowfish: { 64: 16, 96: 16 },
  des3: { 64: 24, 96: 24 }
}

/** What a size is encrypted with where nothing is said. */
const DEFAULT_CIPHERS = { 64: 'speck', 96: 'speck', 128: 'aes' }

/** The ciphers that have a size. */
function ciphersOf(bits) {
  return Object.keys(KEY_LENGTHS).filter((cipher) => bits in KEY_LENGTHS[cipher])
}

module.exports = { KEY_LENGTHS, DEFAULT_CIPHERS, ciphersOf }
