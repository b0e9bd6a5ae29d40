'use strict'

const { idType } = require('./js/id-type.js')
const { IdGenerator } = require('./js/id-generator.js')
const { start, stop } = require('./js/default-generator.js')
const {
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
} = require('./js/errors.js')

// Shorthand names only: this is what Node's lexer recognizes as named exports for `import`.
module.exports = {
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
}
