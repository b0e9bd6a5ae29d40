'use strict'

const LONGEST_MS = 30_000

/**
 * The outcome of a promise, or an error that says what was waited for in vain: a test that hangs tells nothing.
 *
 * @template T
 * @param {Promise<T>} promise
 * @param {() => string} what
 * @returns {Promise<T>}
 */
async function within(promise, what) {
  let timer
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${LONGEST_MS} ms in vain: ${what()}`)), LONGEST_MS)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

module.exports = { within }
