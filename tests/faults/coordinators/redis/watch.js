'use strict'

const { randomUUID } = require('node:crypto')
const { Book } = require('./book.js')
const { Client, ask } = require('./client.js')

const LINE = /^([\d.]+) \[\d+ (\S+)\] (.*)$/
const WORD = /"((?:[^"\\]|\\.)*)"/g
const ESCAPED = /\\(x[0-9a-f]{2}|.)/g
const CONTROLS = { n: '\n', r: '\r', t: '\t', a: '\x07', b: '\b' }

/** All registries as they are, and a word to find this moment among the lines by. */
const SNAPSHOT = `
local all = {}
for _, key in ipairs(redis.call('KEYS', 'mintid:*')) do
  all[#all + 1] = key
  all[#all + 1] = redis.call('HGETALL', key)
end
return all`

/**
 * Every change of a server's leases, from a moment on at which nobody can reach it, without mintid's knowledge: MONITOR
 * tells what is executed, that inside of scripts too, in order and before the client is answered. (A server that is
 * killed in the microseconds between an answer and what it tells here would leave it out; its IDs count as outside then.)
 */
class Watch {
  #port
  /** From one look at everything to the end of its connection. */
  #periods = []
  #heard = () => {}
  #over
  #ends = false

  constructor(port) {
    this.#port = port
  }

  /** @param {number} port where nobody else can have anything changed before this is there */
  static async begin(port) {
    const watch = new Watch(port)
    await watch.#look()
    return watch
  }

  async #look() {
    const client = await Client.connect(this.#port)
    await client.ask('MONITOR')
    const lines = []
    const closed = client.listen((line) => this.#hear(lines, line)).catch(() => {})
    const mark = randomUUID()
    this.#periods.push({ client, lines, mark, found: await ask(this.#port, 'EVAL', SNAPSHOT, 0, mark) })
    this.#over = closed.then(() => this.#lookAgain())
  }

  /** Sentinel ends every connection of a server that it promotes, a second before it tells anybody of it. */
  async #lookAgain() {
    if (this.#ends) return
    try {
      await this.#look()
    } catch {
      return
    }
    await this.#over
  }

  #hear(lines, line) {
    lines.push(line)
    this.#heard(line)
  }

  /** What scripts did to leases until now, or until the server's end. */
  async changes() {
    await this.caughtUp()
    const book = new Book()
    for (const { lines, mark, found } of this.#periods) {
      const [begin, ...told] = atOnce(lines.slice(lines.findIndex((line) => line.includes(mark))))
      book.found(hashesIn(found), begin.at)
      for (const { commands, ...when } of told) book.executed(commands, when)
    }
    return book.changes
  }

  /** Waits until all that was executed before now has been told. */
  async caughtUp() {
    const mark = randomUUID()
    const told = new Promise((resolve) => {
      this.#heard = (line) => line.includes(mark) && resolve()
    })
    const asked = ask(this.#port, 'ECHO', mark).then(
      () => told,
      () => this.#over
    )
    await Promise.race([asked, this.#over])
  }

  /** The server is about to end: whoever is on its port later is another. */
  async serverEnds() {
    await this.caughtUp()
    this.#ends = true
  }

  end() {
    this.#ends = true
    for (const { client } of this.#periods) client.close()
    return this.#over
  }
}

/** `[key, [field, value, …], …]` as maps. */
function hashesIn(found) {
  const hashes = new Map()
  for (const [key, flat] of pairs(found)) hashes.set(key, new Map(pairs(flat)))
  return hashes
}

function pairs(flat) {
  return Array.from({ length: flat.length / 2 }, (_, index) => flat.slice(2 * index, 2 * index + 2))
}

/** The commands in some lines: those of a script together, any other by itself. */
function atOnce(lines) {
  const turns = []
  for (const line of lines) {
    const [, seconds, source, rest] = LINE.exec(line)
    const [script, words] = [source === 'lua', wordsIn(rest)]
    const last = turns.at(-1)
    if (script && last?.script) last.commands.push(words)
    else turns.push({ commands: [words], at: 1000 * seconds, script })
  }
  return turns
}

function wordsIn(text) {
  const plain = (_, what) => (what.length > 1 ? String.fromCharCode(Number(`0${what}`)) : (CONTROLS[what] ?? what))
  return [...text.matchAll(WORD)].map(([, word]) => word.replaceAll(ESCAPED, plain))
}

module.exports = { Watch, atOnce }
