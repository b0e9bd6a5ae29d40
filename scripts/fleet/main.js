'use strict'

// The main job: a fleet of processes, each with a leased machine ID, mints masked IDs; one of them is killed and replaced
// meanwhile. This process receives every ID as a line and counts how many are distinct.
//
//   npm start                          leases from a directory
//   npm start -- --url postgres://…    leases from a registry on that server; mysql://… and redis://… likewise

const { spawn } = require('node:child_process')
const { randomBytes } = require('node:crypto')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { IdGenerator } = require('mintid')
const { ownDirectory, ownNamespace } = require('./coordinator.js')
const { Progress } = require('./progress.js')

const PROCESSES = 4
const IDS = 1_000_000

async function main() {
  const url = urlOf(process.argv.slice(2))
  const coordinator = url === undefined ? ownDirectory() : ownNamespace(url)
  try {
    await run(coordinator)
  } finally {
    coordinator.end()
  }
}

/** The URL on the command line, if there is one; ends the process if it says something else. */
function urlOf(args) {
  try {
    const { url } = parseArgs({ args, options: { url: { type: 'string' } } }).values
    if (url === undefined || /^(postgres(ql)?|mysql|mariadb|redis|valkey).*:\/\//i.test(url)) return url
    throw new Error('--url: expected a URL that begins with postgres://, mysql:// or redis://')
  } catch (error) {
    console.error(error.message)
    process.exit(2)
  }
}

async function run({ url, namespace }) {
  const key = randomBytes(32).toString('base64url')
  console.log(`${PROCESSES} processes mint ${IDS.toLocaleString('en')} masked IDs each; one is killed and replaced\n`)
  const began = performance.now()
  const members = await runFleet({ url, namespace, key, progress: new Progress(IDS) })
  const seconds = (performance.now() - began) / 1000
  const orderId = new IdGenerator({ coordinator: 'none', key }).type('ord_', { mask: true })
  const summary = summarize(members, orderId)
  print(summary, seconds)
  if (summary.distinct !== summary.lines) process.exitCode = 1
}

/** Runs the fleet to its end; the second process is killed half-way and another one takes its place. */
async function runFleet(fleet) {
  const members = Array.from({ length: PROCESSES }, (_, index) => new Member(`process ${index + 1}`, fleet))
  const [, victim] = members
  await victim.reaches(IDS / 2)
  victim.kill()
  await victim.ended
  members.push(new Member('its heir', fleet))
  await Promise.all(members.map((member) => member.ended))
  return members
}

/** One process and the lines that came from it. */
class Member {
  machineId = null
  lines = []
  killed = false
  #row
  #progress
  #child
  #rest = ''
  #waiting = []

  constructor(name, { url, namespace, key, progress }) {
    this.name = name
    this.#progress = progress
    this.#row = progress.add(name)
    const fleet = { FLEET_URL: url, FLEET_NAMESPACE: namespace, FLEET_KEY: key, FLEET_IDS: String(IDS) }
    const env = { ...process.env, ...fleet }
    const stdio = ['ignore', 'pipe', 'inherit', 'ipc']
    this.began = performance.now()
    this.#child = spawn(process.execPath, [path.join(__dirname, 'worker.js')], { env, stdio })
    this.#child.on('message', ({ machineId }) => this.#leased(machineId))
    this.#child.stdout.setEncoding('latin1').on('data', (text) => this.#receive(text))
    this.ended = new Promise((resolve, reject) => {
      this.#child.on('error', reject)
      this.#child.on('close', (code, signal) => this.#end(code, signal, resolve, reject))
    })
  }

  /** Resolves when `count` IDs have come. */
  reaches(count) {
    return Promise.race([this.ended, new Promise((resolve) => this.#waiting.push({ count, resolve }))])
  }

  kill() {
    this.killed = true
    this.#child.kill('SIGKILL')
  }

  #leased(machineId) {
    this.machineId = machineId
    this.#note(`machine ID ${machineId}`)
  }

  #receive(text) {
    const lines = (this.#rest + text).split('\n')
    // A line without its end came from a process that was killed while it wrote: it is not an ID that anybody received.
    this.#rest = lines.pop()
    for (const line of lines) this.lines.push(line)
    this.#row.count = this.lines.length
    for (const { count, resolve } of this.#waiting) if (this.lines.length >= count) resolve()
    this.#progress.show()
  }

  #end(code, signal, resolve, reject) {
    this.seconds = (performance.now() - this.began) / 1000
    if (!this.killed && code !== 0) return reject(new Error(`${this.name} ended with ${signal ?? `exit code ${code}`}`))
    if (this.killed) this.#note(`machine ID ${this.machineId}, killed`)
    resolve()
  }

  #note(text) {
    this.#row.note = text
    this.#progress.show(true)
  }
}

function summarize(members, orderId) {
  const lines = members.reduce((sum, member) => sum + member.lines.length, 0)
  const numbers = new BigInt64Array(lines)
  let filled = 0
  for (const member of members) {
    // toDbMany refuses whatever is not an ID, so a torn or mixed-up line would end the run here.
    numbers.set(orderId.toDbMany(member.lines), filled)
    filled += member.lines.length
  }
  numbers.sort()
  let distinct = Math.min(1, lines)
  for (let index = 1; index < lines; index++) if (numbers[index] !== numbers[index - 1]) distinct++
  const samples = members.map(({ lines: [first] }) => [first, orderId.toDb(first)])
  return { members, lines, distinct, samples }
}

function print({ members, lines, distinct, samples }, seconds) {
  const count = (number) => number.toLocaleString('en').padStart(9)
  console.log('\n  process     machine ID        IDs    IDs/s, with start-up')
  for (const { name, machineId, lines: own, seconds: took, killed } of members) {
    const rate = count(Math.round(own.length / took))
    console.log(
      `  ${name.padEnd(10)} ${String(machineId).padStart(11)}  ${count(own.length)}  ${rate}${killed ? '  (killed)' : ''}`
    )
  }
  console.log('\n  the application sees    the database keeps')
  for (const [id, db] of samples) console.log(`  ${id.padEnd(22)}  ${db}`)
  console.log(`\n  ${count(lines)} lines received in ${seconds.toFixed(1)} s`)
  console.log(`  ${count(distinct)} distinct IDs\n`)
}

main()
