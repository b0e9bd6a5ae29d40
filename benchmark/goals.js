'use strict'

const NEXT = 'mintid next()'
const FLOOR = 'floor'

/**
 * On Node.js. A `ratio` is how many times as long the first takes as the second, in the consumer `bytes`. An ID of 32
 * bytes may seem to have a little more, since the heap is never quite still.
 */
const NODE = [
  { what: 'nanoid / next()', atLeast: 1.6, ratio: ['nanoid', NEXT] },
  { what: 'nanoid / next(), url64', atLeast: 1.7, ratio: ['nanoid', 'mintid next(), url64'] },
  { what: 'hyperid / next()', atLeast: 1.8, ratio: ['hyperid', NEXT] },
  { what: 'crypto.randomUUID / next()', atLeast: 5, ratio: ['crypto.randomUUID', NEXT] },
  { what: 'uuid v7 / next()', atLeast: 40, ratio: ['uuid v7', NEXT] },
  { what: 'typeid-js / next()', atLeast: 25, ratio: ['typeid-js', NEXT] },
  { what: 'next() / floor', atMost: 1.8, ratio: [NEXT, FLOOR] },
  { what: 'nextDb() / floor', atMost: 0.6, ratio: ['mintid nextDb()', FLOOR] },
  { what: 'nextPair() / next()', atMost: 1.8, ratio: ['mintid nextPair()', NEXT] },
  { what: 'nextManyDb(1000) / floor', atMost: 0.2, ratio: ['mintid nextManyDb(1000)', FLOOR] },
  { what: 'nextMany(1000) / floor', atMost: 1.3, ratio: ['mintid nextMany(1000)', FLOOR] },
  { what: 'next(), sortable / nanoid', atMost: 1.15, ratio: ['mintid next(), sortable', 'nanoid'] },
  { what: 'toDb(text) / floor', atMost: 4, ratio: ['mintid toDb(text)', FLOOR] },
  { what: 'fromDb(bigint) / floor', atMost: 4, ratio: ['mintid fromDb(bigint)', FLOOR] },
  { what: 'toDbMany / floor', atMost: 1.5, ratio: ['mintid toDbMany(1000 texts)', FLOOR] },
  { what: 'fromDbMany(bigints) / floor', atMost: 1.5, ratio: ['mintid fromDbMany(1000 bigints)', FLOOR] },
  { what: 'fromDbMany(BigInt64Array) / floor', atMost: 1.5, ratio: ['mintid fromDbMany(BigInt64Array)', FLOOR] },
  { what: 'bytes of heap a kept ID', atMost: 32.5, value: ({ memory }) => kept(memory).all },
  { what: 'bytes of heap a kept ID, one in 64 kept', atMost: 34, value: ({ memory }) => kept(memory).oneIn64 },
  { what: "ms for require('mintid')", atMost: 1, value: ({ startup }) => startup.requireMs },
  { what: 'ms for loading the addon', atMost: 5, value: ({ startup }) => startup.addonMs }
]

const OTHERS = [
  { what: 'nanoid / next()', atLeast: 1, ratio: ['nanoid', NEXT] },
  { what: 'crypto.randomUUID / next()', atLeast: 1, ratio: ['crypto.randomUUID', NEXT] }
]

/**
 * Holds results against what was aimed at.
 *
 * @param {object} results what `run.js` collects
 * @returns {{ what: string, limit: string, least: number, median: number, reached: boolean }[]} the ratio of the least
 * times and of the medians, or twice the value; a goal is reached when both are within the limit
 */
function goals(results) {
  const list = results.runtime.name === 'Node.js' ? NODE : OTHERS
  return list.map((goal) => {
    const { what, atLeast, atMost } = goal
    const [least, median] = measured(goal, results)
    const within = (number) => (atLeast === undefined ? number <= atMost : number >= atLeast)
    const limit = atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast}`
    return { what, limit, least, median, reached: within(least) && within(median) }
  })
}

function measured({ ratio, value }, results) {
  if (value) return [value(results), value(results)]
  const [one, other] = ratio.map((name) => results.times.bytes[name])
  return [one.least / other.least, one.median / other.median]
}

function kept(memory) {
  return memory.find(({ name }) => name === NEXT)
}

module.exports = { goals }
