'use strict'

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const { existsSync, readFileSync } = require('node:fs')
const { join } = require('node:path')
const { createInterface } = require('node:readline')
const { now, within } = require('./clock.js')
const { Records } = require('./records.js')

const REPORTS = 3

/** A scenario that hangs tells nothing. */
const LONGEST_MS = 30_000

/** A holder, or another process of a scenario, as its parent sees it. */
class HolderProcess {
  /** Every event that it told, in order; `at` is on the clock that all processes share. */
  events = []
  /** Whether the scenario ended it: then nobody waits for it any more. */
  over = false
  #child
  #asked = 0
  #watchers = new Set()
  #stderr = ''

  /**
   * @param {string} name
   * @param {{ script?: string, input: object, env?: object, newcomer?: boolean }} what `input` is what the script gets;
   *   its `file` is where it writes records, `env` is added to this process's
   */
  constructor(name, { script = 'holder.js', input, env = {}, newcomer = false }) {
    this.name = name
    this.newcomer = newcomer
    this.files = input.files ?? [{ file: input.file, namespace: 'default' }]
    this.#child = spawn(process.execPath, [join(__dirname, script), JSON.stringify(input)], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'ipc']
    })
    this.#child.stderr.setEncoding('utf8').on('data', (text) => {
      this.#stderr += text
    })
    createInterface({ input: this.#child.stdio[REPORTS] }).on('line', (line) => this.#hear(JSON.parse(line)))
    this.ended = once(this.#child, 'close').then(() => this.#hear({ event: 'ended', at: now() }))
  }

  #hear(event) {
    this.events.push(event)
    for (const watcher of this.#watchers) watcher()
  }

  /** Waits for an event that came, or comes, and passes; an error with the last words if the process ends before. */
  until(what, passes, longestMs = LONGEST_MS) {
    const arrived = new Promise((resolve, reject) => {
      let at = 0
      const watcher = () => {
        while (at < this.events.length) {
          const event = this.events[at++]
          if (passes(event)) resolve(event)
          else if (event.event === 'ended') reject(new Error(`${this.name} ended before ${what}; ${this.lastWords()}`))
          else continue
          this.#watchers.delete(watcher)
          return
        }
      }
      this.#watchers.add(watcher)
      watcher()
    })
    return within(arrived, longestMs, () => `${this.name}: ${what}; ${this.lastWords()}`)
  }

  /** Waits for an event of a type, at or after a moment. */
  event(type, { after = 0, longestMs, ...fields } = {}) {
    const passes = (event) =>
      event.event === type &&
      event.at >= after &&
      Object.entries(fields).every(([name, value]) => event[name] === value)
    return this.until(type, passes, longestMs)
  }

  /** Waits until it has minted in calls that began after a moment. */
  minted(after = now()) {
    return this.event('count', { after })
  }

  /** Asks it to do something, and waits for its answer. */
  async ask(name, args, longestMs) {
    const answer = await this.asked(name, args, longestMs)
    return answer.value
  }

  /** Asks, and gives the promise of the answer's event: for what is not awaited at once. */
  asked(name, args = {}, longestMs = LONGEST_MS) {
    const id = this.#asked++
    if (this.#child.connected) this.#child.send({ id, name, args })
    return this.event('answer', { id, longestMs })
  }

  /** SIGSTOP and SIGCONT; the scenario's clean-up does not mind which came last. */
  signal(signal) {
    this.#child.kill(signal)
  }

  async kill() {
    this.over = true
    this.#child.kill('SIGKILL')
    await this.ended
  }

  /** Closes it as a service is closed, and kills what is left of it. */
  async close() {
    if (this.over) return null
    const answer = await this.ask('close')
    await this.kill()
    return answer
  }

  /** How many calls were refused, as it told last. */
  get refused() {
    return this.of('count').at(-1)?.refused ?? 0
  }

  /**
   * For how long after a moment it was without IDs, in milliseconds: until it minted for good. 0 if it never was, null if
   * it still is.
   */
  withoutIdsFor(moment) {
    const turns = this.events.filter(({ event }) => event === 'minting' || event === 'refusing')
    const last = turns.at(-1)
    if (last?.event !== 'minting') return null
    return Math.max(last.at - moment, 0)
  }

  /** The events of one type. */
  of(type) {
    return this.events.filter(({ event }) => event === type)
  }

  /** The records that it wrote, for each namespace that it minted in. */
  records() {
    return this.files.map(({ file, namespace }) => ({
      name: this.name,
      namespace,
      records: new Records(existsSync(file) ? readFileSync(file) : Buffer.alloc(0))
    }))
  }

  lastWords() {
    const events = this.events.filter(({ event }) => event !== 'count').slice(-6)
    return `its last events: ${JSON.stringify(events)}; its stderr: ${this.#stderr || 'empty'}`
  }
}

module.exports = { HolderProcess }
