'use strict'

const HEADER = 4
const [QUIT, QUERY] = [0x01, 0x03]
const [OK, END, ERROR] = [0x00, 0xfe, 0xff]
const DEPRECATE_EOF = 1 << 24
const MORE_RESULTS = 0x0008

/**
 * Where requests and answers begin and end in MySQL's protocol: each command is a packet (three bytes of length, one of
 * sequence), and its answer goes on until OK, an error, or the end of the last result's rows. What comes before the
 * server's first OK (greeting, password) is passed on as it is. For connections without TLS and compression, and for
 * statements that are sent as text.
 */
class MysqlFraming {
  #up = Buffer.alloc(0)
  #down = Buffer.alloc(0)
  #state = this.#loginAnswer
  #withoutEof = false
  #loggedIn = false
  #columns = 0

  /** @returns {{ bytes: Buffer, answered: boolean, repeatable: boolean }[]} complete commands of the client's */
  requests(bytes) {
    const { packets, rest } = packetsIn(Buffer.concat([this.#up, bytes]))
    this.#up = rest
    return packets.map((packet) => {
      if (!this.#loggedIn) return this.#login(packet)
      const command = packet[HEADER]
      return { bytes: packet, answered: command !== QUIT, repeatable: command === QUERY }
    })
  }

  #login(packet) {
    if (packet.length >= HEADER + 4) this.#withoutEof ||= (packet.readUInt32LE(HEADER) & DEPRECATE_EOF) !== 0
    return { bytes: packet, answered: false, repeatable: false }
  }

  /** @returns {{ bytes: Buffer, ends: boolean }[]} what the server said, packet by packet: `ends` an answer or not */
  answers(bytes) {
    const { packets, rest } = packetsIn(Buffer.concat([this.#down, bytes]))
    this.#down = rest
    return packets.map((packet) => ({ bytes: packet, ends: this.#state(packet.subarray(HEADER)) }))
  }

  // Each of these is told a packet, and says whether it ends an answer.

  #loginAnswer([type]) {
    if (type !== OK) return false
    this.#loggedIn = true
    this.#state = this.#first
    return false
  }

  #first(payload) {
    if (payload[0] === ERROR) return true
    if (payload[0] === OK) return !hasMore(payload)
    this.#columns = payload[0] + (this.#withoutEof ? 0 : 1)
    this.#state = this.#column
    return false
  }

  #column() {
    if (--this.#columns === 0) this.#state = this.#row
    return false
  }

  #row(payload) {
    const [type] = payload
    if (type !== ERROR && type !== END) return false
    this.#state = this.#first
    return type === ERROR || !(this.#withoutEof ? hasMore(payload) : (payload.readUInt16LE(3) & MORE_RESULTS) !== 0)
  }
}

/** The whole packets that bytes begin with, and what is left. */
function packetsIn(bytes) {
  const packets = []
  let rest = bytes
  while (rest.length >= HEADER && rest.length >= HEADER + rest.readUIntLE(0, 3)) {
    const length = HEADER + rest.readUIntLE(0, 3)
    packets.push(rest.subarray(0, length))
    rest = rest.subarray(length)
  }
  return { packets, rest }
}

/** Whether another result follows an OK: its status stands behind two numbers of variable length. */
function hasMore(payload) {
  const affected = 1 + sizeAt(payload, 1)
  return (payload.readUInt16LE(affected + sizeAt(payload, affected)) & MORE_RESULTS) !== 0
}

const sizeAt = (payload, at) => ({ 252: 3, 253: 4, 254: 9 })[payload[at]] ?? 1

module.exports = { MysqlFraming }
