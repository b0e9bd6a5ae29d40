'use strict'

// The keys of one generator and the ciphers made from them, as src/cipher/keyring.rs finds them. Ciphers take and give
// unsigned BigInts.

const { pbkdf2Sync } = require('node:crypto')
const { KEY_LENGTHS, DEFAULT_CIPHERS } = require('../../options/cipher.js')
const { Failure } = require('../failure.js')
const { aes } = require('./aes.js')
const { blowfish } = require('./blowfish.js')
const { des3 } = require('./des3.js')
const { ff1 } = require('./ff1.js')
const { speck } = require('./speck.js')
const { wideSpeck } = require('./wide-speck.js')

/** What makes a cipher of an explicit key, and the salt under which that is derived from a base key. */
const CIPHERS = {
  speck: {
    64: { salt: 'speck64_128', make: speck },
    96: { salt: 'speck96_144', make: (key) => wideSpeck(key, 96) },
    128: { salt: 'speck128_256', make: (key) => wideSpeck(key, 128) }
  },
  aes: { 64: { salt: 'aes_64', make: ff1 }, 128: { salt: 'aes', make: aes } },
  blowfish: {
    64: { salt: 'blowfish_64', make: blowfish },
    96: { salt: 'blowfish_96', make: (key) => beforeZeros(blowfish(key)) }
  },
  des3: {
    64: { salt: 'des3_64', make: des3 },
    96: { salt: 'des3_96', make: (key) => beforeZeros(des3(key)) }
  }
}

class Keyring {
  #base
  #named
  #explicit
  #chosen
  #made = new Map()

  /** @param {object} keys what `keyOptions` returns; all of it may be left out */
  constructor({ key, keys = [], cipherKeys = [], ciphers = [] }) {
    this.#base = key
    this.#named = new Map(keys.map(({ name, key }) => [name, key]))
    this.#explicit = new Map(cipherKeys.map(({ bits, key }) => [bits, key]))
    this.#chosen = { ...DEFAULT_CIPHERS, ...Object.fromEntries(ciphers.map(({ bits, cipher }) => [bits, cipher])) }
  }

  /**
   * The cipher of a size: of the key of a name, or of the one without, by the name of the algorithm, or the generator's.
   *
   * @param {string} what the option that asks for it
   */
  cipher(bits, { key: name, cipher = this.#chosen[bits], maskTweak }, what) {
    const id = [bits, name ?? '', cipher, maskTweak ?? ''].join(' ')
    if (!this.#made.has(id)) {
      const { salt, make } = CIPHERS[cipher][bits]
      const key = name === undefined && cipher === this.#chosen[bits] ? this.#explicit.get(bits) : undefined
      const derived = (base) => pbkdf2Sync(base, salt, 1000, KEY_LENGTHS[cipher][bits], 'sha256')
      if (maskTweak && cipher !== 'aes') {
        throw new Failure('CONFIG', `maskTweak: expected cipher 'aes', found '${cipher}'`, { option: 'maskTweak' })
      }
      const made = make(key === undefined ? derived(this.#baseKey(name, bits, what)) : Buffer.from(key), maskTweak)
      this.#made.set(id, made)
    }
    return this.#made.get(id)
  }

  /** Puts a nonce of 8, 12 or 16 bytes through the cipher of its size, by its method `encrypt` or `decrypt`. */
  crypt(nonce, method) {
    const bits = 8 * nonce.length
    const cipher = this.cipher(bits, {}, 'a nonce')
    const number = BigInt(`0x${Buffer.from(nonce).toString('hex')}`)
    if (!(cipher.takes?.(number) ?? true)) {
      const text = `nonce: expected four bytes of zero at the end of 12 under '${this.#chosen[bits]}'`
      throw new Failure('CONFIG', text, { option: 'nonce' })
    }
    return Buffer.from(
      cipher[method](number)
        .toString(16)
        .padStart(bits / 4, '0'),
      'hex'
    )
  }

  #baseKey(name, bits, what) {
    const key = name === undefined ? this.#base : this.#named.get(name)
    if (key !== undefined) return key
    if (name !== undefined) {
      const text = `mask: expected true or the name of one of the generator's keys, found ${JSON.stringify(name)}`
      throw new Failure('CONFIG', text, { option: 'mask' })
    }
    throw new Failure('NO_KEY', `${what} needs a key: give the generator the option key, at least 32 bytes`, { bits })
  }
}

/** 96 bits of which a cipher of 64 takes the upper ones; the others are zero. */
function beforeZeros({ encrypt, decrypt }) {
  return {
    encrypt: (number) => encrypt(number >> 32n) << 32n,
    decrypt: (number) => decrypt(number >> 32n) << 32n,
    takes: (number) => BigInt.asUintN(32, number) === 0n
  }
}

module.exports = { Keyring }
