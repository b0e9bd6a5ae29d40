'use strict'

// What a process pays before its first ID, and what generators keep. Measured in processes of their own:
// `node --expose-gc startup.js start|esm|generators`.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const process = require('node:process')
const { pathToFileURL } = require('node:url')

const ROOT = path.join(__dirname, '..')
const GENERATORS = 200
const KEY = 'known to all, and good for nothing but a benchmark'

/**
 * @param {number} times how many processes are started
 * @returns {{ fileMs: number, requireMs: number, typeMs: number, importMs: number, addonMs: number, firstIdMs: number,
 * firstGeneratorRss: number, generatorHeap: number, generatorRss: number, addonBytes: number }} medians in
 * milliseconds: `require` of one small file (for comparison), of mintid, the first `idType()`, `import` of mintid by an
 * ES module, the addon, from `start()` on a directory to the first ID; bytes: what the first generator and one type add
 * to the process, what each further one with a type adds to heap and process, and the size of the addon's file
 */
function startup(times) {
  const starts = Array.from({ length: times }, () => ({ ...child('start'), ...child('esm') }))
  const median = (name) => starts.map((start) => start[name]).sort((a, b) => a - b)[times >> 1]
  const addon = fs.readdirSync(ROOT).find((name) => name.endsWith('.node'))
  const medians = Object.keys(starts[0]).map((name) => [name, median(name)])
  return {
    ...Object.fromEntries(medians),
    ...child('generators'),
    addonBytes: fs.statSync(path.join(ROOT, addon)).size
  }
}

function child(what) {
  return JSON.parse(execFileSync(process.execPath, ['--expose-gc', __filename, what], { encoding: 'utf8' }))
}

async function start() {
  const asked = performance.now()
  require('./chart.js')
  const began = performance.now()
  const mintid = require(ROOT)
  const required = performance.now()
  const userId = mintid.idType('usr_', { mask: true })
  const declared = performance.now()
  require('../binding.js')
  const loaded = performance.now()
  // Here it is for the tests; an application that has it loads it itself.
  require('@opentelemetry/api')
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'mintid-benchmark-'))
  const prepared = performance.now()
  await mintid.start({ coordinator: `file://${directory}`, key: KEY })
  userId.next()
  const minted = performance.now()
  await mintid.stop()
  fs.rmSync(directory, { recursive: true })
  return {
    fileMs: began - asked,
    requireMs: required - began,
    typeMs: declared - required,
    addonMs: loaded - declared,
    firstIdMs: minted - prepared
  }
}

/** Whoever writes `import { idType } from 'mintid'` loads what stands behind every export, as the language wants it. */
async function esm() {
  const began = performance.now()
  await import(pathToFileURL(path.join(ROOT, 'index.js')).href)
  return { importMs: performance.now() - began }
}

async function generators() {
  const before = memory()
  const first = await generator()
  const one = memory()
  const more = []
  while (more.length < GENERATORS) more.push(await generator())
  const all = memory()
  await Promise.all([first, ...more].map(({ ids }) => ids.close()))
  return {
    firstGeneratorRss: one.rss - before.rss,
    generatorHeap: (all.heap - one.heap) / GENERATORS,
    generatorRss: (all.rss - one.rss) / GENERATORS
  }
}

/** One more handle on the process's lease, with a type that has made IDs. */
async function generator() {
  const { IdGenerator } = require(ROOT)
  const ids = await IdGenerator.connect({ machineId: 1, key: KEY })
  const userId = ids.type('usr_', { mask: true })
  for (let i = 0; i < 1000; i++) userId.next()
  return { ids, userId }
}

function memory() {
  global.gc()
  const { rss, heapUsed, external } = process.memoryUsage()
  return { rss, heap: heapUsed + external }
}

const PARTS = { start, esm, generators }

if (require.main === module) PARTS[process.argv[2]]().then((result) => console.log(JSON.stringify(result)))

module.exports = { startup }
