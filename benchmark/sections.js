'use strict'

const { consumers } = require('../js/bench/consumers.js')
const { LAYOUT } = require('../js/bench/contenders.js')

/**
 * What the results say, as tables.
 *
 * @typedef {{ title: string, text: string[], head: string[], rows: string[][] }} Section `text`: paragraphs before the
 * table; the first column is of words, the others are of numbers
 * @param {object} results what `run.js` collects; parts that were not measured are left out
 * @returns {Section[]}
 */
function sections(results) {
  const { memory, startup, live } = results
  return [
    goalsOf(results),
    ...Object.keys(consumers).map((consumer) => timesOf(results, consumer)),
    endlessOf(results),
    ...(memory ? [memoryOf(memory)] : []),
    ...(startup ? [startupOf(startup)] : []),
    ...(live ? [liveOf(live)] : [])
  ]
}

/**
 * Where and how results came about.
 *
 * @returns {string[]} lines
 */
function setting({ date, quick, command, machine, runtime, versions, rounds, missing }) {
  const packages = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
  return [
    `${date}, \`${command}\`, ${rounds} rounds${quick ? ': a quick run, whose numbers mean nothing' : ''}`,
    machine,
    `${runtime.name} ${runtime.version}; ${packages.join(', ')}`,
    ...missing.map(({ name, reason }) => `${name} could not be measured here: ${reason}`)
  ]
}

function goalsOf({ goals }) {
  return {
    title: 'Goals',
    text: [
      'Times are those of IDs kept in an array, then their bytes read. A goal is reached when both columns are in it.'
    ],
    head: ['what', 'goal', 'by least', 'by median', ''],
    rows: goals.map(({ what, limit, least, median, reached }) => [
      what,
      limit,
      least.toFixed(2),
      median.toFixed(2),
      reached ? 'reached' : 'MISSED'
    ])
  }
}

function timesOf({ times }, consumer) {
  const results = times[consumer]
  const { floor, nanoid } = results
  const repeated = Object.entries(results).filter(([, { duplicates }]) => duplicates > 0)
  return {
    title: `IDs ${consumers[consumer].title}`,
    text: repeated.map(([name, { duplicates }]) => `${name} made up to ${duplicates} duplicates in a turn.`),
    head: ['nanoseconds an ID', 'least', 'median', 'of floor', 'nanoid takes'],
    rows: Object.entries(results)
      .sort(([, a], [, b]) => a.median - b.median)
      .map(([name, { least, median }]) => [
        name,
        least.toFixed(1),
        median.toFixed(1),
        `${(median / floor.median).toFixed(2)} ×`,
        nanoid ? `${(nanoid.median / median).toFixed(2)} ×` : '–'
      ])
  }
}

function endlessOf({ endless }) {
  const { time, machine, sequence } = LAYOUT
  return {
    title: 'The default layout in an endless loop',
    text: [
      'The default layout (42 bits of time, 9 of machine, 13 of sequence) grants 8192 IDs for each millisecond that a ' +
        'lease has lasted. A program that does nothing but make IDs on a young lease waits for them; what was not used ' +
        `is credit. All other loops on this page ran with ${time}, ${machine} and ${sequence} bits, where nobody waits.`
    ],
    head: ['nanoseconds an ID', ''],
    rows: [
      ['on a fresh lease', endless.fresh.toFixed(1)],
      ['after a pause', endless.rested.toFixed(1)]
    ]
  }
}

function memoryOf(memory) {
  return {
    title: 'Heap that a kept ID takes',
    text: ['When all are kept, and when one in 64 is and the others are dropped: a slice keeps what it was cut from.'],
    head: ['bytes an ID', 'all kept', 'one in 64 kept'],
    rows: memory.map(({ name, all, oneIn64 }) => [name, all.toFixed(1), oneIn64.toFixed(1)])
  }
}

function startupOf(startup) {
  const ms = (name) => `${startup[name].toFixed(2)} ms`
  const kib = (name) => `${(startup[name] / 1024).toFixed(1)} KiB`
  return {
    title: 'Starting, and what a generator takes',
    text: ['Medians of processes of their own, with the files in the page cache.'],
    head: ['what', ''],
    rows: [
      ['require of one small file, for comparison', ms('fileMs')],
      ["require('mintid')", ms('requireMs')],
      ["its first ID type: idType('usr_', { mask: true })", ms('typeMs')],
      ['import of mintid by an ES module, which loads what is behind every export', ms('importMs')],
      ['loading the addon', ms('addonMs')],
      ['from start() on a directory to the first ID', ms('firstIdMs')],
      ['the first generator with a type: process, addon included', kib('firstGeneratorRss')],
      ['each further generator with a type: heap and buffers', kib('generatorHeap')],
      ['each further generator with a type: process', kib('generatorRss')],
      ['the addon, a file', kib('addonBytes')]
    ]
  }
}

function liveOf(live) {
  return {
    title: 'As users live: one ID for each HTTP request',
    text: [
      'A server in a process of its own; requests come at random moments over 64 connections on the loopback interface, ' +
        'and do not wait for each other. Times are from the moment a request was due to its answer. `constant` always ' +
        'answers the same text: what is left when IDs cost nothing.'
    ],
    head: ['requests a second, maker', 'answered', 'p50 µs', 'p99 µs', 'processor', 'IDs unused'],
    rows: live.map(({ rate, maker, answered, p50, p99, cpu, unused }) => [
      `${rate}, ${maker}`,
      String(answered),
      p50.toFixed(0),
      p99.toFixed(0),
      `${(cpu * 100).toFixed(1)} %`,
      String(unused)
    ])
  }
}

module.exports = { sections, setting }
