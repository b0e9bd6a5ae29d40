'use strict'

const { once } = require('node:events')
const net = require('node:net')
const { Mailbox } = require('../../../../__test__/support/mailbox.js')
const { Reader, ServerError, command } = require('./resp.js')

/** One connection, as the harness itself needs it: a question, an answer. */
class Client {
  #socket
  #answers = new Mailbox()

  /** @param {number} port of 127.0.0.1 */
  static async connect(port) {
    const client = new Client(net.connect({ host: '127.0.0.1', port }))
    await once(client.#socket, 'connect')
    return client
  }

  constructor(socket) {
    this.#socket = socket
    this.closed = new Promise((resolve) => socket.once('close', resolve))
    const reader = new Reader()
    socket.setNoDelay(true)
    socket.on('data', (bytes) => {
      for (const { value } of reader.read(bytes)) this.#answers.put(value)
    })
    socket.on('error', () => {})
    socket.on('close', () => this.#answers.end(new Error('the connection was closed')))
  }

  /** Sends a command; its answer, or throws a ServerError. */
  async ask(...words) {
    this.#socket.write(command(words))
    const answer = await this.#answers.take()
    if (answer instanceof ServerError) throw answer
    return answer
  }

  /** Calls for each answer that nobody asks for from here on, at once. */
  async listen(hear) {
    for (;;) hear(await this.#answers.take())
  }

  close() {
    this.#socket.destroy()
  }
}

/** Asks one question over a connection of its own: a server may close what is idle. */
async function ask(port, ...words) {
  const client = await Client.connect(port)
  try {
    return await client.ask(...words)
  } finally {
    client.close()
  }
}

module.exports = { Client, ask }
