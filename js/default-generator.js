'use strict'

const { IdGenerator } = require('./id-generator.js')
const { slot } = require('./shared.js')

/**
 * Makes a generator, makes it the process's default, and waits for its lease. It is the default while it waits already,
 * so that converting works, except where that would take a lease away that another default holds: that one goes on
 * until the new one is ready, and is closed then.
 */
async function start(options, readyOptions) {
  const generator = new IdGenerator(options)
  const before = slot.generator
  if (!before?.lease) slot.generator = generator
  try {
    await generator.ready(readyOptions)
  } catch (error) {
    if (slot.generator === generator) slot.generator = before
    await generator.close()
    throw error
  }
  slot.generator = generator
  await before?.close()
  return generator
}

/** Closes the process's default generator. It stays the default: converting still works, `next()` throws. */
async function stop() {
  await slot.generator?.close()
}

module.exports = { start, stop }
