'use strict'

const { record, refuse, unexpected, boolean, isBytes } = require('./check.js')

const NAMES = ['ca', 'cert', 'key', 'servername', 'rejectUnauthorized']
const CERTIFICATE = { name: 'a certificate', begins: /-----BEGIN CERTIFICATE-----/ }
const PRIVATE_KEY = { name: 'an unencrypted private key', begins: /-----BEGIN (RSA |EC )?PRIVATE KEY-----/ }

/**
 * How a connection to a server is encrypted. Messages never show a certificate or a key.
 *
 * @param {object} tls the user's
 * @returns {{ ca?: string[], cert?: string, key?: string, servername?: string, rejectUnauthorized?: boolean }} texts in PEM
 */
function tlsOptions(tls) {
  record(tls, 'tls', NAMES)
  const { ca, cert, key, servername, rejectUnauthorized } = tls
  if (key === undefined && cert !== undefined) refuse('tls.cert', 'expected tls.key beside it, found none')
  if (cert === undefined && key !== undefined) refuse('tls.key', 'expected tls.cert beside it, found none')
  if (servername !== undefined && typeof servername !== 'string')
    unexpected('tls.servername', 'a host name', servername)
  if (rejectUnauthorized !== undefined) boolean(rejectUnauthorized, 'tls.rejectUnauthorized')
  return {
    ca: ca === undefined ? undefined : authorities(ca),
    cert: cert === undefined ? undefined : pem(cert, 'tls.cert', CERTIFICATE),
    key: key === undefined ? undefined : pem(key, 'tls.key', PRIVATE_KEY),
    servername,
    rejectUnauthorized
  }
}

function authorities(ca) {
  if (!Array.isArray(ca)) return [pem(ca, 'tls.ca', CERTIFICATE)]
  if (ca.length === 0) refuse('tls.ca', 'expected at least one certificate, found an empty array')
  return ca.map((one, index) => pem(one, `tls.ca[${index}]`, CERTIFICATE))
}

function pem(value, option, { name, begins }) {
  if (typeof value !== 'string' && !isBytes(value)) {
    refuse(option, `expected ${name} in PEM as a string or a Uint8Array, found a value of type ${typeof value}`)
  }
  const text = typeof value === 'string' ? value : new TextDecoder().decode(value)
  if (begins.test(text) && /[\r\n]/.test(text)) return text
  return refuse(option, `expected ${name} in PEM, found ${mistaken(text, begins)}`)
}

/** What usually went wrong. */
function mistaken(text, begins) {
  if (begins.test(text))
    return 'one without line breaks (are they written as \\n? .replaceAll("\\\\n", "\\n") makes them)'
  if (text.includes('-----BEGIN ')) return 'something else in PEM'
  return 'something else (a path? Then read the file first: readFileSync(path))'
}

module.exports = { tlsOptions }
