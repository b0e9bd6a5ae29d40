'use strict'

// `npm test`: sets up, then runs everything. `npm test -- rust js` runs some steps alone.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { binary } = require('../benchmark/children.js')
const { install } = require('../benchmark/install.js')
const { promised } = require('./promised.js')
const { setup, run, root, cache } = require('./setup.js')

/** The steps that talk to the servers of the README. */
const ON_SERVERS = ['rust', 'package', 'drivers']

const steps = {
  /** Formatting and lints; warnings are errors. */
  lint() {
    run('cargo', ['fmt', '--check'])
    run('cargo', ['check', '--quiet', '--no-default-features'])
    run('cargo', ['clippy', '--quiet', '--all-targets', '--all-features', '--', '-D', 'warnings'])
    run('npx', ['biome', 'check', '--error-on-warnings'])
  },

  /** The core, without Node; also what is not part of the addon yet. */
  rust() {
    run('cargo', ['test', '--quiet', '--all-features'])
  },

  /** What needs no binary: options, errors, the fake backend. */
  unit() {
    run(process.execPath, ['--test', ...tests(root, ['unit', 'testing'])])
  },

  types() {
    run('npx', ['tsc', '-p', '__test__/types'])
  },

  /** The packed tarball, installed in a folder that knows nothing of this one. */
  package() {
    const folder = installed()
    run(process.execPath, ['--test', '--expose-gc', ...tests(folder, ['native', 'cli'])], { cwd: folder })
    fs.rmSync(folder, { recursive: true })
  },

  /** The same on Bun and Deno too, of which the benchmark brings binaries. */
  runtimes() {
    install()
    const folder = installed()
    const [MINTID_BUN, MINTID_DENO] = ['bun', 'deno'].map(binary)
    const env = { ...process.env, MINTID_BUN, MINTID_DENO }
    run(process.execPath, ['--test', ...tests(folder, ['runtimes'])], { cwd: folder, env })
    fs.rmSync(folder, { recursive: true })
  },

  /** The short form of the faults; `npm run test:faults` plays them all. */
  faults() {
    run(process.execPath, ['--test', ...testsIn('tests/faults/self')])
    run(process.execPath, ['tests/faults/run.js', '--short', '--jobs', '2'])
  },

  /** Over the connections of users' drivers. */
  drivers() {
    run(process.execPath, ['tests/drivers/run.js'])
  },

  examples() {
    run(process.execPath, ['scripts/examples.js', '--tarball', tarball()])
  }
}

function main() {
  const wanted = process.argv.slice(2)
  const unknown = wanted.find((name) => !Object.hasOwn(steps, name))
  if (unknown) {
    console.error(`no step '${unknown}'; there are ${Object.keys(steps).join(', ')}`)
    process.exit(2)
  }
  const names = Object.keys(steps).filter((name) => wanted.length === 0 || wanted.includes(name))
  if (names.some((name) => ON_SERVERS.includes(name))) timed('servers', promised)
  timed('setup', setup)
  for (const name of names) timed(name, steps[name])
}

function timed(name, step) {
  const began = performance.now()
  console.log(`\n=== ${name}`)
  step()
  console.log(`=== ${name}: ok, ${((performance.now() - began) / 1000).toFixed(1)} s`)
}

function testsIn(folder) {
  const files = fs.readdirSync(path.join(root, folder)).filter((name) => name.endsWith('.test.js'))
  return files.map((name) => path.join(folder, name))
}

/** The test files of some folders, by name, since a folder means other things to other versions of node --test. */
function tests(folder, parts) {
  const names = parts.flatMap((part) =>
    fs.readdirSync(path.join(folder, '__test__', part)).map((name) => path.join('__test__', part, name))
  )
  return names.filter((name) => name.endsWith('.test.js'))
}

/** A new folder with the packed checkout installed, and the tests beside it. */
function installed() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'mintid-package-'))
  fs.writeFileSync(path.join(folder, 'package.json'), '{ "private": true, "type": "commonjs" }')
  run('npm', ['install', '--silent', '--no-audit', '--no-fund', tarball()], { cwd: folder })
  for (const part of ['__test__', 'tests/vectors']) {
    fs.cpSync(path.join(root, part), path.join(folder, part), { recursive: true })
  }
  return folder
}

/** Packs the checkout. */
function tarball() {
  const folder = path.join(cache, 'package')
  fs.rmSync(folder, { recursive: true, force: true })
  fs.mkdirSync(folder, { recursive: true })
  run('npm', ['pack', '--silent', '--pack-destination', folder])
  return path.join(folder, fs.readdirSync(folder)[0])
}

main()
