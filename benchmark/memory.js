'use strict'

// Heap that kept IDs take. Each contender has a process of its own: `node --expose-gc memory.js <contender> <kept>`.

const { execFileSync } = require('node:child_process')
const process = require('node:process')
const { ours } = require('../js/bench/contenders.js')
const { peers } = require('../js/bench/peers.js')

/** What lists and conversions make is kept as what these make. */
const OURS = [
  'mintid next()',
  'mintid next(), url64',
  'mintid next(), sortable',
  'mintid nextDb()',
  'mintid nextPair()'
]

/**
 * @param {number} kept how many IDs are kept
 * @returns {Promise<{ name: string, all: number, oneIn64: number }[]>} bytes a kept ID: when all are kept, and when one
 * in 64 is and the others are dropped
 */
async function memory(kept) {
  const names = [...OURS, ...(await peers(__dirname)).contenders.map(({ name }) => name)]
  return names.map((name) => {
    const args = ['--expose-gc', __filename, name, String(kept)]
    return { name, ...JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) }
  })
}

async function child([name, kept]) {
  const { contenders, close } = await ours({ machineId: 1 })
  const contender = [...contenders, ...(await peers(__dirname)).contenders].find((contender) => contender.name === name)
  console.log(JSON.stringify({ all: growth(contender, Number(kept), 1), oneIn64: growth(contender, kept / 16, 64) }))
  await close()
}

/** Bytes that each ID in a list keeps of the heap, the list itself not counted: the median of three. */
function growth(contender, length, every) {
  const fill = compile(contender)
  const grown = Array.from({ length: 4 }, () => {
    const list = new Array(length).fill(null)
    const before = heap()
    fill(list, every)
    return (heap() - before) / list.length
  })
  // What is made once, compiled code for example, came with the first.
  return grown.slice(1).sort((a, b) => a - b)[1]
}

/** Fills a list with one ID in `every`; all are used, since some texts change their form when they are. */
function compile({ call, scope }) {
  const source = `'use strict'
    return (list, every) => {
      for (let i = 0; i < list.length * every; i++) {
        const id = ${call}
        if (typeof id === 'string') Buffer.byteLength(id)
        if (i % every === 0) list[i / every] = id
      }
    }`
  return new Function(...Object.keys(scope), source)(...Object.values(scope))
}

function heap() {
  for (let times = 0; times < 3; times++) global.gc()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

if (require.main === module) child(process.argv.slice(2))

module.exports = { memory }
