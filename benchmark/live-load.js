'use strict'

const net = require('node:net')
const { once } = require('node:events')

const CONNECTIONS = 64
const REQUEST = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'

/** How long answers are waited for after the last request. */
const PATIENCE_MS = 2000

/**
 * Sends requests at random moments, `rate` a second, and does not wait for answers before it sends more: as users do.
 * An answer's time counts from the moment at which its request was due, so that a server which stalls cannot hide it.
 *
 * @param {number} port on the loopback interface
 * @param {number} rate requests a second
 * @param {number} seconds
 * @returns {Promise<{ answered: number, p50: number, p99: number }>} times in microseconds
 */
async function load(port, rate, seconds) {
  const times = []
  const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => connect(port, times)))
  const until = performance.now() + seconds * 1000
  let due = performance.now()
  for (let sent = 0; due < until; await turn()) {
    for (; due < Math.min(until, performance.now()); due += pause(rate)) connections[sent++ % CONNECTIONS].ask(due)
  }
  const patience = performance.now() + PATIENCE_MS
  while (connections.some(({ waiting }) => waiting.length > 0) && performance.now() < patience) await turn()
  for (const { socket } of connections) socket.destroy()
  times.sort((a, b) => a - b)
  const quantile = (part) => times[Math.floor(times.length * part)] * 1000
  return { answered: times.length, p50: quantile(0.5), p99: quantile(0.99) }
}

/** A connection that was used once: all later answers are as long as that one. */
async function connect(port, times) {
  const socket = net.connect(port, '127.0.0.1').setNoDelay()
  socket.write(REQUEST)
  const [first] = await once(socket, 'data')
  const waiting = []
  let received = 0
  socket.on('data', (chunk) => {
    for (received += chunk.length; received >= first.length; received -= first.length) {
      times.push(performance.now() - waiting.shift())
    }
  })
  const ask = (due) => {
    waiting.push(due)
    socket.write(REQUEST)
  }
  return { socket, waiting, ask }
}

/** Milliseconds to the next request, so that they come independently of each other. */
function pause(rate) {
  return (-Math.log(1 - Math.random()) * 1000) / rate
}

function turn() {
  return new Promise(setImmediate)
}

module.exports = { load }
