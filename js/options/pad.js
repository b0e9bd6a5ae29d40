'use strict'

const { boolean, isObject, refuse } = require('./check.js')

/** The formats whose texts can go without their padding. */
const PADDED = ['base58', 'base62', 'decimal']

/** Whether texts have one length. */
function padOption(pad, option, format) {
  if (boolean(pad, option) || PADDED.includes(format)) return pad
  const found = isObject(format) ? 'a codec' : `'${format}'`
  return refuse(option, `expected none but with format 'base58', 'base62' or 'decimal', found ${found}`)
}

module.exports = { PADDED, padOption }
