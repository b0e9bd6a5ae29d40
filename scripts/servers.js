'use strict'

// `npm run test:servers -- valkey9 pg17`: the suites of the coordinators on servers of other versions than this machine's own.
// Debian's packages are fetched into .cache, unpacked, never installed; the servers run for this one run, on ports of their
// own. Needs root, apt and unshare: scripts/services/start-services.sh says why. Without names: all of them. `turns` has an
// Elixir take turns with us as NoNoncense would (tests/turns).

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { root, cache, setup } = require('./setup.js')

const FOLDER = path.join(__dirname, 'services')
const RUN = path.join(cache, 'services-run')

/** Tests of the SQL that `mintid ddl` prints; each is named by its kind of server. */
const DDL = ['ddl-columns', 'ddl-default', 'ddl-restored'].map((name) => `__test__/cli/${name}.test.js`)

/** Those of the coordinator as well. */
const MYSQL = [
  'mysql_contract',
  'mysql_registry',
  'mysql_nononcense',
  '__test__/cli/mysql.test.js',
  '__test__/native/mysql.test.js',
  ...DDL
]

/** Where an Elixir takes turns with us, beside this machine's PostgreSQL. */
const TURNS = { redis8: 'URL', valkey9: 'URL', mysql9: 'ROOT_URL', mariadb11: 'ROOT_URL' }

/** Which tests run on what kind of server, and the variable that has its URL. */
const KINDS = {
  postgres: {
    names: ['pg15', 'pg17', 'pg18'],
    variable: 'MINTID_TEST_POSTGRES',
    suites: ['postgres_contract', 'postgres_registry', 'postgres_nononcense']
  },
  redis: {
    names: ['redis7', 'redis8', 'valkey9'],
    variable: 'MINTID_TEST_REDIS',
    suites: ['redis_contract', 'redis_registry', 'redis_nononcense', 'redis_connect'],
    programs: {
      folder: 'MINTID_TEST_REDIS_BIN',
      redis: { 'redis-server': 'redis-server', 'redis-cli': 'redis-cli' },
      valkey: { 'redis-server': 'valkey-server', 'redis-cli': 'valkey-cli' }
    }
  },
  mysql: { names: ['mysql9'], variable: 'MINTID_TEST_MYSQL', url: 'ROOT_URL', suites: MYSQL },
  mariadb: { names: ['mariadb10', 'mariadb11'], variable: 'MINTID_TEST_MARIADB', url: 'ROOT_URL', suites: MYSQL }
}

main(process.argv.slice(2))

function main(wanted) {
  const known = [...Object.values(KINDS).flatMap(({ names }) => names), 'turns']
  const unknown = wanted.filter((name) => !known.includes(name))
  if (unknown.length > 0) end(`unknown: ${unknown.join(', ')}; expected some of ${known.join(', ')}`)
  const names = wanted.length === 0 ? known : wanted
  const env = { ...process.env, SERVICES_CACHE: path.join(cache, 'services'), SERVICES_RUN: RUN }
  fs.mkdirSync(cache, { recursive: true })
  const needed = names.flatMap((name) => (name === 'turns' ? ['elixir', ...Object.keys(TURNS)] : [name]))
  if (sh('start-services.sh', [...new Set(needed)], env) !== 0) end('some of the servers did not start')
  const services = servicesOf(path.join(RUN, 'services.env'))
  const rows = names.map((name) => row(name, services))
  sh('stop-services.sh', [], env)
  console.log(`\n${rows.map(({ line }) => line).join('\n')}`)
  if (rows.some(({ failed }) => failed)) process.exit(1)
}

function row(name, services) {
  if (name === 'turns') return turns(services)
  const [kind, { variable, suites, programs, url = 'URL' }] = Object.entries(KINDS).find(([, { names }]) =>
    names.includes(name)
  )
  const own = programs && { [programs.folder]: folderOf(name, programs[name.replace(/\d+$/, '')]) }
  if (suites === MYSQL) {
    setup()
    settle(services[`${name.toUpperCase()}_${url}`])
  }
  const cells = suites.map((suite) => {
    console.log(`\n${name}: ${suite}`)
    const [command, args] = commandOf(suite, kind)
    const { status, stdout } = spawnSync(command, args, {
      cwd: root,
      env: { ...process.env, ...own, [variable]: services[`${name.toUpperCase()}_${url}`] },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit']
    })
    process.stdout.write(stdout)
    const passed = /(\d+) passed; (\d+) failed/.exec(stdout) ?? /^# pass (\d+)\n# fail (\d+)$/m.exec(stdout)
    return {
      failed: status !== 0,
      text: `${suite} ${passed ? `${passed[1]} passed, ${passed[2]} failed` : 'did not run'}`
    }
  })
  const line = `${name} (${services[`${name.toUpperCase()}_VERSION`]}): ${cells.map(({ text }) => text).join('; ')}`
  return { line, failed: cells.some(({ failed }) => failed) }
}

function commandOf(suite, kind) {
  if (suite.endsWith('.test.js')) {
    return [process.execPath, ['--test', '--test-reporter=tap', `--test-name-pattern=^${kind}: `, suite]]
  }
  return ['cargo', ['test', '--quiet', '--all-features', '--test', suite]]
}

/** A folder with the programs of one version, for the tests that start servers of their own. */
function folderOf(name, programs) {
  const folder = path.join(RUN, 'programs', name)
  fs.mkdirSync(folder, { recursive: true })
  for (const [called, program] of Object.entries(programs)) {
    const [wrapper, tree] = [path.join(RUN, 'bin', 'in-root'), path.join(cache, 'services', 'roots', name)]
    const script = `#!/bin/sh\nexec '${wrapper}' '${tree}' /usr/bin/${program} "$@"\n`
    fs.writeFileSync(path.join(folder, called), script, { mode: 0o755 })
  }
  return folder
}

/** The holders of this test are of the built addon. */
function turns(services) {
  setup()
  const postgres = process.env.MINTID_TEST_POSTGRES || 'postgres://postgres@127.0.0.1:5432/test'
  const urls = Object.entries(TURNS).map(([name, url]) => services[`${name.toUpperCase()}_${url}`])
  const args = ['tests/turns/run.js', services.ELIXIR_BIN, ...urls, postgres]
  const { status, stdout } = spawnSync(process.execPath, args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit']
  })
  return { line: `turns: ${stdout.trim().replaceAll('\n', '; ')}`, failed: status !== 0 }
}

/** Waits until a MySQL grants leases: not in the seconds in which it started. */
function settle(url) {
  const { hostname, port, username, password } = new URL(url)
  const args = ['--host', hostname, '--port', port, '--user', username, '--skip-column-names']
  const env = { ...process.env, MYSQL_PWD: decodeURIComponent(password) }
  let uptime
  do {
    const { stdout } = spawnSync('mariadb', [...args, '--execute', "show global status like 'Uptime'"], {
      env,
      encoding: 'utf8'
    })
    uptime = Number(stdout?.split('\t')[1])
    if (Number.isNaN(uptime)) end(`the server at ${hostname}:${port} does not tell how long it has run`)
  } while (uptime < 3)
}

/** The lines `NAME=value` that say where the servers are. */
function servicesOf(file) {
  const lines = fs.readFileSync(file, 'utf8').split('\n').filter(Boolean)
  return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s, 2)))
}

function sh(script, args, env) {
  return spawnSync('bash', [path.join(FOLDER, script), ...args], { env, stdio: ['ignore', 'ignore', 'inherit'] }).status
}

function end(text) {
  console.error(text)
  process.exit(2)
}
