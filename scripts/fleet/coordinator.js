'use strict'

// Where the fleet leases its machine IDs.

const { spawnSync } = require('node:child_process')
const { randomBytes } = require('node:crypto')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { pathToFileURL } = require('node:url')

const cli = path.join(__dirname, '../../js/cli/main.js')
const TABLES = ['mintid_leases', 'mintid_registry', 'mintid_incarnation']

/** What libpq, and so psql, does not know. */
const FOREIGN = ['schema', 'connection_limit', 'pool_timeout', 'pgbouncer', 'statement_cache_size', 'uselibpqcompat']

/**
 * A directory that is there for one run.
 *
 * @returns {{ url: string, namespace: string, end: () => void }}
 */
function ownDirectory() {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'mintid-fleet-'))
  const end = () => fs.rmSync(directory, { recursive: true })
  return { url: pathToFileURL(directory).href, namespace: 'default', end }
}

/** A registry on a server with a namespace that is there for one run; tables stay. */
function ownNamespace(url) {
  const namespace = `fleet-${randomBytes(6).toString('hex')}`
  // Nothing of a namespace that nobody has ever named can have run lately: this is what --fresh is for.
  mintid(url, ['setup', '--fresh', '--namespace', namespace])
  const end = () => {
    mintid(url, ['leases', '--namespace', namespace])
    if (/^postgres/i.test(url)) deleteRows(url, namespace)
    else console.log(`The registry of this run stays. This deletes it: ${deletion(url, namespace)}`)
  }
  return { url, namespace, end }
}

/** What is said where it is not done here. */
function deletion(url, namespace) {
  if (!/^(mysql|mariadb)/i.test(url)) return `redis-cli del 'mintid:{${namespace}}'`
  const tables = ['mintid_leases', 'mintid_registry']
  return tables.map((table) => `delete from ${table} where namespace = '${namespace}';`).join(' ')
}

/** Runs a command of mintid and shows what it prints. The URL goes by the environment: arguments can be seen by others. */
function mintid(url, args) {
  console.log(`$ npx mintid ${args.join(' ')}`)
  const env = { ...process.env, MINTID_URL: url }
  const { status } = spawnSync(process.execPath, [cli, ...args], { env, stdio: 'inherit' })
  // It has said itself what is wrong.
  if (status !== 0) process.exit(1)
  console.log()
}

function deleteRows(url, namespace) {
  const { address, password, schema } = partsOf(url)
  const prefix = schema ? `"${schema.replaceAll('"', '""')}".` : ''
  const sql = TABLES.map((table) => `delete from ${prefix}${table} where namespace = '${namespace}';`).join('\n')
  const env = { ...process.env, ...(password && { PGPASSWORD: password }) }
  const args = ['--no-psqlrc', '--quiet', '--no-password', '--single-transaction', '--set=ON_ERROR_STOP=1', address]
  const { status } = spawnSync('psql', args, { env, input: sql, stdio: ['pipe', 'ignore', 'ignore'] })
  if (status === 0) console.log(`The rows of namespace ${namespace} were deleted.`)
  else console.log(`psql could not delete the rows of this run. This does:\n\n${sql}`)
}

/** A URL as psql takes it, without its password, and the two apart. */
function partsOf(url) {
  const [, scheme, user, password, rest] = /^(\w+:\/\/)(?:([^:@/?#]*)(?::([^@/?#]*))?@)?(.*)$/s.exec(url)
  const [place, query = ''] = rest.split('?')
  const parameters = new URLSearchParams(query)
  const given = { schema: parameters.get('schema'), password: parameters.get('password') }
  for (const name of [...FOREIGN, 'password']) parameters.delete(name)
  // URLSearchParams writes a blank as '+', which libpq takes for a plus.
  const kept = String(parameters).replaceAll('+', '%20')
  return {
    address: `${scheme}${user === undefined ? '' : `${user}@`}${place}${kept && `?${kept}`}`,
    password: password === undefined ? given.password : decodeURIComponent(password),
    schema: given.schema
  }
}

module.exports = { ownDirectory, ownNamespace }
