'use strict'

const { mkdtempSync, readFileSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')

/** A directory from which the processes of one test lease machine IDs. It goes when all tests of the file are done. */
class Registry {
  constructor() {
    this.directory = temporaryDirectory()
    this.coordinator = pathToFileURL(this.directory).href
  }

  /** Options that leave no choice of a machine ID: who gets one gets this one, and nobody else does. */
  only(machineId) {
    return { coordinator: this.coordinator, machineIds: { from: machineId, to: machineId } }
  }

  /** Where the last fence of a machine ID ends, in milliseconds since 1970. */
  endOf(machineId) {
    const text = readFileSync(join(this.directory, 'default', `${machineId}.lease`), 'utf8')
    return Number(/^mintid 1 (\d{20})\n$/.exec(text)[1])
  }
}

const made = []

/** A directory that lasts as long as this process: what uses it may go on until the end. */
function temporaryDirectory() {
  if (made.length === 0) {
    process.once('exit', () => {
      for (const directory of made) rmSync(directory, { recursive: true, force: true })
    })
  }
  const directory = mkdtempSync(join(tmpdir(), 'mintid-test-'))
  made.push(directory)
  return directory
}

module.exports = { Registry, temporaryDirectory }
