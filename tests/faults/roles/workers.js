'use strict'

// A process with Workers that mint while its lease is lost and regained. Its argument is JSON: { options, files, rounds };
// each file is a Worker's.

const { openSync } = require('node:fs')
const process = require('node:process')
const { Worker, isMainThread, parentPort, workerData } = require('node:worker_threads')
const { once } = require('node:events')
const { IdGenerator } = require('mintid')
const { Minter } = require('../minter.js')
const { connected, hear, say } = require('../role.js')

const PACE = { singles: 8, many: 32 }

async function main({ options, files, rounds }) {
  hear({ close: () => ({ minted: 0 }) })
  const ids = await connected(options)
  const workers = files.map(({ file }) => new Worker(__filename, { workerData: { options, file, rounds } }))
  await Promise.all(workers.map((worker) => once(worker, 'message')))
  const reports = workers.map((worker) => reportOf(worker))
  for (let round = 0; round < rounds; round++) {
    const told = workers.map((worker) => mintedAgain(worker))
    ids.relinquish(`round ${round}`)
    await Promise.all(told)
  }
  const told = await Promise.all(reports)
  say({ event: 'count', refused: told.reduce((sum, { refused }) => sum + refused, 0) })
  say({ event: 'done', workers: told })
}

/** A Worker has heard of the next lease, and minted under it. */
function mintedAgain(worker) {
  return new Promise((resolve) => {
    const listener = (message) => {
      if (message !== 'minted again') return
      worker.off('message', listener)
      resolve()
    }
    worker.on('message', listener)
  })
}

function reportOf(worker) {
  return new Promise((resolve, reject) => {
    worker.on('error', reject)
    worker.on('message', (message) => message.heard && resolve(message))
  })
}

async function inWorker({ options, file, rounds }) {
  const ids = new IdGenerator(options)
  const heard = []
  const wrong = []
  let [lost, regained] = [false, 0]
  const minter = new Minter(ids, openSync(file, 'a'), ({ event, ...details }) => {
    if (event === 'unexpected') wrong.push(JSON.stringify(details))
  })
  const attempt = (where) => {
    const before = minter.made
    minter.round(where === 'in the loop' ? PACE : { singles: 1, many: 1 })
    // Refused before it heard is right too: the lease is lost first, and told then.
    if (lost && minter.made > before) wrong.push(`${where}: minted`)
    return minter.made > before
  }
  ids.on('leaseLost', ({ machineId, detail }) => {
    lost = true
    heard.push(`lost ${machineId} ${detail}`)
    attempt('in the listener')
    queueMicrotask(() => attempt('in a microtask'))
  })
  ids.on('leaseAcquired', ({ machineId, source }) => {
    if (source !== 'reacquire') return
    lost = false
    regained++
    heard.push(`acquired ${machineId}`)
    attempt('in the listener')
  })
  await ids.ready()
  parentPort.postMessage('up')
  for (let told = 0; told < rounds; ) {
    const minted = attempt('in the loop')
    if (minted && regained > told) {
      told = regained
      parentPort.postMessage('minted again')
    }
    await new Promise(setImmediate)
  }
  parentPort.postMessage({ heard, wrong, refused: minter.refused })
  await ids.close()
}

if (isMainThread) main(JSON.parse(process.argv[2]))
else inWorker(workerData)
