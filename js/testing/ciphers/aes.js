'use strict'

const { createCipheriv, createDecipheriv } = require('node:crypto')

/** AES-256 over one 128-bit number. */
function aes(key) {
  const through = (make) => (number) => {
    const cipher = make('aes-256-ecb', key, null).setAutoPadding(false)
    const block = Buffer.from(number.toString(16).padStart(32, '0'), 'hex')
    return BigInt(`0x${Buffer.concat([cipher.update(block), cipher.final()]).toString('hex')}`)
  }
  return { encrypt: through(createCipheriv), decrypt: through(createDecipheriv) }
}

module.exports = { aes }
