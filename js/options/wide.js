'use strict'

const { refuse } = require('./check.js')

const NUMERIC = ['signed', 'unsigned']
/** They encrypt 64 bits of 96, and a mask must hide all. */
const OF_64_BITS = ['blowfish', 'des3']

/** Refuses what types of 96 and 128 bits do not have. */
function wideOptions({ bits, mask, cipher, maskTweak, ...formats }) {
  for (const option of ['format', 'dbFormat']) {
    const found = formats[option]
    if (NUMERIC.includes(found)) refuse(option, `expected 'raw' or a text format for ${bits} bits, found '${found}'`)
  }
  wideMask({ bits, mask, cipher, maskTweak }, '')
}

/** The same for a mask alone; `path` is the dotted beginning of its options. */
function wideMask({ bits, mask, cipher, maskTweak }, path) {
  if (mask && bits === 96 && OF_64_BITS.includes(cipher)) {
    refuse(`${path}cipher`, `expected 'speck' for a mask of 96 bits, found '${cipher}'`)
  }
  if (maskTweak !== undefined) refuse(`${path}maskTweak`, `expected none with ${bits} bits, but with 64`)
}

module.exports = { wideOptions, wideMask }
