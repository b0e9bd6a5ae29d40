'use strict'

const { execFile } = require('node:child_process')
const { join } = require('node:path')
const process = require('node:process')
const { promisify } = require('node:util')

const run = promisify(execFile)
const MAIN = join(__dirname, '../../js/cli/main.js')

/** `npx mintid setup --fresh`: nothing of this namespace ran lately, so nobody has to wait. */
async function setUp(url, { ttlMs, key, namespace }) {
  const env = { ...process.env, MINTID_URL: url }
  if (key !== undefined) env.MINTID_KEY = key
  await run(process.execPath, [MAIN, 'setup', '--fresh', '--ttl', String(ttlMs), '--namespace', namespace], { env })
}

module.exports = { setUp }
