'use strict'

// `node live-server.js <maker>`, forked by live.js: an HTTP server that answers each request with a new ID.

const http = require('node:http')
const process = require('node:process')

const { IdGenerator } = require('../index.js')
const { KEY } = require('../js/bench/contenders.js')

/** Of the default layout. */
const SEQUENCE_BITS = 13

/** Functions that make an ID and say how many IDs were counted out and not used yet. */
const MAKERS = {
  async mintid() {
    const ids = await IdGenerator.connect({ machineId: 1, namespace: 'benchmark-live', key: KEY })
    const userId = ids.type('usr_', { mask: true })
    let last
    return { next: () => (last = userId.next()), unused: () => between(userId, last) }
  },

  async nanoid() {
    const { nanoid } = await import('nanoid')
    return { next: () => nanoid(), unused: () => 0 }
  },

  async constant() {
    return { next: () => 'usr_00000000000', unused: () => 0 }
  }
}

/** How many numbers lie between the last ID and one that is counted now, past what is kept ready. */
function between(type, last) {
  const here = place(type.inspect(last))
  const [db] = type.nextManyDb(1)
  return place(type.inspect(type.fromDb(db))) - here - 1
}

/** The place of a counter's number in its sequence: the count carries into the timestamp. */
function place({ timestamp, sequence }) {
  return timestamp.getTime() * 2 ** SEQUENCE_BITS + sequence
}

async function main() {
  const { next, unused } = await MAKERS[process.argv[2]]()
  const server = http.createServer((_request, response) => response.end(next()))
  server.keepAliveTimeout = 0
  process.on('message', () => process.send({ cpu: process.cpuUsage(), unused: unused() }))
  process.on('disconnect', () => process.exit())
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
}

main()
