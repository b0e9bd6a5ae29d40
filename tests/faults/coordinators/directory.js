'use strict'

const { mkdirSync, readFileSync, readdirSync } = require('node:fs')
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')

const LEASE = /^(\d+)\.lease$/
const END = /^mintid 1 (\d{20})\n$/

/** A directory of this host's: no server, so most faults cannot happen to it. */
class Directory {
  static title = 'a directory'
  static server = false
  #folder

  constructor(folder) {
    this.#folder = folder
  }

  static unavailable() {
    return null
  }

  static async create(folder) {
    mkdirSync(folder, { recursive: true })
    return new Directory(folder)
  }

  url() {
    return pathToFileURL(this.#folder).href
  }

  async setup() {}

  /** Only the last end of each machine ID is kept, and no token: whether it lies after everything that was used. */
  async fences() {
    return readdirSync(this.#folder).flatMap((namespace) => fencesIn(join(this.#folder, namespace), namespace))
  }

  async end() {}
}

function fencesIn(folder, namespace) {
  const names = readdirSync(folder).filter((name) => LEASE.test(name))
  return names.map((name) => {
    const [, machineId] = LEASE.exec(name)
    const [, end] = END.exec(readFileSync(join(folder, name), 'utf8'))
    // A released lease's end is its last use.
    return { namespace, machineId: Number(machineId), token: undefined, start: 0, end: Number(end) + 1 }
  })
}

module.exports = { Directory }
