'use strict'

const { refuse, unexpected, record, boolean, oneOf } = require('./check.js')

const NAMES = ['prefix', 'mask', 'cipher', 'format']

/** The shortest and the longest text of a 64-bit number. */
const LENGTHS = {
  base58: [11, 11],
  url64: [11, 11],
  hex: [16, 16],
  hex32: [13, 13],
  signed: [1, 20],
  unsigned: [1, 20],
  raw: [8, 8]
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
function acceptsOption (accepts = [], own, known) {
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

function spellingOption (entry, path, own, { kind, formats, ciphers, prefixOption }) {
  record(entry, path, NAMES, ['prefix'])
  const { prefix = own.prefix, mask = own.mask, cipher = own.cipher, format = own.format } = entry
  prefixOption(prefix, `${path}.prefix`)
  boolean(mask, `${path}.mask`)
  oneOf(cipher, `${path}.cipher`, ciphers)
  oneOf(format, `${path}.format`, formats)
  if (mask && kind === 'encrypted') refuse(`${path}.mask`, "expected false with kind 'encrypted'")
  return { prefix, mask, cipher, format }
}

/** Whether some value could be read as both spellings, going by its sort, prefix and length. */
function confusable (one, other) {
  return sort(one) === sort(other) && overlap(lengths(one), lengths(other)) &&
    (one.prefix.startsWith(other.prefix) || other.prefix.startsWith(one.prefix))
}

function sort ({ prefix, format }) {
  if (format === 'raw') return 'bytes'
  return prefix === '' && (format === 'signed' || format === 'unsigned') ? 'bigint' : 'text'
}

function lengths ({ prefix, format }) {
  return LENGTHS[format].map((length) => length + prefix.length)
}

function overlap ([shortest, longest], [otherShortest, otherLongest]) {
  return shortest <= otherLongest && otherShortest <= longest
}

module.exports = { acceptsOption }
