'use strict'

const process = require('node:process')
const { AddonError } = require('./errors.js')

let addon

/**
 * The border to native code. The binary is loaded at the first call of a member, so that a module which only declares
 * ID types can be imported where there is none (drizzle-kit, a bundler, a browser's type check).
 *
 * Every member throws `AddonError` where the binary cannot be loaded.
 */
const backend = {
  /** Makes a handle for one generator; takes no lease yet. */
  open: (options, onEvent, onCall) => load().open(options, onEvent, onCall),

  /** Makes the functions of one ID type; without a handle (`null`) they only convert, without a key. */
  bind: (spec, handle) => load().bind(spec, handle),

  /** Makes a coordinator's registry, or what is missing of it; resolves to a report or a failure. */
  setup: (options, mode) => load().setup(options, mode),

  /** The SQL that `setup` runs. */
  setupSql: (options) => load().setupSql(options),

  /** Resolves to every machine ID of a registry with its last lease, or to a failure. */
  leases: (options) => load().leases(options),

  /** Looks at all that may stand between a coordinator and its use; resolves to an examination or a failure. */
  examine: (options) => load().examine(options),

  /** What is behind the last `undefined` that a bound function returned on this thread. */
  takeFailure: () => load().takeFailure()
}

function load() {
  if (addon === undefined) {
    try {
      addon = require('../binding.js')
    } catch (cause) {
      const platform = `${process.platform}-${process.arch}`
      throw new AddonError(`no native binary of mintid for ${platform} could be loaded; ${remedy()}`, { cause })
    }
  }
  return addon
}

function remedy() {
  if (process.versions.deno) return 'Deno needs --allow-ffi --allow-read --allow-env and a node_modules folder'
  return (
    'install on this platform with optional dependencies (npm install --include=optional), ' +
    'and if a bundler is used, keep mintid out of the bundle (mark it as external)'
  )
}

module.exports = { backend }
