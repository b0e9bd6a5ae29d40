'use strict'

const { spawnSync } = require('node:child_process')
const { mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { inPackage } = require('../package.js')

const main = inPackage('js/cli/main.js')

/** Runs `mintid` with arguments and gives back { status, stdout, stderr }. */
function mintid(args, { cwd, env } = {}) {
  const { MINTID_KEY: _, ...inherited } = process.env
  const options = { cwd, env: { ...inherited, ...env }, encoding: 'utf8' }
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], options)
  return { status, stdout, stderr }
}

/** An empty folder that is gone after the test. */
function temporaryFolder(t) {
  const folder = mkdtempSync(join(tmpdir(), 'mintid-cli-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

module.exports = { main, mintid, temporaryFolder }
