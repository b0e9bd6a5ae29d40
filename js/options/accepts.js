'use strict'

const { refuse, unexpected, record, boolean, oneOf } = require('./check.js')

const NAMES = ['prefix', 'mask', 'cipher', 'format']

/** What a 64-bit number looks like in each format: how long, and what a beginning of it may consist of. */
const TEXTS = {
  base58: { lengths: [11, 11], beginning: /^[1-9A-HJ-NP-Za-km-z]*$/ },
  url64: { lengths: [11, 11], beginning: /^[\w-]*$/ },
  hex: { lengths: [16, 16], beginning: /^[\da-f]*$/ },
  hex32: { lengths: [13, 13], beginning: /^[\da-v]*$/ },
  signed: { lengths: [1, 20], beginning: /^-?\d*$/ },
  unsigned: { lengths: [1, 20], beginning: /^\d*$/ },
  raw: { lengths: [8, 8], beginning: /^/ }
}

/**
 * Further spellings that a type reads but never writes. What an entry leaves out is as in the type itself. An entry
 * that shares a possible text with another spelling is refused: one text must never stand for two numbers.
 *
 * @param {unknown} accepts the user's
 * @param {{ prefix: string, mask: boolean, cipher: string, format: string }} own how the type itself is written
 * @param {object} known the type's kind, and what may be chosen from
 * @returns {object[]}
 */
function acceptsOption(accepts, own, known) {
  if (!Array.isArray(accepts)) unexpected('accepts', 'an array of { prefix, mask, cipher, format }', accepts)
  const spellings = [own]
  for (const [index, entry] of accepts.entries()) {
    const path = `accepts[${index}]`
    const spelling = spellingOption(entry, path, own, known)
    const twin = spellings.findIndex((other) => confusable(spelling, other))
    if (twin >= 0) {
      const other = twin === 0 ? 'the type itself' : `accepts[${twin - 1}]`
      refuse(path, `expected a spelling of its own, found one whose texts could also be read as ${other}`)
    }
    spellings.push(spelling)
  }
  return spellings.slice(1)
}

function spellingOption(entry, path, own, { kind, formats, ciphers, prefixOption }) {
  record(entry, path, NAMES, ['prefix'])
  const { prefix = own.prefix, mask = own.mask, cipher = own.cipher, format = own.format } = entry
  prefixOption(prefix, `${path}.prefix`)
  boolean(mask, `${path}.mask`)
  oneOf(cipher, `${path}.cipher`, ciphers)
  oneOf(format, `${path}.format`, formats)
  if (mask && kind === 'encrypted') refuse(`${path}.mask`, "expected false with kind 'encrypted'")
  return { prefix, mask, cipher, format }
}

/** Whether some value could be read in both spellings, as two numbers. Errs on the safe side, as native code does. */
function confusable(one, other) {
  return mayShareValue(one, other) && !agree(one, other)
}

/** Goes by the sort of a value, its length and its beginning. */
function mayShareValue(one, other) {
  const [short, long] = one.prefix.length <= other.prefix.length ? [one, other] : [other, one]
  return (
    sort(short) === sort(long) &&
    overlap(lengths(short), lengths(long)) &&
    long.prefix.startsWith(short.prefix) &&
    TEXTS[short.format].beginning.test(long.prefix.slice(short.prefix.length))
  )
}

/** Signed beside unsigned: what both can read is the same number. */
function agree(one, other) {
  return (
    one.format !== other.format &&
    isNumeric(one) &&
    isNumeric(other) &&
    one.prefix === other.prefix &&
    one.mask === other.mask &&
    one.cipher === other.cipher
  )
}

function sort(spelling) {
  if (spelling.format === 'raw') return 'bytes'
  return spelling.prefix === '' && isNumeric(spelling) ? 'bigint' : 'text'
}

function isNumeric({ format }) {
  return format === 'signed' || format === 'unsigned'
}

function lengths({ prefix, format }) {
  return TEXTS[format].lengths.map((length) => length + prefix.length)
}

function overlap([shortest, longest], [otherShortest, otherLongest]) {
  return shortest <= otherLongest && otherShortest <= longest
}

module.exports = { acceptsOption }
