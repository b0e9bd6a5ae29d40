'use strict'

// What a fleet costs a coordinator: how fast many processes that start together get their leases, how long requests
// take, how many statements idle processes cause. Prints a table; ends with code 1 if two of them held one machine ID.
//
//   node tests/faults/load.js [--coordinator postgres] [--only name,…] [--quick] [--json]

const { chmodSync, mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const process = require('node:process')
const { setTimeout: pause } = require('node:timers/promises')
const { parseArgs } = require('node:util')
const { now } = require('./clock.js')
const { coordinators } = require('./coordinators/index.js')
const { HolderProcess } = require('./process.js')

const [MINUTE_MS, QUICK_MS] = [60_000, 10_000]

/** Renewals as often as this show what many of them take; by default they come once a minute. */
const BUSY = { ttlMs: 30_000, firstTtlMs: 15_000, renewEveryMs: 2000, requestTimeoutMs: 5000 }
const DEFAULT = { ttlMs: 300_000 }

const LOADS = {
  'many-leases': { title: '500 leases in 10 processes', processes: 10, each: 50, lease: BUSY, watchMs: 15_000 },
  'many-processes': { title: '50 processes', processes: 50, each: 1, lease: BUSY, watchMs: 15_000 },
  idle: {
    title: '100 idle processes, default timings',
    processes: 100,
    each: 1,
    lease: DEFAULT,
    watchMs: 2 * MINUTE_MS
  }
}

async function main() {
  const { values: flags } = parseArgs({
    options: {
      coordinator: { type: 'string', default: 'postgres' },
      only: { type: 'string', default: Object.keys(LOADS).join(',') },
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false }
    }
  })
  const folder = mkdtempSync(join(tmpdir(), 'mintid-load-'))
  chmodSync(folder, 0o755)
  const results = []
  try {
    for (const name of flags.only.split(',')) {
      results.push(await measured(coordinators[flags.coordinator], LOADS[name], join(folder, name), flags))
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  console.log(flags.json ? JSON.stringify(results, null, 2) : table(results))
  if (results.some(({ distinct, leases }) => distinct !== leases)) process.exitCode = 1
}

async function measured(Coordinator, load, folder, { quick }) {
  const coordinator = await Coordinator.create(folder, join(folder, 'shared'), { load: true })
  const processes = []
  try {
    await coordinator.setup({ namespace: 'default', ttlMs: load.lease.ttlMs })
    const urls = coordinator.urls(load.each)
    const input = { urls, options: { lease: load.lease } }
    for (let left = load.processes; left > 0; left--) {
      processes.push(new HolderProcess(`process ${left}`, { script: 'roles/leases.js', input }))
    }
    await Promise.all(processes.map((process) => process.event('up')))
    return await watched(load, coordinator, processes, quick)
  } finally {
    await Promise.all(processes.map((process) => process.close().catch(() => process.kill())))
    await coordinator.end()
  }
}

async function watched({ title, processes: count, each, watchMs, lease }, coordinator, processes, quick) {
  const began = now()
  await Promise.all(processes.map((process) => process.ask('connect', {}, 2 * MINUTE_MS)))
  const allMs = now() - began
  // The first renewals come after a third of the first lease, all at once: counted for themselves they would mislead.
  if (lease === DEFAULT && !quick)
    await Promise.all(processes.map((process) => process.event('renewed', { longestMs: MINUTE_MS })))
  const [before, from] = [await coordinator.statements(), now()]
  await pause(quick ? QUICK_MS : watchMs)
  const after = await coordinator.statements()
  const perMinute = (name) => ((after[name] - before[name]) * MINUTE_MS) / (now() - from)
  const all = (type) => processes.flatMap((process) => process.of(type))
  const acquired = all('acquired')
  return {
    title,
    leases: count * each,
    distinct: new Set(acquired.map(({ machineId }) => machineId)).size,
    allMs,
    waited: percentiles(acquired.map(({ waitedMs }) => waitedMs)),
    acquire: percentiles(acquired.map(({ durationMs }) => durationMs)),
    renew: percentiles(all('renewed').map(({ durationMs }) => durationMs)),
    renewals: all('renewed').length,
    retries: all('retry').length,
    lost: all('lost').length,
    statementsPerMinute: perMinute('statements'),
    connectionsPerMinute: perMinute('connections')
  }
}

function percentiles(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null
  return { p50: at(0.5), p99: at(0.99), most: at(1) }
}

const ROWS = {
  leases: ({ leases }) => leases,
  'distinct machine IDs': ({ distinct }) => distinct,
  'all hold one after': ({ allMs }) => `${(allMs / 1000).toFixed(2)} s`,
  'from connect to a lease, p50 / p99': ({ waited }) => both(waited),
  'acquire, p50 / p99': ({ acquire }) => both(acquire),
  'renew, p50 / p99': ({ renew }) => both(renew),
  'renewals seen': ({ renewals }) => renewals,
  'retries / leases lost': ({ retries, lost }) => `${retries} / ${lost}`,
  'statements a minute': ({ statementsPerMinute }) => Math.round(statementsPerMinute),
  'connections a minute': ({ connectionsPerMinute }) => Math.round(connectionsPerMinute)
}

const both = ({ p50, p99 }) => (p50 === null ? '-' : `${p50.toFixed(1)} / ${p99.toFixed(1)} ms`)

function table(results) {
  const rows = Object.entries(ROWS).map(([name, value]) => [name, ...results.map(value)])
  const lines = [['', ...results.map(({ title }) => title)], ['---', ...results.map(() => '---')], ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

main()
