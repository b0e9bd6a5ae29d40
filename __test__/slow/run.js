'use strict'

// `npm run test:slow`: measurements that take minutes. `npm run test:slow -- kill` runs some of them alone. Ends with
// code 1 if any number came twice.

const measurements = {
  volume: require('./volume.js'),
  kill: require('./kill.js'),
  pause: require('./pause.js'),
  start: require('./start.js'),
  defaults: require('./defaults.js')
}

async function main() {
  const wanted = process.argv.slice(2)
  const unknown = wanted.find((name) => !Object.hasOwn(measurements, name))
  if (unknown) {
    console.error(`no measurement '${unknown}'; there are ${Object.keys(measurements).join(', ')}`)
    process.exit(2)
  }
  let duplicates = 0
  for (const [name, { title, measure }] of Object.entries(measurements)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    console.log(`\n${title}\n`)
    duplicates += await inScope(measure)
  }
  if (duplicates > 0) {
    console.error(`\n${duplicates} numbers came twice`)
    process.exitCode = 1
  }
}

/** Runs a measurement with what a test would give it: a place for its clean-up. Prints its rows. */
async function inScope(measure) {
  const cleanups = []
  try {
    const { rows, duplicates } = await measure({ after: (cleanup) => cleanups.push(cleanup) })
    printed(rows)
    return duplicates
  } finally {
    for (const cleanup of cleanups) await cleanup()
  }
}

/** A table whose columns are as wide as they must be. */
function printed(rows) {
  const [names] = rows.map(Object.keys)
  const lines = [names, ...rows.map((row) => names.map((name) => shown(row[name])))]
  const widths = names.map((_, column) => Math.max(...lines.map((line) => line[column].length)))
  for (const line of lines) console.log(line.map((cell, column) => cell.padEnd(widths[column])).join('  '))
}

function shown(value) {
  return typeof value === 'number' ? value.toLocaleString('en-US') : String(value)
}

main()
