'use strict'

// Runs mintid over the connections of each driver, against the servers of MINTID_TEST_POSTGRES and MINTID_TEST_REDIS:
//
//   node tests/drivers/run.js [names of tests…]

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const process = require('node:process')
const { devDependencies } = require('./package.json')

const HERE = __dirname

function main() {
  install()
  const all = fs.readdirSync(HERE).filter((name) => name.endsWith('.test.js'))
  const wanted = process.argv.slice(2)
  const files = all.filter((name) => wanted.length === 0 || wanted.some((part) => name.startsWith(part)))
  run(process.execPath, ['--test', ...files.map((name) => path.join(HERE, name))])
}

/** Installs the drivers as locked and makes Prisma's client, unless they are there. */
function install() {
  const complete = Object.entries(devDependencies).every(
    ([name, version]) => installed(name) === version.split('@').at(-1)
  )
  if (!complete) run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'])
  if (fs.existsSync(path.join(HERE, 'node_modules/.prisma-client/index.js'))) return
  // It only has to be there: nothing that is run here needs it, and without it Prisma would load it from elsewhere.
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, PRISMA_HIDE_UPDATE_MESSAGE: '1' }
  run('npx', ['prisma', 'generate', '--schema', 'schema.prisma', '--no-hints'], {
    env,
    stdio: ['ignore', 'ignore', 'inherit']
  })
}

function installed(name) {
  const file = path.join(HERE, 'node_modules', name, 'package.json')
  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')).version : undefined
}

function run(command, args, options) {
  const { status, error } = spawnSync(command, args, { cwd: HERE, stdio: 'inherit', ...options })
  if (error) console.error(`${command}: ${error.message}`)
  if (status !== 0) process.exit(status ?? 1)
}

main()
