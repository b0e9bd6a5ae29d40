'use strict'

// Each export is loaded when it is first asked for: a program that declares ID types reads four files more at its start,
// not twenty. `import` asks for all of them, but what they need only later is loaded later, too.
provide(['idType'], () => require('./js/id-type.js'))
provide(['IdGenerator'], () => require('./js/id-generator.js'))
provide(['start', 'stop'], () => require('./js/default-generator.js'))
provide(
  [
    'MintidError',
    'ConfigError',
    'AddonError',
    'NotReadyError',
    'LeaseLostError',
    'ClosedError',
    'AcquireTimeoutError',
    'ExhaustedError',
    'CoordinatorError',
    'RegistryError',
    'InvalidIdError',
    'NoKeyError',
    'TimeError'
  ],
  () => require('./js/errors.js')
)

/** Exports that become plain properties when they are first read. */
function provide(names, load) {
  for (const name of names) {
    const set = (value) => Object.defineProperty(module.exports, name, { value, writable: true })
    const get = () => {
      const value = load()[name]
      set(value)
      return value
    }
    Object.defineProperty(module.exports, name, { get, set, enumerable: true, configurable: true })
  }
}

// Never runs: it is where Node's lexer finds the names for `import`.
0 &&
  (module.exports = {
    idType,
    IdGenerator,
    start,
    stop,
    MintidError,
    ConfigError,
    AddonError,
    NotReadyError,
    LeaseLostError,
    ClosedError,
    AcquireTimeoutError,
    ExhaustedError,
    CoordinatorError,
    RegistryError,
    InvalidIdError,
    NoKeyError,
    TimeError
  })
