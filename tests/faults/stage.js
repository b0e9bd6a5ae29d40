'use strict'

const { randomBytes } = require('node:crypto')
const { mkdirSync } = require('node:fs')
const { join } = require('node:path')
const { now } = require('./clock.js')
const { agrees } = require('./observed.js')
const { plant } = require('./plant.js')
const { HolderProcess } = require('./process.js')
const { TcpProxy } = require('./proxy.js')
const { lossesOf, numbersOf, problemsOf, saidTo, timesOf } = require('./verdict.js')

/** Short leases, so that they run out while somebody watches. */
const LEASE = { ttlMs: 4000, firstTtlMs: 3000, renewEveryMs: 700, requestTimeoutMs: 800, acquireTimeoutMs: 5000 }

/** Of a coordinator: what starts a server while there are leases. */
const STARTS = ['start', 'putBack']

/** About 30 000 IDs a second and process: faults shall meet minting, not a busy machine. */
const PACE = { singles: 8, many: 32, everyMs: 4 }

/** Where one scenario plays: its coordinator, the network in front of it, its processes, and the moments that count. */
class Stage {
  processes = []
  /** Whether the registry forgets fences in this scenario; they are then judged by what it once granted. */
  forgets = false
  /** What a row of the table says beside its numbers. */
  notes = []
  #folder
  #key = randomBytes(32).toString('base64url')
  #ended = null
  #planted

  static async open(Coordinator, folder, shared, { short, planted, scenario: { made, lease, needs = [] } }) {
    const stage = new Stage()
    const starts = STARTS.some((method) => needs.includes(method))
    stage.lease = { ...LEASE, ...(starts && Coordinator.startLease), ...lease }
    stage.short = short
    stage.#planted = planted
    stage.#folder = folder
    mkdirSync(folder, { recursive: true })
    stage.coordinator = await Coordinator.create(join(folder, 'coordinator'), shared, made)
    try {
      await stage.#prepare(Coordinator)
    } catch (error) {
      await stage.coordinator.end()
      throw error
    }
    return stage
  }

  async #prepare({ server, framing }) {
    if (server) {
      this.proxy = await new TcpProxy(() => this.coordinator.address, framing).listen()
    }
    await this.setup('default')
  }

  /** Creates the registry of a namespace, with nothing to wait for. */
  setup(namespace) {
    return this.coordinator.setup({ namespace, ttlMs: this.lease.ttlMs, key: this.#key })
  }

  /** The options of a generator on this stage; everybody goes through the proxy. A `machineId` is guarded. */
  options({ parameters, lease, machineId, ...more } = {}) {
    const coordinator = this.coordinator.url(this.proxy?.port, parameters)
    const timings = { ...this.lease, ...lease }
    if (machineId === undefined) return { coordinator, key: this.#key, lease: timings, ...more }
    const { firstTtlMs: _, ...guarded } = timings
    return { machineId, guard: coordinator, key: this.#key, lease: guarded, ...more }
  }

  /** Starts a process that leases and mints; does not wait for it. */
  start({ name, options, env, script, input, newcomer, pace } = {}) {
    const number = this.processes.length + 1
    const called = name ?? `${newcomer ? 'newcomer' : 'holder'} ${number}`
    const what = { options: this.options(options), file: this.file(number), pace: { ...PACE, ...pace }, ...input }
    const holder = new HolderProcess(called, { script, input: what, env, newcomer })
    this.processes.push(holder)
    return holder
  }

  /** A file for records. */
  file(name) {
    return join(this.#folder, `records-${name}`)
  }

  /** Starts some holders, and waits until each of them mints. */
  async holders(count, what = {}) {
    const holders = Array.from({ length: count }, () => this.start(what))
    await Promise.all(holders.map((holder) => holder.minted()))
    return holders
  }

  /** Starts a process after the fault, or during it; does not wait for it. */
  newcomer(what = {}) {
    return this.start({ ...what, newcomer: true })
  }

  /** From here on the time to the first ID counts: the fault is over. */
  faultEnds() {
    this.#ended = now()
  }

  /** Waits until each of these processes, or all that are there, has minted something that it began after now. */
  async everybodyMints(processes = this.processes) {
    const moment = now()
    const alive = processes.filter(({ over }) => !over)
    await Promise.all(alive.map((process) => process.minted(moment)))
    // Whoever minted, and lost its lease only then, gets another one first.
    if (alive.some((process) => process.withoutIdsFor(moment) === null)) return this.everybodyMints(alive)
    await Promise.all(alive.filter((process) => process.of('observed').length > 0).map(agrees))
  }

  /** Waits for so many milliseconds: only for what has no event, that is for time itself. */
  pass(ms) {
    return new Promise((resolve) => setTimeout(resolve, ms))
  }

  note(text) {
    this.notes.push(text)
  }

  /** Closes everybody as services are closed, and judges what was written and told. */
  async judged() {
    const times = timesOf(this.processes, this.#ended)
    const closed = await Promise.all(this.processes.map((process) => process.close()))
    if (this.#planted) plant(this.processes[0].files[0].file, this.#planted)
    const fences = await this.coordinator.fences({ forgets: this.forgets })
    const minted = closed.filter((answer) => answer?.minted > 0).length
    const problems = problemsOf(this.processes)
    if (minted > 0) problems.push(`${minted} processes minted after close()`)
    const told = { said: saidTo(this.processes), losses: lossesOf(this.processes) }
    return { ...numbersOf(this.processes, fences), ...times, ...told, problems, notes: this.notes }
  }

  async end() {
    await Promise.all(this.processes.map((process) => process.kill()))
    await this.proxy?.close()
    await this.coordinator.end()
  }
}

module.exports = { Stage }
