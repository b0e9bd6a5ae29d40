'use strict'

// What a Peer runs, and each of its Workers: the function that the test sent along, with a scene to play in.

const { writeSync } = require('node:fs')
const { serialize } = require('node:v8')
const { Worker, isMainThread, parentPort, workerData } = require('node:worker_threads')
const { Mailbox } = require('./mailbox.js')

const SAYS = 3

/** A Worker as the function that started it sees it. */
class Hand {
  #worker
  #told = new Mailbox()

  constructor(body, input = {}) {
    this.#worker = new Worker(__filename, { workerData: { body: String(body), input } })
    this.#worker.on('message', (value) => this.#told.put(value))
    this.ended = new Promise((resolve, reject) => this.#worker.once('error', reject).once('exit', resolve))
    this.ended.then(
      () => this.#told.end(new Error('the Worker ended')),
      (error) => this.#told.end(error)
    )
  }

  /** The next value that the Worker told. */
  next() {
    return this.#told.take()
  }

  /** What `hear()` gets in the Worker. */
  tell(value) {
    this.#worker.postMessage(value)
  }

  terminate() {
    return this.#worker.terminate()
  }
}

/** Tells the test something, before this returns: it arrives whatever happens to this process next. */
function say(value) {
  const plain = value instanceof Error ? { name: value.name, message: value.message, ...value } : value
  writeSync(SAYS, `${serialize(plain).toString('base64')}\n`)
}

/** Waits for what the test, or in a Worker the thread that started it, tells. Only waiting keeps the process alive. */
function hear() {
  return new Promise((resolve) => process.once('message', resolve))
}

function workerHearing() {
  const heard = new Mailbox()
  parentPort.on('message', (value) => heard.put(value))
  parentPort.unref()
  return async () => {
    parentPort.ref()
    const value = await heard.take()
    parentPort.unref()
    return value
  }
}

/** Mints an ID and gives its time in milliseconds since 1970: the latest use of the generator's lease. */
function use(ids) {
  const type = ids.type('', { kind: 'sortable' })
  return type.inspect(type.next()).timestamp.getTime()
}

const { body, input } = isMainThread ? { body: process.argv[2], input: JSON.parse(process.argv[3]) } : workerData
const scene = {
  mintid: require('mintid'),
  input,
  use,
  say,
  hear: isMainThread ? hear : workerHearing(),
  tell: (value) => parentPort.postMessage(value),
  worker: (body, input) => new Hand(body, input)
}
// biome-ignore lint/security/noGlobalEval: the text is the test's own; directly, so that it can `require`
eval(`(${body})`)(scene)
