'use strict'

const { Buffer } = require('node:buffer')
const { isBytes } = require('../options/check.js')
const { codecOf } = require('./codec.js')

/** One way to write the numbers of a type: prefix, format and perhaps a mask between them and the number. */
class Spelling {
  #prefix
  #format
  #codec
  #bits
  #mask

  /**
   * @param {{ prefix: string, format: string, pad?: boolean, bits?: number, mask?: object }} spelling `mask` is a cipher
   */
  constructor({ prefix, format, pad, bits, mask }) {
    this.#prefix = prefix
    this.#format = format
    this.#codec = codecOf(format, { bits, pad })
    this.#bits = bits
    this.#mask = mask
  }

  get prefix() {
    return this.#prefix
  }

  /** Whether it is written as a bigint: a decimal number without a prefix. */
  get isBigint() {
    return isNumeric(this.#format) && this.#prefix === ''
  }

  /** The spelling of an unsigned number: a string, a bigint or a Buffer. */
  write(number) {
    return this.#write(number, this.#format, this.#codec)
  }

  /** The same in another format. */
  writeAs(number, format) {
    return this.#write(number, format, codecOf(format, { bits: this.#bits }))
  }

  #write(number, format, { write, wrap }) {
    const shown = this.#mask?.encrypt(number) ?? number
    if (isNumeric(format) && this.#prefix === '') return wrap(shown)
    const text = this.#prefix + write(shown)
    return format === 'raw' ? Buffer.from(text, 'latin1') : text
  }

  /** The unsigned number of a spelling, or the word for what is wrong with it. */
  read(value) {
    const shown = this.#unprefixed(value)
    return typeof shown === 'bigint' && this.#mask ? this.#mask.decrypt(shown) : shown
  }

  #unprefixed(value) {
    if (this.isBigint && typeof value === 'bigint') return this.#codec.fit(value)
    if (this.isBigint && typeof value === 'number') {
      return Number.isSafeInteger(value) ? this.#codec.fit(BigInt(value)) : 'unsafe number'
    }
    const isOfSort = this.#format === 'raw' ? isBytes(value) : typeof value === 'string'
    if (!isOfSort) return 'type'
    const text = Buffer.from(value).toString('latin1')
    return text.startsWith(this.#prefix) ? this.#codec.read(text.slice(this.#prefix.length)) : 'prefix'
  }

  /** A phrase for "expected …". */
  describe() {
    const { body } = this.#codec
    const prefix = this.#prefix && JSON.stringify(this.#prefix)
    if (this.isBigint) return `a bigint ${body}`
    if (this.#format === 'raw') return prefix ? `a Buffer of ${prefix} and ${body}` : `a Buffer of ${body}`
    if (isNumeric(this.#format)) return `${prefix} followed by a decimal number ${body}`
    return prefix ? `${prefix} followed by ${body}` : body
  }
}

function isNumeric(format) {
  return format === 'signed' || format === 'unsigned'
}

module.exports = { Spelling }
