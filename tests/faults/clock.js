'use strict'

/** Milliseconds on the clock that all processes of this machine share, and that no test changes. */
const now = () => Number(process.hrtime.bigint()) / 1e6

/** The outcome of a promise, or an error that says what was waited for in vain. */
async function within(promise, longestMs, what) {
  let timer
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${longestMs} ms in vain: ${what()}`)), longestMs)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

module.exports = { now, within }
