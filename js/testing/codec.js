'use strict'

// How each format spells a 64-bit number, in plain JavaScript: the same texts and the same refusals as src/codec. Texts
// are strings of bytes (Latin-1), so that lengths are counted as native code counts them.

const LARGEST = 2n ** 64n - 1n
const DIGITS = '0123456789'
const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const LOWER = UPPER.toLowerCase()
const LONGEST_DECIMAL = 20

/**
 * By format: `write` gives the spelling of an unsigned 64-bit number, `read` the number of a spelling, or the word for
 * what is wrong with it ('length', 'character', 'not canonical', 'range'). Numeric formats do the same with bigints by
 * `wrap` and `fit`. `body` describes a spelling.
 */
const codecs = {
  base58: positional('base58', (DIGITS + UPPER + LOWER).replace(/[0OIl]/g, ''), 11),
  url64: positional('url64', `${UPPER}${LOWER}${DIGITS}-_`, 11, 2n),
  hex: positional('hex', (DIGITS + LOWER).slice(0, 16), 16),
  hex32: positional('hex32', (DIGITS + LOWER).slice(0, 32), 13, 1n),
  base62: positional('base62', DIGITS + UPPER + LOWER, 11),
  decimal: positional('decimal', DIGITS, 20),
  signed: decimal(-(2n ** 63n), 2n ** 63n - 1n, (number) => BigInt.asIntN(64, number)),
  unsigned: decimal(0n, LARGEST, (number) => number),
  raw: { ...positional('raw', String.fromCharCode(...Array(256).keys()), 8), body: '8 bytes' }
}

/** Digits of an alphabet, the highest one first; `unused` bits at the end are zero. */
function positional(name, alphabet, length, unused = 0n) {
  const base = BigInt(alphabet.length)
  return {
    body: `${length} characters of ${name}`,
    alphabet,
    length,
    name,

    write(number) {
      let text = ''
      for (let rest = number << unused; text.length < length; rest /= base) text = alphabet[Number(rest % base)] + text
      return text
    },

    read(text) {
      if (text.length !== length) return 'length'
      const digits = [...text].map((character) => alphabet.indexOf(character))
      if (digits.includes(-1)) return 'character'
      const number = digits.reduce((number, digit) => number * base + BigInt(digit), 0n)
      if (BigInt.asUintN(Number(unused), number) !== 0n) return 'not canonical'
      return number >> unused > LARGEST ? 'range' : number >> unused
    }
  }
}

/** The same without padding. */
function unpadded({ write, read, alphabet, length, name }) {
  const zeros = new RegExp(`^${alphabet[0]}+(?=.)`)
  return {
    body: `1 to ${length} characters of ${name}`,
    write: (number) => write(number).replace(zeros, ''),
    read(text) {
      if (text === '' || text.length > length) return 'length'
      const number = read(text.padStart(length, alphabet[0]))
      return typeof number === 'bigint' && zeros.test(text) ? 'not canonical' : number
    }
  }
}

/** The codec of a format, with or without padding. */
function codecOf(format, pad = true) {
  return pad ? codecs[format] : unpadded(codecs[format])
}

/** Decimal numbers; `wrap` turns an unsigned number into the one that is written. */
function decimal(least, most, wrap) {
  const fit = (integer) => (integer < least || integer > most ? 'range' : BigInt.asUintN(64, integer))
  return {
    body: `from ${least} to ${most}`,
    fit,
    wrap,
    write: (number) => String(wrap(number)),

    read(text) {
      const digits = text.startsWith('-') ? text.slice(1) : text
      if (digits === '' || text.length > LONGEST_DECIMAL) return 'length'
      if (!/^[0-9]+$/.test(digits)) return 'character'
      return String(BigInt(text)) === text ? fit(BigInt(text)) : 'not canonical'
    }
  }
}

module.exports = { codecs, codecOf }
