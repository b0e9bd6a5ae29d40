'use strict'

const { backend: native } = require('../native.js')
const { UsageError } = require('./arguments.js')
const { ABOUT_URL, answerOf, connectionFlags, connectionOf } = require('./connection.js')
const { moment } = require('./time.js')

const PROMISE = 'nothing of this namespace ran within the last ttl'

module.exports = {
  summary: 'create or update the registry of a coordinator',
  usage: 'setup [flags]',
  about: `Creates the registry of one namespace (in PostgreSQL, MySQL and MariaDB its tables and rows, in Redis its hash), or
brings it up to date. It may be run again: what is there already stays, and what newcomers have to wait for is never
shortened.

A registry that is new, or that may have forgotten leases (a restart, a failover, a restored backup), leases nothing to
newcomers for a ttl and a margin, since some process may still use what it leased before. Two flags skip that wait:

  --fresh         for a namespace that begins, or begins again: also forgets what its processes agreed on
                  (lease.ttlMs, layout, keys)
  --accept-reset  for a registry that says ERR_MINTID_REGISTRY_RESET

With either you promise: nothing of this namespace ran within the last ttl (lease.ttlMs, 5 minutes by default). If
something did, two processes may hold one machine ID, and IDs may be made twice. mintid cannot check it.

--restored announces that a backup or an earlier copy was put back. Run it before anybody leases or inserts: newcomers
wait a ttl and a margin from now, and holders go on. In PostgreSQL, MySQL and MariaDB the sequence of mintid ddl
--default, if there is one in the same database, moves past what the backup forgot; for any other database that mints:
mintid ddl --default --restored.

${ABOUT_URL}`,
  words: [],
  flags: {
    print: {
      type: 'boolean',
      about: 'print what someone with the rights runs (SQL, or lines of ACL); connects to nothing'
    },
    fresh: { type: 'boolean', about: `no wait: you promise that ${PROMISE}` },
    'accept-reset': { type: 'boolean', about: 'end a wait: you promise the same' },
    restored: { type: 'boolean', about: 'a backup was put back: begin a wait' },
    ttl: { type: 'string', value: 'ms', about: "for a new registry: its processes' lease.ttlMs; by default 300000" },
    ...connectionFlags
  },

  /** @param {object} backend stands in for native code in tests */
  async run(flags, _words, backend = native) {
    const mode = modeOf(flags)
    const options = connectionOf(
      'setup',
      flags,
      flags.ttl === undefined ? {} : { lease: { ttlMs: milliseconds(flags.ttl) } }
    )
    if (flags.print) {
      const script = await answerOf(backend.setupSql(options))
      const name = options.coordinator === 'redis' ? 'acl' : 'sql'
      return { json: { [name]: script }, lines: [script.trimEnd()] }
    }
    return described(await answerOf(backend.setup(options, mode)), mode, options.namespace)
  }
}

/** 'plain', 'fresh', 'accept-reset' or 'restored'. */
function modeOf({ print, ...flags }) {
  const [mode = 'plain', another] = ['fresh', 'accept-reset', 'restored'].filter((name) => flags[name])
  if (another) throw new UsageError(`--${mode} and --${another} exclude each other`)
  if (print && mode !== 'plain') {
    throw new UsageError(`--print and --${mode} exclude each other; run mintid setup --${mode} once that is done`)
  }
  return mode
}

function milliseconds(ttl) {
  if (!/^\d{1,9}$/.test(ttl)) throw new UsageError('--ttl: expected milliseconds, like 300000')
  return Number(ttl)
}

function described({ created, notBefore, now, machineIds, sequences = [] }, mode, namespace) {
  const promised = mode === 'fresh' || mode === 'accept-reset'
  const waits = notBefore > now
  const lines = [
    `The registry of namespace ${namespace} ${created ? 'was created' : 'is up to date'}: ${machineIds} machine IDs.`
  ]
  if (promised) lines.push(`No wait, on your promise that ${PROMISE}.`)
  if (waits) {
    const flag = created ? '--fresh' : '--accept-reset'
    lines.push(
      `Newcomers may lease from ${moment(notBefore, now)}.`,
      `If ${PROMISE}: mintid setup ${flag} ends the wait.`
    )
  } else {
    lines.push('Newcomers may lease now.')
  }
  const json = { namespace, created, machineIds, notBefore: waits ? new Date(notBefore).toISOString() : null }
  if (mode === 'restored') return { json: { ...json, sequences }, ...restored(lines, sequences) }
  return { json: promised ? { ...json, promised: PROMISE } : json, lines }
}

/** What became of the sequences that the database mints from; one that is ahead of the clock is a failure. */
function restored(lines, sequences) {
  const names = (moved) => sequences.filter((sequence) => sequence.moved === moved).map(({ name }) => name)
  const [done, ahead] = [names(true), names(false)]
  if (done.length > 0) lines.push(`Moved past what the backup can have forgotten: ${done.join(', ')}.`)
  if (sequences.length === 0) {
    lines.push('No sequence was moved; in a database that mints IDs, run the SQL of mintid ddl --default --restored.')
  }
  const warnings = ahead.map((name) => `${name} is ahead of the clock: nothing tells what was forgotten of it`)
  return { lines, warnings, failed: ahead.length > 0 }
}
