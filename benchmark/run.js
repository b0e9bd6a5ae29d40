'use strict'

// `node benchmark/run.js [--quick] [--json file] [--write]`, also with bun and `deno run -A`.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const process = require('node:process')
const { parseArgs } = require('node:util')
const { consumers } = require('../js/bench/consumers.js')
const { install } = require('./install.js')

const USAGE = `usage: node benchmark/run.js [--quick] [--json <file>] [--write]
  --quick         looks whether everything runs; the numbers mean nothing
  --json <file>   writes the results as JSON, too
  --write         writes docs/benchmarks.md and docs/benchmarks.svg, with Bun, Deno and the Rust side where they are`

const THOROUGH = { rounds: 300, warmUpMs: 200, endlessMs: 1000, kept: 80_000, starts: 20, seconds: 5 }
const QUICK = { rounds: 5, warmUpMs: 10, endlessMs: 100, kept: 8000, starts: 3, seconds: 0.4 }

async function main() {
  const { quick, json, write } = options()
  const results = await measureAll(quick, write)
  const { sections, setting } = require('./sections.js')
  console.log(setting(results).join('\n'))
  console.log(require('./report.js').terminal(sections(results)))
  if (write) writePage(results)
  if (json) fs.writeFileSync(json, JSON.stringify(results, null, 2))
}

function options() {
  try {
    const flags = { quick: { type: 'boolean', default: false }, json: { type: 'string' }, write: { type: 'boolean' } }
    return parseArgs({ options: flags }).values
  } catch (error) {
    console.error(`${error.message}\n${USAGE}`)
    process.exit(2)
  }
}

async function measureAll(quick, write) {
  const effort = quick ? QUICK : THOROUGH
  const versions = install()
  const results = { ...circumstances(quick, write), rounds: effort.rounds, versions, ...(await race(effort)) }
  say('the default layout')
  results.endless = await require('./endless.js').endless(effort.endlessMs)
  if (results.runtime.name === 'Node.js') {
    say('memory')
    results.memory = await require('./memory.js').memory(effort.kept)
    say('starting')
    results.startup = require('./startup.js').startup(effort.starts)
    say('HTTP servers')
    results.live = await require('./live.js').live(effort.seconds)
  }
  return { ...results, goals: require('./goals.js').goals(results) }
}

/** All contenders under all consumers. */
async function race(effort) {
  const { ours } = require('../js/bench/contenders.js')
  const { measure } = require('../js/bench/harness.js')
  const { floors } = require('./floors.js')
  const { contenders, close } = await ours({ machineId: 1 })
  const others = await require('../js/bench/peers.js').peers(__dirname)
  const times = {}
  for (const [consumer, { title }] of Object.entries(consumers)) {
    say(`IDs ${title}`)
    times[consumer] = measure([...floors(), ...contenders, ...others.contenders], consumer, effort)
  }
  await close()
  return { times, missing: others.missing }
}

function writePage(results) {
  const { others, pipeline } = require('./children.js')
  say('Bun and Deno')
  results.others = others(results.quick)
  say('the Rust side')
  results.pipeline = pipeline()
  require('./page.js').write(results, path.join(__dirname, '..', 'docs'))
}

function circumstances(quick, write) {
  const cpus = os.cpus()
  const memory = Math.round(os.totalmem() / 2 ** 30)
  return {
    date: new Date().toISOString().slice(0, 10),
    quick,
    command: [COMMANDS[runtime().name], ...(quick ? ['--quick'] : []), ...(write ? ['--write'] : [])].join(' '),
    runtime: runtime(),
    machine: `${os.type()} ${os.release()} ${os.arch()}, ${cpus.length} × ${cpus[0].model}, ${memory} GiB`
  }
}

const COMMANDS = {
  'Node.js': 'node benchmark/run.js',
  Bun: 'bun benchmark/run.js',
  Deno: 'deno run -A benchmark/run.js'
}

function runtime() {
  const { bun, deno } = process.versions
  if (bun) return { name: 'Bun', version: bun }
  if (deno) return { name: 'Deno', version: deno }
  return { name: 'Node.js', version: process.version.slice(1) }
}

function say(what) {
  console.error(`… ${what}`)
}

main()
