'use strict'

const { count } = require('../../__test__/support/numbers.js')
const { KINDS, unpack } = require('./records.js')

const [ENCRYPTED, MOST_EXAMPLES] = [KINDS.indexOf('encrypted'), 5]

/**
 * Judges all records of a scenario.
 *
 * - **Duplicates**: numbers that came twice within one kind, whoever emitted them.
 * - **Outside**: IDs whose timestamp lies in no fence that the registry recorded for their machine ID, and IDs in a
 *   fence that another process has used too, and IDs whose record says something else than their number.
 *
 * @param {{ name: string, records: import('./records.js').Records }[]} processes
 * @param {{ machineId: number, token?: string, start: number, end: number }[] | null} fences `[start, end)` in
 *   milliseconds since 1970, without a token where a coordinator keeps none; null: not to be judged
 * @returns {{ ids: number, kinds: Record<string, number>, duplicates: number, outside: number | null,
 *   examples: string[] }}
 */
function check(processes, fences) {
  const examples = []
  const kinds = {}
  let duplicates = 0
  for (const [kind, name] of KINDS.entries()) {
    const lists = processes.map(({ records }) => numbersOf(records, kind))
    const { total, distinct } = count(lists)
    kinds[name] = total
    duplicates += total - distinct
    if (distinct < total) examples.push(...twice(processes, lists, name))
  }
  const ids = Object.values(kinds).reduce((sum, count) => sum + count, 0)
  const outside = outsideOf(processes, fences, examples)
  return { ids, kinds, duplicates, outside, examples }
}

function numbersOf(records, kind) {
  const numbers = new BigInt64Array(records.length)
  let used = 0
  for (let index = 0; index < records.length; index++) {
    if (records.kind(index) === kind) numbers[used++] = records.number(index)
  }
  return numbers.slice(0, used)
}

/** Some numbers that came twice, and who emitted them. */
function twice(processes, lists, kind) {
  const found = []
  const seen = new Map()
  for (const [index, list] of lists.entries()) {
    for (const number of list) {
      const first = seen.get(number)
      if (first === undefined) seen.set(number, index)
      else found.push(`${kind} ${number} from ${processes[first].name} and ${processes[index].name}`)
      if (found.length === MOST_EXAMPLES) return found
    }
  }
  return found
}

function outsideOf(processes, fences, examples) {
  const book = fences && new Fences(fences)
  const owners = new Map()
  let outside = 0
  const wrong = (text) => {
    outside++
    if (examples.length < 4 * MOST_EXAMPLES) examples.push(text)
  }
  for (const { name, records } of processes) {
    for (let index = 0; index < records.length; index++) {
      if (!truthful(records, index)) wrong(`${name}: the record of ${records.number(index)} is not about it`)
      if (!book) continue
      const [machineId, timestamp] = [records.machineId(index), records.timestamp(index)]
      const token = book.tokenOf(machineId, timestamp)
      if (token === null) wrong(`${name}: machine ID ${machineId} at ${new Date(timestamp).toISOString()} in no fence`)
      else if (token === undefined) continue
      else if (!owners.has(token)) owners.set(token, name)
      else if (owners.get(token) !== name) wrong(`${name}: an ID in a fence of ${owners.get(token)}`)
    }
  }
  return book ? outside : outside || null
}

/** Whether the parts in a record are those of its number; an encrypted one was taken apart by who made it. */
function truthful(records, index) {
  if (records.kind(index) === ENCRYPTED) return true
  const { timestamp, machineId, count } = unpack(records.number(index))
  return (
    timestamp === records.timestamp(index) && machineId === records.machineId(index) && count === records.count(index)
  )
}

/** Which fence a timestamp of a machine ID lies in. */
class Fences {
  #byMachine = new Map()
  #last = { machineId: -1, start: 0, end: 0, token: null }

  constructor(fences) {
    for (const fence of fences) {
      if (!this.#byMachine.has(fence.machineId)) this.#byMachine.set(fence.machineId, [])
      this.#byMachine.get(fence.machineId).push({ until: Number.POSITIVE_INFINITY, ...fence })
    }
    for (const list of this.#byMachine.values()) {
      list.sort((a, b) => a.start - b.start)
      // Where a registry forgot a grant, fences may overlap: the later one counts from its start.
      for (let at = 1; at < list.length; at++) list[at - 1].until = list[at].start
    }
  }

  tokenOf(machineId, timestamp) {
    const last = this.#last
    const inside = ({ start, end, until }) => timestamp >= start && timestamp < end && timestamp < until
    if (last.machineId === machineId && inside(last)) return last.token
    const list = this.#byMachine.get(machineId) ?? []
    const fence = list.findLast(({ start, end }) => timestamp >= start && timestamp < end)
    if (!fence) return null
    if (inside(fence)) this.#last = fence
    return fence.token
  }
}

module.exports = { check }
