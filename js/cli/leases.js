'use strict'

const { backend: native } = require('../native.js')
const { ABOUT_URL, answerOf, connectionFlags, connectionOf } = require('./connection.js')
const { moment } = require('./time.js')

const HEADS = ['machine ID', 'holder', 'acquired', 'expires']

module.exports = {
  summary: 'list who holds which machine ID, until when',
  usage: 'leases [flags]',
  about: `Lists the machine IDs that are leased, their holders, and when each lease began and ends. A holder renews long before
its lease ends; one that was killed keeps its machine ID until then. Which leases are live is the server's word; how
long ago and how soon is counted by the clock of this host.

${ABOUT_URL}`,
  words: [],
  flags: {
    all: { type: 'boolean', about: 'list the free machine IDs too, with their last holders' },
    ...connectionFlags
  },

  /** @param {object} backend stands in for native code in tests */
  async run(flags, _words, backend = native) {
    const options = connectionOf('leases', flags)
    const leases = await answerOf(backend.leases(options))
    const live = leases.filter((lease) => lease.live)
    const shown = flags.all ? leases : live
    const count = summary(live.length, leases.length, options.namespace)
    return {
      json: { namespace: options.namespace, live: live.length, machineIds: leases.length, leases: shown.map(plain) },
      lines: shown.length > 0 ? [...columns(shown, Date.now()), '', count] : [count]
    }
  }
}

function summary(live, all, namespace) {
  if (all === 0) return `There is no registry of namespace ${namespace} yet; mintid setup creates it.`
  return `${live} of ${all} machine IDs of namespace ${namespace} are leased.`
}

/** A lease as JSON: what is not known is null. */
function plain({ machineId, holder = null, acquiredAt, expiresAt, live }) {
  return { machineId, live, holder, acquiredAt: iso(acquiredAt), expiresAt: iso(expiresAt) }
}

/** Zero is what a registry has for a machine ID that was never leased. */
function iso(ms) {
  return ms > 0 ? new Date(ms).toISOString() : null
}

/** The table, with a line of heads. */
function columns(leases, now) {
  const rows = [HEADS, ...leases.map((lease) => row(lease, now))]
  const widths = HEADS.map((_, column) => Math.max(...rows.map((cells) => cells[column].length)))
  return rows.map(([machineId, ...cells]) => {
    const rest = cells.map((cell, index) => cell.padEnd(widths[index + 1]))
    return `  ${[machineId.padStart(widths[0]), ...rest].join('  ').trimEnd()}`
  })
}

function row({ machineId, holder, acquiredAt, expiresAt, live }, now) {
  const acquired = acquiredAt > 0 ? new Date(acquiredAt).toISOString() : '-'
  return [String(machineId), holder === undefined ? '-' : printable(holder), acquired, state(live, expiresAt, now)]
}

function state(live, expiresAt, now) {
  if (live) return moment(expiresAt, now)
  return expiresAt > 0 ? `free since ${moment(expiresAt, now)}` : 'free, never leased'
}

/** Whatever a process wrote about itself: no character of it may steer a terminal. */
function printable(text) {
  return text.replace(/[^\x20-\x7e]/gu, (character) => `\\u{${character.codePointAt(0).toString(16)}}`)
}
