'use strict'

/**
 * The one family of errors that mintid throws. `code` is the contract; the classes are a convenience, and `instanceof`
 * holds across copies of this module (ESM beside CommonJS, a cleared module cache, Jest's registries).
 */
class MintidError extends Error {
  static code = 'ERR_MINTID'

  /**
   * @param {string} message names the place, what was expected and what was found; never a secret
   * @param {object} [details] `cause`, and the fields that the class documents
   */
  constructor(message, { cause, code, ...fields } = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code ?? new.target.code
    for (const [name, value] of Object.entries(fields)) {
      if (value !== undefined) this[name] = value
    }
  }
}

/** An option is missing, incoherent, or disagrees with a sharer's: `option` is its dotted name. */
class ConfigError extends MintidError {
  static code = 'ERR_MINTID_CONFIG'
}

/** No native binary could be loaded on this platform; `cause` is what the loader said. */
class AddonError extends MintidError {
  static code = 'ERR_MINTID_ADDON'
}

/** No lease yet. */
class NotReadyError extends MintidError {
  static code = 'ERR_MINTID_NOT_READY'
  statusCode = 503
}

/** The lease of `machineId` was lost for `reason`; IDs come again with the next `leaseAcquired`. */
class LeaseLostError extends MintidError {
  static code = 'ERR_MINTID_LEASE_LOST'
  statusCode = 503
}

/** The generator was closed. */
class ClosedError extends MintidError {
  static code = 'ERR_MINTID_CLOSED'
}

/** `ready` gave up after `attempts`; `cause` is the last attempt's error. */
class AcquireTimeoutError extends MintidError {
  static code = 'ERR_MINTID_ACQUIRE_TIMEOUT'
}

/** Every one of the `capacity` machine IDs is leased. */
class ExhaustedError extends MintidError {
  static code = 'ERR_MINTID_EXHAUSTED'
}

/** A guarded machine ID, `machineId`, is held by another process; IDs come as soon as it is free. */
class ConflictError extends MintidError {
  static code = 'ERR_MINTID_CONFLICT'
  statusCode = 503
}

/** `coordinator` cannot be reached or used; `serverCode` is its own word for it, `hint` what to do. */
class CoordinatorError extends MintidError {
  static code = 'ERR_MINTID_COORDINATOR'
}

/**
 * The registry may have forgotten leases, and grants nothing new until `notBefore`; or it was made by a newer version.
 * `command` is what an operator who knows better can run.
 */
class RegistryError extends MintidError {
  static code = 'ERR_MINTID_REGISTRY_RESET'
  static codes = ['ERR_MINTID_REGISTRY_RESET', 'ERR_MINTID_REGISTRY_VERSION']
}

/** A value is not an ID of the type: `reason` says what is wrong, `expected` what such an ID looks like. */
class InvalidIdError extends MintidError {
  static code = 'ERR_MINTID_INVALID_ID'
  statusCode = 400
}

/** A mask, or an encrypted kind, of `bits` bits without a key. */
class NoKeyError extends MintidError {
  static code = 'ERR_MINTID_NO_KEY'
}

/** A timestamp before the epoch, past the layout, or outside the lease. */
class TimeError extends MintidError {
  static code = 'ERR_MINTID_TIME'
}

const errors = {
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
}

for (const [name, Class] of Object.entries(errors)) brand(Class, name)

/** Most classes have one code, which is their `code`; the others list theirs in `codes`. */
const byCode = new Map(
  Object.values(errors).flatMap((Class) => (Class.codes ?? [Class.code]).map((code) => [code, Class]))
)

/**
 * Turns what the border between JavaScript and native code calls a failure (plain data) into an error, its cause too.
 *
 * @param {object} failure `{ failure: true, code, message, cause?, … }`; times in ms since 1970
 * @param {Function} [below] the public function that the stack begins under: the first frame is its caller's
 * @returns {MintidError}
 */
function fromFailure({ failure: _, message, cause, ...fields }, below = fromFailure) {
  const Class = byCode.get(fields.code) ?? MintidError
  if (fields.notBefore !== undefined) fields.notBefore = new Date(fields.notBefore)
  const error = new Class(message, { ...fields, cause: cause && fromFailure(cause, below) })
  Error.captureStackTrace(error, below)
  return error
}

/** Names a class, also where a minifier renames it, and makes `instanceof` ask for a brand instead of the prototype. */
function brand(Class, name) {
  const mark = Symbol.for(`mintid.${name}`)
  Object.defineProperty(Class.prototype, 'name', { value: name, configurable: true, writable: true })
  Object.defineProperty(Class.prototype, mark, { value: true })
  Object.defineProperty(Class, Symbol.hasInstance, {
    value(value) {
      // A user's subclass inherits this function, but not the brand.
      return this === Class ? value?.[mark] === true : Function.prototype[Symbol.hasInstance].call(this, value)
    }
  })
}

module.exports = { ...errors, fromFailure }
