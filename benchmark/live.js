'use strict'

const { fork } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { load } = require('./live-load.js')

const MAKERS = ['mintid', 'nanoid', 'constant']
const RATES = [100, 1000, 10_000]

/**
 * IDs as users live: a server in a process of its own makes one for each HTTP request, and this process asks. The maker
 * `constant` always answers the same text: what is left when IDs cost nothing.
 *
 * @param {number} seconds how long each server is asked at each rate
 * @returns {Promise<{ rate: number, maker: string, answered: number, p50: number, p99: number, cpu: number,
 * unused: number }[]>} microseconds from when a request was due to its answer; the server's share of one processor; how
 * many IDs were counted out and not used at the end
 */
async function live(seconds) {
  const servers = await Promise.all(MAKERS.map(start))
  for (const { port } of servers) await load(port, 2000, seconds / 2)
  const results = []
  for (const rate of RATES) {
    for (const server of servers) results.push({ rate, ...(await ask(server, rate, seconds)) })
  }
  for (const { child } of servers) child.disconnect()
  return results
}

async function start(maker) {
  const child = fork(path.join(__dirname, 'live-server.js'), [maker])
  const [{ port }] = await once(child, 'message')
  return { maker, child, port }
}

async function ask({ maker, child, port }, rate, seconds) {
  const before = await state(child)
  const began = performance.now()
  const times = await load(port, rate, seconds)
  const elapsed = (performance.now() - began) * 1000
  const after = await state(child)
  const busy = after.cpu.user + after.cpu.system - before.cpu.user - before.cpu.system
  return { maker, ...times, cpu: busy / elapsed, unused: after.unused }
}

async function state(child) {
  child.send('state')
  const [answer] = await once(child, 'message')
  return answer
}

module.exports = { live }
