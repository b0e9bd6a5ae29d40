'use strict'

const { refuse, isObject } = require('./check.js')

/** Checks a codec of the application's own; it may be an object of any library, with more than the two methods. */
function codecOption(format, option) {
  for (const name of ['encode', 'decode']) {
    if (typeof format[name] !== 'function')
      refuse(`${option}.${name}`, `expected a function, found ${typeof format[name]}`)
  }
  return format
}

/**
 * Splits a spec with codecs of the application's own: native code reads and writes the numbers behind their texts.
 * Nobody knows which texts a codec reads, so each has a prefix that no other spelling begins with, or is begun by.
 *
 * @param {object} spec checked, with codecs for formats
 * @returns {{ spec: object, codecs: Map<string, object> }} the codecs by prefix, that of the type itself first
 */
function withCodecs(spec) {
  const spellings = [spec, ...spec.accepts]
  for (const [index, one] of spellings.entries()) {
    const twin = spellings.slice(0, index).findIndex((other) => meet(one, other))
    if (twin >= 0) {
      const other = twin === 0 ? 'the type itself' : `accepts[${twin - 1}]`
      refuse(`accepts[${index - 1}].prefix`, `expected one that neither begins that of ${other} nor is begun by it`)
    }
  }
  const codecs = new Map(
    spellings.filter(({ format }) => isObject(format)).map(({ prefix, format }) => [prefix, format])
  )
  const numbers = (one) => (isObject(one.format) ? { ...one, format: 'decimal', pad: false } : one)
  return { spec: { ...numbers(spec), accepts: spec.accepts.map(numbers) }, codecs }
}

/** Whether a text could be of both, as far as anybody knows. */
function meet(one, other) {
  const isUnknown = isObject(one.format) || isObject(other.format)
  return isUnknown && (one.prefix.startsWith(other.prefix) || other.prefix.startsWith(one.prefix))
}

module.exports = { codecOption, withCodecs }
