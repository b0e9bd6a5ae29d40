'use strict'

const { refuse, unexpected } = require('./check.js')

const FUNCTIONS = ['acquire', 'renew', 'release']

/** Whether an object is meant to be a coordinator of the user's own. */
function isCustom(value) {
  return FUNCTIONS.some((name) => name in value)
}

/**
 * A custom coordinator. It may be a class's instance and have whatever else it wants.
 *
 * @param {import('../../index.js').CustomCoordinator} given
 * @returns {{ coordinator: 'custom', name: string, functions: object }}
 */
function customObject(given) {
  for (const name of FUNCTIONS) {
    if (typeof given[name] !== 'function') unexpected(`coordinator.${name}`, 'a function', given[name])
  }
  const { name = 'custom coordinator' } = given
  if (typeof name !== 'string' || !/^[\x20-\x7e]{1,64}$/.test(name)) {
    refuse('coordinator.name', 'expected 1 to 64 printable ASCII characters, for messages')
  }
  return { coordinator: 'custom', name, functions: given }
}

module.exports = { isCustom, customObject }
