'use strict'

const process = require('node:process')
const { ConfigError, fromFailure } = require('../errors.js')
const { generatorOptions } = require('../options/generator.js')
const { SERVERS } = require('../options/servers.js')

const EXPECTED = 'expected a URL like postgres://user@host/database, mysql://user@host/database or redis://host'

/** The flags of every command that talks to a coordinator. */
const connectionFlags = {
  url: { type: 'string', value: 'url', about: 'the coordinator; by default the URL in MINTID_URL' },
  namespace: { type: 'string', value: 'name', about: "which of its registries; by default 'default'" }
}

/** What their help says about the URL. */
const ABOUT_URL = `The URL is that of the coordinator, for example postgres://user@host/database, mysql://user@host/database or
redis://host. If it holds a password, put it into MINTID_URL rather than behind --url: other users of this host may see
the arguments of a process.`

/**
 * What native code takes, from the flags and the environment.
 *
 * @param {string} command for the message about a coordinator that has no registry
 * @param {object} flags
 * @param {object} [more] further options of a generator
 * @throws {ConfigError} with the place that the URL came from, and never the URL
 */
function connectionOf(command, { url, namespace }, more = {}) {
  const place = url === undefined ? 'MINTID_URL' : '--url'
  const coordinator = url ?? process.env.MINTID_URL
  if (!coordinator) {
    const found = url === undefined ? 'there is no --url' : '--url is empty'
    throw refused(`${EXPECTED} in MINTID_URL or --url; ${found}`)
  }
  const options = checkedOptions(place, { coordinator, ...(namespace === undefined ? {} : { namespace }), ...more })
  if (!SERVERS.includes(options.coordinator)) {
    const what = options.coordinator === 'none' ? "'none', which leases nothing" : 'directories, which have no registry'
    throw refused(`${place}: mintid ${command} is not supported for ${what}; ${EXPECTED}`)
  }
  const { machineId: _, acquireTimeoutMs: __, ...native } = options
  return native
}

function checkedOptions(place, options) {
  try {
    return generatorOptions(options)
  } catch (error) {
    if (!(error instanceof ConfigError) || !error.option?.startsWith('coordinator')) throw error
    throw refused(`${place}: ${error.message.replace(/^coordinator: /, '')}`, error)
  }
}

function refused(message, cause) {
  return new ConfigError(message, { option: 'coordinator', cause })
}

/** What a native function answered; what it failed with is thrown. */
async function answerOf(promise) {
  const answer = await promise
  if (answer?.failure) throw fromFailure(answer)
  return answer
}

module.exports = { connectionFlags, ABOUT_URL, connectionOf, answerOf }
