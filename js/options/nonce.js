'use strict'

const { record, oneOf, refuse, unexpected } = require('./check.js')

const SIZES = [64, 96, 128]
const KINDS = ['counter', 'sortable', 'encrypted']

/** Checks what `IdGenerator.nonce` is asked for. */
function nonceOptions(bits, kind = 'counter', options = {}) {
  if (!SIZES.includes(bits)) unexpected('bits', '64, 96 or 128', bits)
  oneOf(kind, 'kind', KINDS)
  record(options, '', ['base'])
  const { base = 'counter' } = options
  if ('base' in options && kind !== 'encrypted') {
    refuse('base', `expected none with kind '${kind}'; it is what 'encrypted' encrypts`)
  }
  return { kind, base: oneOf(base, 'base', KINDS.slice(0, 2)) }
}

module.exports = { nonceOptions }
