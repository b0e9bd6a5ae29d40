'use strict'

const { compileLoop } = require('./consumers.js')

/** How many IDs a contender makes in one turn: so few that most turns are not interrupted; a multiple of 1000. */
const IDS = 4000

/**
 * Lets contenders take turns in one process, in another order each round, so that what disturbs the machine disturbs
 * all of them alike.
 *
 * @param {object[]} contenders as `compileLoop` takes them, each with a `name`
 * @param {string} consumer
 * @param {{ rounds: number, warmUpMs: number }} effort
 * @returns {Record<string, { least: number, median: number, duplicates: number }>} by contender: nanoseconds an ID, and
 * the most duplicates in a turn (where the consumer counts)
 */
function measure(contenders, consumer, { rounds, warmUpMs }) {
  const racers = contenders
    .map((contender) => ({ name: contender.name, loop: compileLoop(contender, consumer), times: [], duplicates: 0 }))
    .filter(({ loop }) => loop !== undefined)
  for (const { loop } of racers) warmUp(loop, warmUpMs)
  for (let round = 0; round < rounds; round++) {
    for (const racer of shuffled(racers)) {
      const began = performance.now()
      const { distinct } = racer.loop(IDS)
      racer.times.push(((performance.now() - began) * 1e6) / IDS)
      if (distinct > 0) racer.duplicates = Math.max(racer.duplicates, IDS - distinct)
    }
  }
  return Object.fromEntries(racers.map(({ name, times, duplicates }) => [name, { ...summary(times), duplicates }]))
}

/** Until the engine has seen enough to compile the loop for good. */
function warmUp(loop, ms) {
  const until = performance.now() + ms
  do loop(IDS)
  while (performance.now() < until)
}

function summary(times) {
  const sorted = [...times].sort((a, b) => a - b)
  return { least: sorted[0], median: sorted[sorted.length >> 1] }
}

function shuffled(items) {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item)
}

module.exports = { measure, IDS }
