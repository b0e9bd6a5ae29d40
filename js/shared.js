'use strict'

/** Where the process's default generator lives: one place for all copies of this module in one realm. */
const DEFAULT = Symbol.for('mintid.default')

/**
 * The process's default generator, or null: what every ID type without a `generator` of its own asks.
 *
 * @type {{ generator: import('../index.js').IdGenerator | null }}
 */
const slot = (globalThis[DEFAULT] ??= { generator: null })

/**
 * Names the method by which an ID type asks a generator for its functions. A symbol, not a private name: the type and
 * the generator may come from different copies of this module.
 */
const bindType = Symbol.for('mintid.bindType')

module.exports = { slot, bindType }
