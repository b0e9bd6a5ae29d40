'use strict'

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const process = require('node:process')
const { pathToFileURL } = require('node:url')
const { ours } = require('../bench/contenders.js')
const { measure } = require('../bench/harness.js')
const { peers } = require('../bench/peers.js')
const { table } = require('./help.js')

const THOROUGH = { rounds: 100, warmUpMs: 100 }
const QUICK = { rounds: 3, warmUpMs: 5 }

/** What everything else is compared with. */
const UNIT = 'mintid next()'

module.exports = {
  summary: 'measure how fast IDs are made here',
  usage: 'bench [flags]',
  about: `Measures masked IDs with a prefix, also sortable ones, beside crypto.randomUUID and whatever of nanoid, uuid,
uuidv7, hyperid, ulid, typeid-js, @napi-rs/uuid, @sapphire/snowflake and nodejs-snowflake can be found from this
directory. All take turns in one process; IDs are kept in an array, and then their bytes are read. It takes about ten
seconds and a lease in a directory of its own, which is removed. Making IDs is rarely anyone's bottleneck.`,
  words: [],
  flags: {
    quick: { type: 'boolean', about: 'only look whether everything runs: the numbers mean nothing' }
  },

  async run({ quick = false }) {
    const effort = quick ? QUICK : THOROUGH
    const { contenders, missing } = await peers(process.cwd())
    const times = await race(contenders, effort)
    const results = Object.entries(times).map(([name, { least, median }]) => ({
      name,
      leastNs: rounded(least),
      medianNs: rounded(median),
      ofNext: rounded(median / times[UNIT].median)
    }))
    const json = { ...circumstances(), quick, rounds: effort.rounds, results, missing }
    return { json, lines: described(json) }
  }
}

/** Our contenders beside the others, under a lease of a directory that lasts as long as this. */
async function race(others, effort) {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'mintid-bench-'))
  try {
    const { contenders, close } = await ours({ coordinator: pathToFileURL(directory).href })
    try {
      return measure([...contenders, ...others], 'bytes', effort)
    } finally {
      await close()
    }
  } finally {
    fs.rmSync(directory, { recursive: true })
  }
}

function rounded(number) {
  return Number(number.toFixed(2))
}

function circumstances() {
  const { bun, deno } = process.versions
  const runtime = bun ? `Bun ${bun}` : deno ? `Deno ${deno}` : `Node.js ${process.version.slice(1)}`
  const cpus = os.cpus()
  return { runtime, machine: `${os.type()} ${os.arch()}, ${cpus.length} × ${cpus[0]?.model ?? 'unknown'}` }
}

function described({ runtime, machine, quick, rounds, results, missing }) {
  const sorted = [...results].sort((a, b) => a.medianNs - b.medianNs)
  const rows = sorted.map(({ name, medianNs, leastNs, ofNext }) => {
    const columns = [medianNs.toFixed(1), leastNs.toFixed(1), `${ofNext.toFixed(2)} ×`]
    return [name, columns.map((column) => column.padStart(11)).join('')]
  })
  const heads = ['median', 'least', 'of next()'].map((head) => head.padStart(11)).join('')
  return [
    `${runtime}; ${machine}; ${rounds} rounds${quick ? ': a quick run, whose numbers mean nothing' : ''}`,
    '',
    table([['nanoseconds an ID', heads], ...rows]),
    ...(missing.length === 0 ? [] : ['', `not measured: ${missing.map(({ name }) => name).join(', ')}`])
  ]
}
