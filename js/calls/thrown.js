'use strict'

const { shown } = require('../options/check.js')

const LONGEST = 300

/**
 * What a function threw, as far as it can be shown.
 *
 * @param {unknown} error
 * @param {string[]} secrets texts that a message must not show
 * @param {(error: unknown) => { code?: string, said?: string } | undefined} [wordsOf] a server's own words behind it
 * @returns {{ what: string, code?: string, said?: string, hint?: string, isFinal: boolean }}
 */
function thrown(error, secrets, wordsOf) {
  try {
    const hide = (text) => secrets.reduce((text, secret) => text.replaceAll(secret, '…'), text)
    const words = wordsOf?.(error)
    return {
      what: `threw ${hide(described(error))}`,
      code: words?.code ?? codeOf(error),
      said: words?.said === undefined ? undefined : hide(inOneLine(words.said)),
      hint: placeOf(error),
      isFinal: error?.code === 'ERR_MINTID_CONFIG'
    }
  } catch {
    return { what: 'threw something that cannot be shown', isFinal: false }
  }
}

/** An error's name and message. */
function described(error) {
  if (typeof error?.message !== 'string') return shown(error)
  const name = typeof error.name === 'string' ? error.name : 'Error'
  return inOneLine(error.message === '' ? name : `${name}: ${error.message}`)
}

/** A message may hold a URL, and that a password. */
function inOneLine(text) {
  const line = text.replace(/:\/\/\S*@/g, '://…@').replace(/\p{Cc}+/gu, ' ')
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line
}

function codeOf(error) {
  const code = error?.code ?? ''
  return /^[\w.-]{1,64}$/.test(code) ? String(code) : undefined
}

/** The first frame that is the user's own, or else the driver's. */
function placeOf(error) {
  const lines = String(error?.stack).split('\n')
  const frames = lines.map((line) => line.trim()).filter((line) => line.startsWith('at ') && !line.includes(__dirname))
  const place = frames.find((line) => !/node_modules|node:/.test(line)) ?? frames[0]
  return place && `thrown ${place.slice(0, LONGEST)}`
}

module.exports = { thrown }
