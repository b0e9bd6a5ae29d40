'use strict'

// Each export is loaded when it is first read: a program that declares ID types reads four files more at its start, not
// twenty. `import` reads all of them, but what they need only later is loaded later, too.
const mintid = {
  get idType() {
    return kept('idType', require('./js/id-type.js'))
  },
  get IdGenerator() {
    return kept('IdGenerator', require('./js/id-generator.js'))
  },
  get start() {
    return kept('start', require('./js/default-generator.js'))
  },
  get stop() {
    return kept('stop', require('./js/default-generator.js'))
  },
  get MintidError() {
    return kept('MintidError', require('./js/errors.js'))
  },
  get ConfigError() {
    return kept('ConfigError', require('./js/errors.js'))
  },
  get AddonError() {
    return kept('AddonError', require('./js/errors.js'))
  },
  get NotReadyError() {
    return kept('NotReadyError', require('./js/errors.js'))
  },
  get LeaseLostError() {
    return kept('LeaseLostError', require('./js/errors.js'))
  },
  get ClosedError() {
    return kept('ClosedError', require('./js/errors.js'))
  },
  get AcquireTimeoutError() {
    return kept('AcquireTimeoutError', require('./js/errors.js'))
  },
  get ExhaustedError() {
    return kept('ExhaustedError', require('./js/errors.js'))
  },
  get ConflictError() {
    return kept('ConflictError', require('./js/errors.js'))
  },
  get CoordinatorError() {
    return kept('CoordinatorError', require('./js/errors.js'))
  },
  get RegistryError() {
    return kept('RegistryError', require('./js/errors.js'))
  },
  get InvalidIdError() {
    return kept('InvalidIdError', require('./js/errors.js'))
  },
  get NoKeyError() {
    return kept('NoKeyError', require('./js/errors.js'))
  },
  get TimeError() {
    return kept('TimeError', require('./js/errors.js'))
  }
}

/** Makes an export a plain property. */
function kept(name, { [name]: value }) {
  Object.defineProperty(mintid, name, { value, writable: true })
  return value
}

module.exports = mintid

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
    ConflictError,
    CoordinatorError,
    RegistryError,
    InvalidIdError,
    NoKeyError,
    TimeError
  })
