'use strict'

const { check } = require('./checker.js')

/** What the records of all processes say: each namespace is a space of its own. */
function numbersOf(processes, fences) {
  const records = processes.flatMap((process) => process.records())
  const sum = { ids: 0, kinds: {}, duplicates: 0, outside: 0, refused: 0, examples: [] }
  for (const name of new Set(records.map(({ namespace }) => namespace))) {
    const ours = (list) => list.filter(({ namespace }) => namespace === name)
    const { ids, kinds, duplicates, outside, examples } = check(ours(records), ours(fences))
    sum.ids += ids
    sum.duplicates += duplicates
    sum.outside += outside
    sum.examples.push(...examples)
    for (const [kind, count] of Object.entries(kinds)) sum.kinds[kind] = (sum.kinds[kind] ?? 0) + count
  }
  for (const process of processes) sum.refused += process.refused
  return sum
}

/**
 * How long after the fault's end the slowest holder and the slowest newcomer minted (for good), in milliseconds: null
 * where there is none of them. A newcomer's time begins when it asked, if that was later.
 */
function timesOf(processes, endedAt) {
  const alive = processes.filter(({ over }) => !over)
  const holders = alive.filter(({ newcomer }) => !newcomer)
  const newcomers = alive.filter(({ newcomer }) => newcomer)
  const interrupted = holders.some((holder) => holder.of('refusing').length > 0)
  return {
    interrupted,
    holdersAfterMs: slowest(holders, endedAt, () => 0),
    newcomersAfterMs: slowest(newcomers, endedAt, (newcomer) => newcomer.of('connecting')[0]?.at ?? 0)
  }
}

function slowest(processes, endedAt, began) {
  if (endedAt === null || processes.length === 0) return null
  return Math.max(...processes.map((process) => process.withoutIdsFor(Math.max(endedAt, began(process))) ?? Infinity))
}

/** What the newcomers' `connect` said, and what everybody was warned of. */
function saidTo(processes) {
  const counts = new Map()
  const count = (text) => counts.set(text, (counts.get(text) ?? 0) + 1)
  for (const process of processes) {
    for (const { code, serverCode } of process.of('connectFailed')) count(serverCode ? `${code} (${serverCode})` : code)
    for (const { code } of process.of('warning')) count(`warning ${code}`)
  }
  return [...counts].map(([text, times]) => (times > 1 ? `${text} × ${times}` : text))
}

/** How often leases were lost, and why. */
function lossesOf(processes) {
  const losses = {}
  for (const process of processes) {
    for (const { reason } of process.of('leaseLost')) losses[reason] = (losses[reason] ?? 0) + 1
  }
  return losses
}

/** What went wrong in the processes themselves, whatever their IDs are like. */
function problemsOf(processes) {
  return processes.flatMap((process) => {
    const unexpected = process.of('unexpected').map(({ code, message }) => `${process.name}: ${code}: ${message}`)
    const died = !process.over && process.of('ended').length > 0
    return died ? [...unexpected, `${process.name} ended by itself; ${process.lastWords()}`] : unexpected
  })
}

module.exports = { lossesOf, numbersOf, problemsOf, saidTo, timesOf }
