'use strict'

const { once } = require('node:events')
const { createServer } = require('node:net')

/** Nobody listens there: who connects is refused at once. */
const NOWHERE = 1

/** A port of 127.0.0.1 that is free now. */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

module.exports = { NOWHERE, freePort }
