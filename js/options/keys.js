'use strict'

const { record, copied, filled, oneOf, refuse, unexpected, isBytes, isObject } = require('./check.js')
const { KEY_LENGTHS, DEFAULT_CIPHERS, ciphersOf } = require('./cipher.js')

const SHORTEST_KEY = 32
const NAME = /^[A-Za-z0-9._-]{1,64}$/

/**
 * The secrets of a generator and the ciphers that it takes where a type says nothing. Messages show no part of a key.
 *
 * @param {object} options the user's
 * @returns {{ key: Uint8Array | undefined, keys: object[], cipherKeys: object[], ciphers: object[] }}
 */
function keyOptions({ key, keys = {}, cipherKeys = {}, ciphers = {} }) {
  const sizes = Object.keys(DEFAULT_CIPHERS)
  record(ciphers, 'ciphers', sizes)
  for (const bits of Object.keys(ciphers)) oneOf(ciphers[bits], `ciphers.${bits}`, ciphersOf(bits))
  record(ofKeys(cipherKeys, 'cipherKeys'), 'cipherKeys', sizes)
  return {
    key: key === undefined ? undefined : baseKey(key, 'key'),
    keys: namedKeys(keys),
    cipherKeys: Object.keys(cipherKeys).map((bits) => {
      const cipher = ciphers[bits] ?? DEFAULT_CIPHERS[bits]
      return { bits: Number(bits), key: cipherKey(cipherKeys[bits], `cipherKeys.${bits}`, cipher, bits) }
    }),
    ciphers: Object.keys(ciphers).map((bits) => ({ bits: Number(bits), cipher: ciphers[bits] }))
  }
}

function namedKeys(keys) {
  filled(ofKeys(keys, 'keys'), 'keys')
  return Object.keys(keys).map((name) => {
    if (!NAME.test(name)) unexpected('keys', 'names of 1 to 64 characters of A-Z a-z 0-9 . _ -', name)
    return { name, key: baseKey(keys[name], `keys.${name}`) }
  })
}

/** Whoever mistakes `keys` for `key` shall not find it in a log. */
function ofKeys(value, option) {
  if (isObject(value) && !isBytes(value)) return value
  return refuse(option, `expected an object of keys, found a value of type ${typeof value}`)
}

/** A copy, so that the caller may wipe its own. */
function baseKey(value, option) {
  const bytes = bytesOf(value, option)
  if (bytes.length < SHORTEST_KEY) {
    refuse(option, `expected at least ${SHORTEST_KEY} bytes, found ${bytes.length}; \`npx mintid key\` makes one`)
  }
  return bytes
}

function cipherKey(value, option, cipher, bits) {
  const bytes = bytesOf(value, option)
  const length = KEY_LENGTHS[cipher][bits]
  if (bytes.length !== length) refuse(option, `expected ${length} bytes for '${cipher}', found ${bytes.length}`)
  return bytes
}

function bytesOf(value, option) {
  if (isBytes(value) || typeof value === 'string') return copied(value)
  return refuse(option, `expected a string or a Uint8Array, found a value of type ${typeof value}`)
}

module.exports = { keyOptions }
