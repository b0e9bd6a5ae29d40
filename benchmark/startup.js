'use strict'

// What a process pays before its first ID, and what generators keep. Measured in processes of their own:
// `node --expose-gc startup.js start|generators`.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const process = require('node:process')

const ROOT = path.join(__dirname, '..')
const GENERATORS = 200
const KEY = 'known to all, and good for nothing but a benchmark'

/**
 * @param {number} times how many processes are started
 * @returns {{ fileMs: number, requireMs: number, addonMs: number, firstIdMs: number, firstGeneratorRss: number,
 * generatorHeap: number, generatorRss: number, addonBytes: number }} medians in milliseconds: `require` of one small
 * file (for comparison), of mintid, of the addon, from `start()` on a directory to the first ID; bytes: what the first
 * generator and one type add to the process, what each further one with a type adds to heap and process, and the size
 * of the addon's file
 */
function startup(times) {
  const starts = Array.from({ length: times }, () => child('start'))
  const median = (name) => starts.map((start) => start[name]).sort((a, b) => a - b)[times >> 1]
  const addon = fs.readdirSync(ROOT).find((name) => name.endsWith('.node'))
  return {
    fileMs: median('fileMs'),
    requireMs: median('requireMs'),
    addonMs: median('addonMs'),
    firstIdMs: median('firstIdMs'),
    ...child('generators'),
    addonBytes: fs.statSync(path.join(ROOT, addon)).size
  }
}

function child(what) {
  return JSON.parse(execFileSync(process.execPath, ['--expose-gc', __filename, what], { encoding: 'utf8' }))
}

async function start() {
  const asked = performance.now()
  require('./consumers.js')
  const began = performance.now()
  const { start, stop, idType } = require(ROOT)
  const required = performance.now()
  require('../binding.js')
  const loaded = performance.now()
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'mintid-benchmark-'))
  const prepared = performance.now()
  await start({ coordinator: `file://${directory}`, key: KEY })
  idType('usr_', { mask: true }).next()
  const minted = performance.now()
  await stop()
  fs.rmSync(directory, { recursive: true })
  return {
    fileMs: began - asked,
    requireMs: required - began,
    addonMs: loaded - required,
    firstIdMs: minted - prepared
  }
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

const PARTS = { start, generators }

if (require.main === module) PARTS[process.argv[2]]().then((result) => console.log(JSON.stringify(result)))

module.exports = { startup }
