'use strict'

const net = require('node:net')
const { once } = require('node:events')

const [UP, DOWN] = ['up', 'down']

/**
 * A network between clients and a server that can fail in every way a network does. It listens on one port for as long
 * as it lives; `target` may be changed (a failover). The latest call of a fault's method rules, for connections that
 * exist too; `pass()` ends it, and resets those connections whose bytes were lost, since they can never be whole again.
 */
class TcpProxy {
  #server
  #links = new Set()
  #mode = { name: 'pass' }
  #framing

  /**
   * @param {() => { host: string, port: number }} target where a new connection goes
   * @param {new () => { requests(bytes: Buffer): Buffer[], answers(bytes: Buffer): { bytes: Buffer, ends: boolean }[] }}
   *   [framing] the protocol, for `repeat()`
   */
  constructor(target, framing) {
    this.target = target
    this.#framing = framing
    this.#server = net.createServer((client) => this.#accept(client))
  }

  /** @param {number} [port] 0: a free one */
  async listen(port = 0) {
    this.#server.listen(port, '127.0.0.1')
    await once(this.#server, 'listening')
    this.port = this.#server.address().port
    return this
  }

  /** How many connections there are. */
  get connections() {
    return this.#links.size
  }

  /** Everything arrives, in order, at once. */
  pass() {
    return this.#turn('pass')
  }

  /** Nothing arrives, in neither direction, and nobody is told. */
  cut() {
    return this.#turn('cut')
  }

  /** Requests arrive and are executed, their answers get lost. */
  loseAnswers() {
    return this.#turn('lose answers')
  }

  /** Everything is kept, and arrives when this ends. */
  hold() {
    return this.#turn('hold')
  }

  /** Everything arrives `ms` late. */
  delay(ms) {
    return this.#turn('delay', { ms })
  }

  /** New connections are accepted by nobody behind them, and existing ones say nothing any more. */
  halfOpen() {
    return this.#turn('half-open')
  }

  /** Existing connections are reset, new ones are refused. */
  async refuse() {
    this.reset()
    await this.#turn('refuse')
    if (this.#server.listening) {
      this.#server.close()
      await once(this.#server, 'close')
    }
  }

  /** Every request is executed twice, the second time `afterMs` after the first; its answer reaches nobody. */
  repeat({ afterMs = 0 } = {}) {
    if (!this.#framing) throw new Error('a proxy that repeats requests must know their framing')
    return this.#turn('repeat', { afterMs })
  }

  /** How many requests were repeated so far, and answered. */
  repeated = 0

  /** How many connections were made so far. */
  accepted = 0

  /** Ends every connection at once, as a firewall does that was restarted. */
  reset() {
    for (const link of this.#links) link.reset()
  }

  async close() {
    this.reset()
    if (this.#server.listening) {
      this.#server.close()
      await once(this.#server, 'close')
    }
  }

  async #turn(name, details = {}) {
    this.#mode = { name, ...details }
    for (const link of this.#links) link.turned(this.#mode)
    if (name !== 'refuse' && !this.#server.listening) await this.listen(this.port)
  }

  #accept(client) {
    const link = new Link(client, this.#mode, this.target, this.#framing && new this.#framing(), () => this.repeated++)
    this.accepted++
    this.#links.add(link)
    client.once('close', () => this.#links.delete(link))
  }
}

/** One connection through the proxy. */
class Link {
  #client
  #server = null
  #mode
  #target
  #framing
  #repeated
  /** What is still to be delivered, in order, for each direction: while it is not empty nothing overtakes it. */
  #kept = { [UP]: [], [DOWN]: [] }
  #damaged = false
  /** Whose answers the server owes: the client's own, or those of a repetition. */
  #owed = []

  constructor(client, mode, target, framing, repeated) {
    this.#client = client
    this.#mode = mode
    this.#target = target
    this.#framing = framing
    this.#repeated = repeated
    this.#wire(client, UP)
    if (mode.name !== 'half-open' && mode.name !== 'cut') this.#connect()
    else this.#damaged = true
  }

  reset() {
    for (const socket of [this.#client, this.#server]) {
      // Node never lets go of a socket that is reset while its own end is on the way: this process could not exit.
      if (socket?.writableEnded) socket.destroy()
      else socket?.resetAndDestroy()
    }
  }

  turned(mode) {
    this.#mode = mode
    if (mode.name === 'pass' && this.#damaged) return this.reset()
    if (mode.name !== 'hold') for (const direction of [UP, DOWN]) this.#release(direction)
  }

  #connect() {
    this.#server = net.connect(this.#target())
    this.#wire(this.#server, DOWN)
  }

  #wire(socket, direction) {
    socket.setNoDelay(true)
    socket.on('data', (bytes) => this.#arrived(direction, bytes))
    socket.on('error', () => {})
    socket.on('close', () => this.#closed(direction))
  }

  /** An end is news like any other: nobody hears of it while nothing arrives. */
  #closed(direction) {
    if (this.#lost(direction)) this.#damaged = true
    else if (this.#kept[direction].length > 0 || this.#mode.name === 'hold') this.#keep(direction, null)
    else this.#end(direction)
  }

  #end(direction) {
    const other = direction === UP ? this.#server : this.#client
    other?.end()
  }

  #lost(direction) {
    const { name } = this.#mode
    return name === 'cut' || name === 'half-open' || (name === 'lose answers' && direction === DOWN)
  }

  #arrived(direction, bytes) {
    if (this.#lost(direction)) this.#damaged = true
    else if (this.#mode.name === 'hold') this.#keep(direction, bytes)
    else if (this.#mode.name === 'delay') this.#keep(direction, bytes, this.#mode.ms)
    else if (this.#kept[direction].length > 0) this.#keep(direction, bytes, 0)
    else this.#deliver(direction, bytes)
  }

  /** Keeps bytes (null: the end) until `ms` have passed, or until this link is released. */
  #keep(direction, bytes, ms) {
    const kept = { bytes, due: ms !== undefined }
    if (ms > 0) {
      kept.due = false
      setTimeout(() => {
        kept.due = true
        this.#flush(direction)
      }, ms).unref()
    }
    this.#kept[direction].push(kept)
    this.#flush(direction)
  }

  #release(direction) {
    for (const kept of this.#kept[direction]) kept.due = true
    this.#flush(direction)
  }

  #flush(direction) {
    const kept = this.#kept[direction]
    while (kept[0]?.due) this.#deliver(direction, kept.shift().bytes)
  }

  #deliver(direction, bytes) {
    if (this.#lost(direction)) this.#damaged = true
    else if (bytes === null) this.#end(direction)
    else if (!this.#framing) this.#write(direction, bytes)
    else if (direction === UP) for (const request of this.#framing.requests(bytes)) this.#request(request)
    else for (const answer of this.#framing.answers(bytes)) this.#answer(answer)
  }

  #write(direction, bytes) {
    const socket = direction === UP ? this.#server : this.#client
    if (socket && !socket.destroyed) socket.write(bytes)
  }

  #request({ bytes, answered, repeatable }) {
    if (answered) this.#owed.push('own')
    this.#write(UP, bytes)
    if (this.#mode.name !== 'repeat' || !repeatable) return
    const again = () => {
      if (this.#server.destroyed) return
      this.#owed.push('repeated')
      this.#write(UP, bytes)
    }
    if (this.#mode.afterMs > 0) setTimeout(again, this.#mode.afterMs).unref()
    else again()
  }

  #answer({ bytes, ends }) {
    const repeated = this.#owed[0] === 'repeated'
    if (!repeated) this.#write(DOWN, bytes)
    if (!ends) return
    this.#owed.shift()
    if (repeated) this.#repeated()
  }
}

module.exports = { TcpProxy }
