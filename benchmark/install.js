'use strict'

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const process = require('node:process')
const { devDependencies } = require('./package.json')

const HERE = __dirname

const RUNTIMES = ['bun', 'deno']

/**
 * Installs what mintid is measured against, as locked, unless it is there.
 *
 * @returns {Record<string, string>} the versions of the packages whose IDs are measured
 */
function install() {
  const complete = Object.entries(devDependencies).every(([name, version]) => installed(name) === version)
  if (!complete) {
    const options = { cwd: HERE, stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' }
    const { status, error } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], options)
    if (status !== 0) throw new Error(`npm ci in benchmark/ failed: ${error?.message ?? `exit code ${status}`}`)
  }
  return Object.fromEntries(Object.entries(devDependencies).filter(([name]) => !RUNTIMES.includes(name)))
}

function installed(name) {
  const file = path.join(HERE, 'node_modules', name, 'package.json')
  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')).version : undefined
}

module.exports = { install }
