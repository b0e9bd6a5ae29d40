'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { chart } = require('./chart.js')
const { markdown } = require('./report.js')
const { sections, setting } = require('./sections.js')

/** The chart shows texts that are made one at a time. */
const NOT_IN_CHART = /toDb|fromDb|Many|nextDb|nextPair|snowflake|bigint|Atomics|Array/

/**
 * Writes `benchmarks.md` and `benchmarks.svg`.
 *
 * @param {object} results what `run.js` collects
 * @param {string} folder
 */
function write(results, folder) {
  fs.mkdirSync(folder, { recursive: true })
  fs.writeFileSync(path.join(folder, 'benchmarks.md'), page(results))
  fs.writeFileSync(path.join(folder, 'benchmarks.svg'), picture(results))
}

function page(results) {
  return `${[
    '# Benchmarks',
    INTRODUCTION,
    '![Nanoseconds an ID, of texts made one at a time](benchmarks.svg)',
    bullets(results),
    markdown(sections(results)),
    ...(results.pipeline ? [rustSide(results.pipeline)] : []),
    ...(results.others ?? []).map(elsewhere)
  ].join('\n\n')}\n`
}

const INTRODUCTION = `Making IDs is rarely anyone's bottleneck: a request that makes one also parses, queries and answers, which takes a
thousand times as long, and no user will notice which of these libraries made it (see "As users live"). Choose mintid
for what its IDs are; this page shows that they cost next to nothing. It is written by the benchmark, losses included.

All contenders run in turn in one process, in another order each round, each in a loop compiled from its own source.
Each loop makes 4000 IDs, keeps them in an array, and then uses them, since a text that is cheap to make and dear to use
wins nothing. \`floor\` is what any text of that length costs in JavaScript: \`String.fromCharCode\` of 15 numbers that
are ready; "a bigint of a ready array" and "an empty BigInt64Array(1000)" are the least that \`nextDb()\` and
\`nextManyDb(1000)\` could cost. mintid's IDs are masked and have a prefix of four characters; times of lists are divided
by their length. "nanoid takes 2 ×" means that nanoid takes twice as long.`

function bullets(results) {
  return setting(results)
    .map((line) => `- ${line}`)
    .join('\n')
}

function rustSide(pipeline) {
  return [
    '## The Rust side alone',
    'Without JavaScript. callgrind counts the instructions, whatever else the machine does.',
    `\`\`\`text\n${pipeline.trim()}\n\`\`\``
  ].join('\n\n')
}

function elsewhere(results) {
  return [`## ${results.runtime.name}`, bullets(results), markdown(sections(results), '###')].join('\n\n')
}

function picture({ times, runtime }) {
  const bars = Object.entries(times.bytes)
    .filter(([name]) => !NOT_IN_CHART.test(name))
    .map(([label, { median }]) => ({ label, value: median, own: label.startsWith('mintid') }))
    .sort((a, b) => a.value - b.value)
  return chart(`Nanoseconds an ID, median, ${runtime.name} ${runtime.version}`, bars)
}

module.exports = { write }
