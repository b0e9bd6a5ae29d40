'use strict'

const { refuse, unexpected, record, isObject, oneOf } = require('./check.js')
const { ciphersOf } = require('./cipher.js')
const { codecOption } = require('./codec.js')
const { maskOption, tweakOption } = require('./mask.js')
const { padOption } = require('./pad.js')
const { wideMask } = require('./wide.js')

const NAMES = ['prefix', 'mask', 'cipher', 'maskTweak', 'format', 'pad']

/** What a number looks like in each format: how long by its bits, and what a beginning of it may consist of. */
const TEXTS = {
  base58: { longest: { 64: 11, 96: 17, 128: 22 }, beginning: /^[1-9A-HJ-NP-Za-km-z]*$/ },
  url64: { longest: { 64: 11, 96: 16, 128: 22 }, beginning: /^[\w-]*$/ },
  hex: { longest: { 64: 16, 96: 24, 128: 32 }, beginning: /^[\da-f]*$/ },
  hex32: { longest: { 64: 13, 96: 20, 128: 26 }, beginning: /^[\da-v]*$/ },
  base62: { longest: { 64: 11, 96: 17, 128: 22 }, beginning: /^[\dA-Za-z]*$/ },
  decimal: { longest: { 64: 20, 96: 29, 128: 39 }, beginning: /^\d*$/ },
  signed: { longest: { 64: 20 }, varies: true, beginning: /^-?\d*$/ },
  unsigned: { longest: { 64: 20 }, varies: true, beginning: /^\d*$/ },
  raw: { longest: { 64: 8, 96: 12, 128: 16 }, beginning: /^/ }
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
  if (!Array.isArray(accepts))
    unexpected('accepts', 'an array of { prefix, mask, cipher, maskTweak, format, pad }', accepts)
  const spellings = [own]
  const { bits } = known
  for (const [index, entry] of accepts.entries()) {
    const path = `accepts[${index}]`
    const spelling = spellingOption(entry, path, own, known)
    const twin = spellings.findIndex((other) => confusable(spelling, other, bits))
    if (twin >= 0) {
      const other = twin === 0 ? 'the type itself' : `accepts[${twin - 1}]`
      refuse(path, `expected a spelling of its own, found one whose texts could also be read as ${other}`)
    }
    spellings.push(spelling)
  }
  return spellings.slice(1)
}

function spellingOption(entry, path, own, { kind, bits, formats, prefixOption }) {
  record(entry, path, NAMES, ['prefix'])
  const { prefix = own.prefix, format = own.format } = entry
  prefixOption(prefix, `${path}.prefix`)
  if (isObject(format)) codecOption(format, `${path}.format`)
  else oneOf(format, `${path}.format`, formats)
  const masked = 'mask' in entry ? maskOption(entry.mask, `${path}.mask`) : { mask: own.mask, key: own.key }
  if (masked.mask && kind === 'encrypted') refuse(`${path}.mask`, "expected false with kind 'encrypted'")
  return {
    prefix,
    ...masked,
    ...cipherOptions(entry, path, masked.mask ? own : {}, masked.mask ? bits : 0),
    format,
    pad: padOf(entry, path, own, format)
  }
}

/** The type's own goes with its own format. */
function padOf(entry, path, own, format) {
  if ('pad' in entry) return padOption(entry.pad, `${path}.pad`, format)
  return format === own.format ? own.pad : true
}

/** The cipher of the mask, if there is one, and its tweak, which the type's own is only together with its cipher. */
function cipherOptions(entry, path, own, bits) {
  for (const name of ['cipher', 'maskTweak']) {
    if (name in entry && bits === 0) refuse(`${path}.${name}`, 'expected none without mask')
  }
  const { cipher = own.cipher } = entry
  if ('cipher' in entry) oneOf(cipher, `${path}.cipher`, ciphersOf(bits))
  const maskTweak = tweakOption(entry.maskTweak, `${path}.maskTweak`, cipher)
  if (bits > 64) wideMask({ bits, mask: true, cipher, maskTweak }, `${path}.`)
  return { cipher, maskTweak: maskTweak ?? (cipher === own.cipher ? own.maskTweak : undefined) }
}

/** Whether some value could be read in both spellings, as two numbers. Errs on the safe side, as native code does. */
function confusable(one, other, bits) {
  // What a codec of the application's own can read is looked at in ./codec.js.
  if (isObject(one.format) || isObject(other.format)) return false
  return mayShareValue(one, other, bits) && !agree(one, other)
}

/** Goes by the sort of a value, its length and its beginning. */
function mayShareValue(one, other, bits) {
  const [short, long] = one.prefix.length <= other.prefix.length ? [one, other] : [other, one]
  return (
    sort(short) === sort(long) &&
    overlap(lengths(short, bits), lengths(long, bits)) &&
    long.prefix.startsWith(short.prefix) &&
    TEXTS[short.format].beginning.test(long.prefix.slice(short.prefix.length))
  )
}

/** Digits of one kind, padded or not, signed or not: what both can read is the same number. */
function agree(one, other) {
  return (
    !(one.format === other.format && one.pad === other.pad) &&
    digits(one) === digits(other) &&
    one.prefix === other.prefix &&
    one.mask === other.mask &&
    one.key === other.key &&
    one.cipher === other.cipher &&
    String(one.maskTweak) === String(other.maskTweak)
  )
}

/** Numbers are read from their decimal text too. */
function sort({ format }) {
  return format === 'raw' ? 'bytes' : 'text'
}

function digits({ format }) {
  return format === 'signed' || format === 'unsigned' ? 'decimal' : format
}

function lengths({ prefix, format, pad }, bits) {
  const { longest, varies } = TEXTS[format]
  return [(varies || !pad ? 1 : longest[bits]) + prefix.length, longest[bits] + prefix.length]
}

function overlap([shortest, longest], [otherShortest, otherLongest]) {
  return shortest <= otherLongest && otherShortest <= longest
}

module.exports = { acceptsOption }
