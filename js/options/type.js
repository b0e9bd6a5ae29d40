'use strict'

const { record, refuse, unexpected, boolean, isObject, oneOf } = require('./check.js')
const { bindType } = require('../shared.js')

const NAMES = [
  'bits',
  'kind',
  'base',
  'format',
  'pad',
  'dbFormat',
  'mask',
  'cipher',
  'maskTweak',
  'accepts',
  'layout',
  'space',
  'overflow',
  'partition',
  'persistPrefix',
  'generator'
]
const KINDS = ['counter', 'sortable', 'encrypted']
const BASES = ['counter', 'sortable']
const FORMATS = ['base58', 'url64', 'hex', 'hex32', 'base62', 'decimal', 'signed', 'unsigned', 'raw']
/** What few types have; see ./place.js. */
const PLACE = ['layout', 'space', 'overflow', 'partition']
const NUMERIC = ['signed', 'unsigned']
const SIZES = [64, 96, 128]

/**
 * Checks an ID type's options and fills in the defaults. Pure.
 *
 * @param {string} prefix
 * @param {object} [options] the user's
 * @returns {{ spec: object, codecs: Map<string, object> | undefined, generator: object | undefined }} `spec` is what native
 * code takes; `codecs` are the codecs of the application's own by prefix, where `spec` says 'decimal' instead
 * @throws {ConfigError} with the option's dotted name
 */
function typeOptions(prefix, options = {}) {
  record(options, '', NAMES)
  const { kind = 'counter', bits = 64, format = 'base58', dbFormat = bits === 64 ? 'signed' : 'raw', cipher } = options
  const { mask = false, persistPrefix = false, pad = true } = options
  const spelling = {
    prefix: prefixOption(prefix, 'prefix'),
    ...(typeof mask === 'boolean' ? { mask, key: undefined } : require('./mask.js').maskOption(mask, 'mask')),
    cipher,
    maskTweak: tweakOption(options.maskTweak, cipher),
    format,
    pad
  }
  oneOf(kind, 'kind', KINDS)
  if (!SIZES.includes(bits)) unexpected('bits', '64, 96 or 128', bits)
  formatOption(format, pad)
  oneOf(dbFormat, 'dbFormat', FORMATS)
  if (cipher !== undefined) oneOf(cipher, 'cipher', require('./cipher.js').ciphersOf(bits))
  boolean(persistPrefix, 'persistPrefix')
  refuseIncoherent({ ...options, prefix, kind, dbFormat })
  if (bits !== 64) require('./wide.js').wideOptions({ ...options, bits, format, dbFormat })
  const accepts = options.accepts === undefined ? [] : acceptsOption(options.accepts, spelling, { kind, bits })
  const place = PLACE.some((name) => name in options)
    ? require('./place.js').placeOptions({ ...options, bits, kind })
    : {}
  const spec = {
    ...spelling,
    bits,
    kind,
    ...place,
    base: baseOption(options.base, kind),
    dbFormat,
    accepts,
    persistPrefix
  }
  return { ...withCodecs(spec), generator: generatorOption(options.generator) }
}

/** A format by its name, or a codec of the application's own. */
function formatOption(format, pad) {
  if (isObject(format)) require('./codec.js').codecOption(format, 'format')
  else oneOf(format, 'format', FORMATS)
  if (pad !== true) require('./pad.js').padOption(pad, 'pad', format)
}

function withCodecs(spec) {
  const isOwn = ({ format }) => isObject(format)
  return isOwn(spec) || spec.accepts.some(isOwn) ? require('./codec.js').withCodecs(spec) : { spec }
}

function acceptsOption(accepts, spelling, { kind, bits }) {
  const formats = bits === 64 ? FORMATS : FORMATS.filter((format) => !NUMERIC.includes(format))
  const known = { kind, bits, formats, prefixOption }
  return require('./accepts.js').acceptsOption(accepts, spelling, known)
}

/** What few types have is loaded with the first of them. */
function tweakOption(tweak, cipher) {
  return tweak === undefined ? undefined : require('./mask.js').tweakOption(tweak, 'maskTweak', cipher)
}

function prefixOption(prefix, option) {
  if (typeof prefix === 'string' && /^[A-Za-z0-9._~-]{0,64}$/.test(prefix)) return prefix
  return unexpected(option, "'' or 1 to 64 characters of A-Z a-z 0-9 . _ ~ -", prefix)
}

/** Refuses what would have no effect, or another one than the reader thinks. */
function refuseIncoherent({ prefix, kind, dbFormat, mask, cipher, maskTweak, persistPrefix }) {
  if (mask && kind === 'encrypted') refuse('mask', "expected false with kind 'encrypted', which is masked already")
  if (cipher !== undefined && !mask && kind !== 'encrypted') {
    refuse('cipher', "expected none without mask or kind: 'encrypted', since nothing would be ciphered")
  }
  if (maskTweak !== undefined && !mask) refuse('maskTweak', 'expected none without mask')
  if (persistPrefix && prefix === '') refuse('persistPrefix', 'expected false without a prefix')
  if (persistPrefix && NUMERIC.includes(dbFormat)) {
    refuse('persistPrefix', `expected false with the numeric dbFormat '${dbFormat}'`)
  }
}

function baseOption(base, kind) {
  if (base === undefined) return 'counter'
  if (kind !== 'encrypted') refuse('base', `expected none with kind '${kind}'; it is what 'encrypted' encrypts`)
  return oneOf(base, 'base', BASES)
}

function generatorOption(generator) {
  if (generator === undefined || typeof generator?.[bindType] === 'function') return generator
  return unexpected('generator', 'an IdGenerator', generator)
}

module.exports = { typeOptions, FORMATS }
