'use strict'

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const { join } = require('node:path')
const { createInterface } = require('node:readline')
const { deserialize } = require('node:v8')
const { Mailbox } = require('./mailbox.js')
const { within } = require('./within.js')

const STAGE = join(__dirname, 'stage.js')
const SAYS = 3

/**
 * Another process that runs one function of the test's. The function travels as text: it sees nothing of the file it
 * stands in, only `require` and what `stage.js` hands to it. What it `say`s arrives even if the process is killed right
 * afterwards.
 */
class Peer {
  #process
  #said = new Mailbox()
  #stderr = ''

  /**
   * @param {{ after: Function }} t the test that this process must not outlive
   * @param {(scene: object) => unknown} body
   * @param {object} [input] what `body` gets as `input`: data that JSON can hold
   * @param {{ execArgv?: string[], env?: object, cwd?: string }} [options] `env` is added to this process's
   */
  constructor(t, body, input = {}, { execArgv = [], env = {}, cwd } = {}) {
    const argv = [...execArgv, STAGE, String(body), JSON.stringify(input)]
    this.#process = spawn(process.execPath, argv, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'ipc']
    })
    this.#process.stderr.setEncoding('utf8').on('data', (text) => {
      this.#stderr += text
    })
    const lines = createInterface({ input: this.#process.stdio[SAYS] })
    lines.on('line', (line) => this.#said.put(deserialize(Buffer.from(line, 'base64'))))
    this.ended = this.#ending()
    t.after(async () => {
      this.kill('SIGKILL')
      await this.ended
    })
  }

  get pid() {
    return this.#process.pid
  }

  /** The next value that the process said; an error with its last words if it ended before. */
  next() {
    return within(this.#said.take(), () => `the process said nothing; ${this.#lastWords()}`)
  }

  /** What `hear()` gets in the process. */
  tell(value) {
    this.#process.send(value)
  }

  kill(signal) {
    this.#process.kill(signal)
  }

  /**
   * Waits until the process ends by itself.
   *
   * @returns {Promise<{ code: number | null, signal: string | null, said: unknown[], stderr: string }>} `said`: what
   *   was not taken by `next()`
   */
  async end() {
    const [code, signal] = await within(this.ended, () => `the process did not end; ${this.#lastWords()}`)
    return { code, signal, said: this.#said.rest(), stderr: this.#stderr }
  }

  async #ending() {
    const [code, signal] = await once(this.#process, 'close')
    this.#said.end(new Error(`the process ended (${signal ?? code}) and said nothing more; ${this.#lastWords()}`))
    return [code, signal]
  }

  #lastWords() {
    return `its stderr: ${this.#stderr || 'empty'}`
  }
}

module.exports = { Peer }
