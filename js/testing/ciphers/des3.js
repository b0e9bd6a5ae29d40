'use strict'

const { createCipheriv, createDecipheriv } = require('node:crypto')

/** Triple DES with three keys over one 64-bit number: a single block of CBC after zeros, which every OpenSSL has. */
function des3(key) {
  const through = (make) => (number) => {
    const cipher = make('des-ede3-cbc', key, Buffer.alloc(8)).setAutoPadding(false)
    const block = Buffer.alloc(8)
    block.writeBigUInt64BE(number)
    return Buffer.concat([cipher.update(block), cipher.final()]).readBigUInt64BE()
  }
  return { encrypt: through(createCipheriv), decrypt: through(createDecipheriv) }
}

module.exports = { des3 }
