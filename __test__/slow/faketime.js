'use strict'

const { execFileSync } = require('node:child_process')
const { existsSync, readdirSync } = require('node:fs')
const { join } = require('node:path')

const ROOT = '/usr/lib'

/** The path of libfaketime, which is installed if it is missing and this is root on a Debian. */
function library() {
  const found = find()
  if (found) return found
  try {
    execFileSync('apt-get', ['install', '--yes', '--quiet', 'libfaketime'], { stdio: 'ignore' })
  } catch (cause) {
    throw new Error('libfaketime is missing: apt-get install libfaketime', { cause })
  }
  return find()
}

function find() {
  const folders = readdirSync(ROOT).map((name) => join(ROOT, name, 'faketime', 'libfaketime.so.1'))
  return folders.find((file) => existsSync(file))
}

module.exports = { library }
