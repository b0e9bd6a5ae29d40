'use strict'

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const ROOT = path.join(__dirname, '..')
const RUN = path.join(__dirname, 'run.js')

/**
 * Runs the benchmark in the other runtimes that `benchmark/` has.
 *
 * @param {boolean} quick
 * @returns {object[]} their results
 */
function others(quick) {
  const found = [
    ['bun', [RUN]],
    ['deno', ['run', '-A', RUN]]
  ].filter(([name]) => fs.existsSync(binary(name)))
  return found.map(([name, args]) => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'mintid-benchmark-'))
    const file = path.join(folder, 'results.json')
    run(binary(name), [...args, '--json', file, ...(quick ? ['--quick'] : [])])
    const results = JSON.parse(fs.readFileSync(file, 'utf8'))
    fs.rmSync(folder, { recursive: true })
    return results
  })
}

/**
 * What the Rust side says of itself, instruction counts included.
 *
 * @returns {string | undefined} undefined where cargo or valgrind is missing
 */
function pipeline() {
  if (['cargo', 'valgrind'].some((name) => spawnSync(name, ['--version']).error)) return undefined
  return run('cargo', ['bench', '--quiet', '--no-default-features', '--bench', 'pipeline'])
}

/** What a command writes to its standard output. */
function run(command, args) {
  const { status, error, stdout } = spawnSync(command, args, {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit']
  })
  if (status !== 0) throw new Error(`${path.basename(command)} failed: ${error?.message ?? `exit code ${status}`}`)
  return stdout
}

/** Where a runtime of `benchmark/` is. */
function binary(name) {
  return path.join(__dirname, 'node_modules', '.bin', name)
}

module.exports = { others, pipeline, binary }
