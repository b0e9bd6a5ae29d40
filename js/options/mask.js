'use strict'

const { copied, refuse, unexpected, isBytes } = require('./check.js')

const LONGEST_TWEAK = 256

/**
 * Whether there is a mask, and under which of the generator's keys.
 *
 * @param {unknown} mask the user's: true, false, or a key's name
 * @returns {{ mask: boolean, key: string | undefined }}
 */
function maskOption(mask, option) {
  if (typeof mask === 'boolean') return { mask, key: undefined }
  if (typeof mask === 'string' && mask !== '') return { mask: true, key: mask }
  return unexpected(option, "true, false or the name of one of the generator's keys", mask)
}

/** What chooses among the masks of one key: a copy of its bytes. Only FF1, the cipher 'aes', has such a thing. */
function tweakOption(tweak, option, cipher) {
  if (tweak === undefined) return undefined
  if (typeof tweak !== 'string' && !isBytes(tweak)) unexpected(option, 'a text or a Uint8Array', tweak)
  const bytes = copied(tweak)
  if (bytes.length === 0 || bytes.length > LONGEST_TWEAK) {
    refuse(option, `expected 1 to ${LONGEST_TWEAK} bytes, found ${bytes.length}`)
  }
  if (cipher !== undefined && cipher !== 'aes') refuse(option, `expected none with cipher '${cipher}', but with 'aes'`)
  return bytes
}

module.exports = { maskOption, tweakOption }
