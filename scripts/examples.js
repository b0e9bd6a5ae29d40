'use strict'

// Runs the projects under examples/ as those who copy them would: each in a folder of its own, with mintid from a tarball.
//
//   node scripts/examples.js [name…] --tarball <file>
//
// The folders are .cache/examples/<name>. Their node_modules stay until a package.json or the tarball changes.

const { spawn } = require('node:child_process')
const { createHash } = require('node:crypto')
const fs = require('node:fs')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { root, cache } = require('./setup.js')

const examples = path.join(root, 'examples')

/** What running an example leaves in its folder. */
const LEFTOVERS = ['node_modules', 'package-lock.json', 'dist', '.next', 'next-env.d.ts', '.mintid', '.env']

const INSTALL = ['install', '--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--prefer-offline']

/** How long an install or a test may take: one that hangs has failed. */
const TIMEOUT_MS = 180_000

async function main() {
  const { names, tarball } = commandLine()
  const began = performance.now()
  let failed = 0
  for (const name of names) {
    if (!(await passes(name, tarball))) failed++
  }
  console.log(`${names.length - failed} of ${names.length} examples ran, ${seconds(began)}`)
  if (failed > 0) process.exitCode = 1
}

/** The examples that are wanted, by default all, and the tarball's absolute path. */
function commandLine() {
  const all = fs.readdirSync(examples).filter((name) => fs.existsSync(path.join(examples, name, 'package.json')))
  try {
    const { values, positionals } = parseArgs({ options: { tarball: { type: 'string' } }, allowPositionals: true })
    const unknown = positionals.find((name) => !all.includes(name))
    if (unknown) throw new Error(`no example '${unknown}'; there are ${all.join(', ')}`)
    if (!values.tarball) throw new Error('--tarball <file> is missing; npm pack makes one')
    if (!fs.existsSync(values.tarball)) throw new Error(`--tarball: there is no file ${values.tarball}`)
    return { names: positionals.length > 0 ? positionals : all, tarball: path.resolve(values.tarball) }
  } catch (error) {
    console.error(error.message)
    process.exit(2)
  }
}

/** Installs and tests one example, prints a line about it, and what it printed itself if it failed. */
async function passes(name, tarball) {
  const began = performance.now()
  try {
    const folder = copy(name)
    await install(folder, tarball)
    const installed = seconds(began)
    await npm(['test'], folder)
    console.log(`ok    ${name.padEnd(8)}  ${seconds(began).padStart(7)}, ${installed} of it for the install`)
    return true
  } catch (error) {
    console.log(`FAIL  ${name.padEnd(8)}  ${seconds(began).padStart(7)}\n${error.message}\n`)
    return false
  }
}

/** Copies an example anew, beside what was installed for it before. */
function copy(name) {
  const folder = path.join(cache, 'examples', name)
  fs.mkdirSync(folder, { recursive: true })
  for (const entry of fs.readdirSync(folder)) {
    if (entry !== 'node_modules') fs.rmSync(path.join(folder, entry), { recursive: true })
  }
  const filter = (file) => !LEFTOVERS.includes(path.basename(file))
  fs.cpSync(path.join(examples, name), folder, { recursive: true, filter })
  return folder
}

/** Installs an example's packages and the tarball, unless these very ones are there. */
async function install(folder, tarball) {
  const modules = path.join(folder, 'node_modules')
  const stamp = path.join(modules, '.examples.json')
  const wanted = {
    packages: sha256(process.version, fs.readFileSync(path.join(folder, 'package.json'))),
    tarball: sha256(fs.readFileSync(tarball))
  }
  const found = fs.existsSync(stamp) ? JSON.parse(fs.readFileSync(stamp, 'utf8')) : {}
  if (found.packages === wanted.packages && found.tarball === wanted.tarball) return
  // npm takes a tarball with a known name and version for the one that it installed before.
  const outdated = found.packages === wanted.packages ? [stamp, path.join(modules, 'mintid')] : [modules]
  for (const file of outdated) fs.rmSync(file, { recursive: true, force: true })
  await npm([...INSTALL, tarball], folder)
  fs.writeFileSync(stamp, JSON.stringify(wanted))
}

function sha256(...parts) {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex')
}

/** Runs npm in a folder. Rejects with all that was printed if it fails, or if something still runs after a while. */
function npm(args, cwd) {
  // A process group of its own, so that all that it started can be ended with it.
  const child = spawn('npm', args, { cwd, env: environment(), stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  const kill = () => process.kill(-child.pid, 'SIGKILL')
  const output = []
  child.stdout.on('data', (chunk) => output.push(chunk))
  child.stderr.on('data', (chunk) => output.push(chunk))
  const timer = setTimeout(() => {
    output.push(Buffer.from(`\nsomething still ran after ${TIMEOUT_MS / 1000} s and was killed\n`))
    kill()
  }, TIMEOUT_MS)
  process.once('exit', kill)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    // Not 'exit': the pipes are open as long as anything runs that was started here.
    child.once('close', (code, signal) => {
      clearTimeout(timer)
      process.off('exit', kill)
      if (code === 0) resolve()
      else reject(new Error(`${Buffer.concat(output)}\nnpm ${args[0]}: ${signal ?? `exit code ${code}`}`))
    })
  })
}

/** This process's environment without what would change what an example does. */
function environment() {
  const foreign = /^(MINTID_|NODE_ENV$|NODE_TEST_CONTEXT$|npm_(package|lifecycle)_|npm_config_(call|local_prefix)$)/
  const entries = Object.entries(process.env).filter(([name]) => !foreign.test(name))
  return { ...Object.fromEntries(entries), NEXT_TELEMETRY_DISABLED: '1' }
}

function seconds(began) {
  return `${((performance.now() - began) / 1000).toFixed(1)} s`
}

// An end by a signal is an end all the same: 'exit' kills what runs.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

main()
