'use strict'

const { spawnSync } = require('node:child_process')
const { mkdtempSync, readFileSync, rmSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { inPackage } = require('../package.js')

const main = inPackage('js/cli/main.js')

/** Runs `mintid` with arguments and gives back { status, stdout, stderr }. */
function mintid(args, { cwd, env } = {}) {
  const { MINTID_KEY: _, MINTID_URL: __, ...inherited } = process.env
  const options = { cwd, env: { ...inherited, ...env }, encoding: 'utf8' }
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], options)
  return { status, stdout, stderr }
}

/**
 * The same with a stand-in for native code that gives the answer of each function; `calls` is what it was asked. The
 * URL is in MINTID_URL unless `env` says otherwise.
 */
function mintidOn(answers, args, { env } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'mintid-cli-'))
  const file = join(folder, 'calls')
  writeFileSync(file, '')
  const preload = `--require ${JSON.stringify(join(__dirname, 'fake-native.js'))}`
  const fake = { NODE_OPTIONS: preload, FAKE_NATIVE: JSON.stringify({ answers, file }) }
  const run = mintid(args, { env: { MINTID_URL: 'postgres://user:secret@db.invalid/app', ...fake, ...env } })
  const calls = readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
  rmSync(folder, { recursive: true })
  return { ...run, calls }
}

/** An empty folder that is gone after the test. */
function temporaryFolder(t) {
  const folder = mkdtempSync(join(tmpdir(), 'mintid-cli-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

module.exports = { main, mintid, mintidOn, temporaryFolder }
