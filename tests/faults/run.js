'use strict'

// `npm run test:faults`: every scenario on every coordinator that it is for, as a table. Ends with code 1 if any number
// came twice, lay outside of the fences, or a scenario could not be played as it is written.
//
//   node tests/faults/run.js [--short] [--only name,…] [--coordinator name,…] [--jobs n] [--json] [--write] [--list]
//     [--keep] [--plant duplicate|outside]

const { execFileSync } = require('node:child_process')
const { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync, chmodSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const process = require('node:process')
const { parseArgs } = require('node:util')
const { coordinators } = require('./coordinators/index.js')
const { PLANTS } = require('./plant.js')
const { fits, isShort, scenarios } = require('./scenarios/index.js')
const { Stage } = require('./stage.js')
const { document, line, table } = require('./table.js')

const DOCUMENT = join(__dirname, '../../docs/faults.md')

const FLAGS = {
  short: { type: 'boolean', default: false },
  only: { type: 'string' },
  coordinator: { type: 'string' },
  jobs: { type: 'string', default: '1' },
  json: { type: 'boolean', default: false },
  write: { type: 'boolean', default: false },
  list: { type: 'boolean', default: false },
  keep: { type: 'boolean', default: false },
  plant: { type: 'string' }
}

async function main() {
  const { values: flags } = parseArgs({ options: FLAGS })
  if (flags.plant) pick('plant', flags.plant, PLANTS)
  const plays = chosen(flags)
  if (flags.list) return console.log(plays.map(({ name, on }) => `${name} ${on}`).join('\n'))
  testTheChecker()
  const folder = mkdtempSync(join(tmpdir(), 'mintid-faults-'))
  chmodSync(folder, 0o755)
  const results = await played(plays, folder, flags)
  if (!flags.keep) rmSync(folder, { recursive: true, force: true })
  report(results, flags)
}

/** Which scenario on which coordinator. */
function chosen({ short, only, coordinator }) {
  const names = only ? pick('scenario', only, scenarios) : Object.keys(scenarios)
  const wanted = coordinator ? pick('coordinator', coordinator, coordinators) : Object.keys(coordinators)
  const plays = []
  for (const on of wanted) {
    const reason = coordinators[on].unavailable()
    if (reason) stop(`${on}: ${reason}`)
    for (const name of names) {
      if (fits(scenarios[name], on, coordinators[on]) && (!short || isShort(name, on, coordinators[on])))
        plays.push({ name, on })
    }
  }
  if (plays.length === 0) stop('no scenario is left; see --list')
  return plays
}

function pick(what, list, all) {
  const names = list.split(',')
  const unknown = names.find((name) => !Object.hasOwn(all, name))
  if (unknown !== undefined) stop(`no ${what} '${unknown}'; there are ${Object.keys(all).join(', ')}`)
  return names
}

function stop(message) {
  console.error(message)
  process.exit(2)
}

/** A checker that does not find what was planted finds nothing else either. */
function testTheChecker() {
  const folder = join(__dirname, 'self')
  const files = readdirSync(folder).filter((name) => name.startsWith('checker') && name.endsWith('.test.js'))
  execFileSync(process.execPath, ['--test', ...files.map((name) => join(folder, name))], { stdio: 'pipe' })
}

/** Plays them, some at a time; each has a coordinator, a folder and processes of its own. */
async function played(plays, folder, flags) {
  const results = []
  const left = plays.entries()
  const hand = async () => {
    for (const [index, play] of left) {
      results[index] = await one(play, join(folder, `${play.on}-${play.name}`), folder, flags)
      if (!flags.json) console.error(line(results[index]))
    }
  }
  await Promise.all(Array.from({ length: Number(flags.jobs) }, hand))
  return results
}

async function one({ name, on }, folder, shared, { short, plant }) {
  const scenario = scenarios[name]
  const result = { name, on, title: scenario.title, coordinator: coordinators[on].title, problems: [], notes: [] }
  const began = performance.now()
  let stage
  try {
    stage = await Stage.open(coordinators[on], folder, join(shared, 'shared'), { short, planted: plant, scenario })
    await scenario.run(stage)
    Object.assign(result, await stage.judged())
  } catch (error) {
    result.problems.push(error.stack)
    if (stage) result.notes.push(...stage.notes)
  }
  try {
    await stage?.end()
  } catch (error) {
    result.problems.push(`clean-up: ${error.stack}`)
  }
  result.seconds = (performance.now() - began) / 1000
  result.passed = result.problems.length === 0 && result.duplicates === 0 && result.outside === 0 && result.ids > 0
  return result
}

function report(results, { json, write }) {
  const failed = results.filter(({ passed }) => !passed)
  if (json) console.log(JSON.stringify(results, null, 2))
  else console.log(`\n${table(results)}`)
  for (const { name, on, problems = [], examples = [] } of failed) {
    console.error(`\n${name} on ${on}:\n  ${[...problems, ...examples].join('\n  ')}`)
  }
  if (write) writeFileSync(DOCUMENT, document(results, readFileSync(DOCUMENT, 'utf8')))
  const say = json ? console.error : console.log
  say(`\n${results.length - failed.length} passed, ${failed.length} failed`)
  process.exitCode = failed.length > 0 ? 1 : 0
}

// What a scenario that failed left open does not keep this waiting.
main().then(() => process.exit())
