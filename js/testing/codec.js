'use strict'

// How each format spells a 64-bit number, in plain JavaScript: the same texts and the same refusals as src/codec. Texts
// are strings of bytes (Latin-1), so that lengths are counted as native code counts them.

const DIGITS = '0123456789'
const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const LOWER = UPPER.toLowerCase()
const LONGEST_DECIMAL = 20

const BASE58 = (DIGITS + UPPER + LOWER).replace(/[0OIl]/g, '')
const URL64 = `${UPPER}${LOWER}${DIGITS}-_`
const BASE62 = DIGITS + UPPER + LOWER
const HEX32 = (DIGITS + LOWER).slice(0, 32)
const BYTES = String.fromCharCode(...Array(256).keys())

/**
 * By format: `write` gives the spelling of an unsigned 64-bit number, `read` the number of a spelling, or the word for
 * what is wrong with it ('length', 'character', 'not canonical', 'range'). Numeric formats do the same with bigints by
 * `wrap` and `fit`. `body` describes a spelling.
 */
const codecs = {
  ...texts(64, { base58: [11], url64: [11, 2n], hex: [16], hex32: [13, 1n], base62: [11], decimal: [20], raw: [8] }),
  signed: decimal(-(2n ** 63n), 2n ** 63n - 1n, (number) => BigInt.asIntN(64, number)),
  unsigned: decimal(0n, 2n ** 64n - 1n, (number) => number)
}

/** The same for numbers of 96 and 128 bits, which are no bigints. */
const wideCodecs = {
  96: texts(96, { base58: [17], url64: [16], hex: [24], hex32: [20, 4n], base62: [17], decimal: [29], raw: [12] }),
  128: texts(128, { base58: [22], url64: [22, 4n], hex: [32], hex32: [26, 2n], base62: [22], decimal: [39], raw: [16] })
}

/** Codecs by format; of each how long its texts are, and how many bits at the end are unused. */
function texts(bits, lengths) {
  const alphabets = {
    base58: BASE58,
    url64: URL64,
    hex: HEX32.slice(0, 16),
    hex32: HEX32,
    base62: BASE62,
    decimal: DIGITS
  }
  const largest = 2n ** BigInt(bits) - 1n
  const made = Object.entries(lengths).map(([name, [length, unused = 0n]]) => [
    name,
    positional({ name, alphabet: alphabets[name] ?? BYTES, length, unused, largest })
  ])
  const codecs = Object.fromEntries(made)
  codecs.raw.body = `${codecs.raw.length} bytes`
  return codecs
}

/** Digits of an alphabet, the highest one first; `unused` bits at the end are zero. */
function positional({ name, alphabet, length, unused, largest }) {
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
      return number >> unused > largest ? 'range' : number >> unused
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

/** The codec of a format, with or without padding; undefined for bigints of more than 64 bits. */
function codecOf(format, { bits = 64, pad = true } = {}) {
  const codec = (wideCodecs[bits] ?? codecs)[format]
  return pad ? codec : unpadded(codec)
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
