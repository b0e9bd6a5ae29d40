'use strict'

// Installs and builds what a fresh clone lacks; does nothing when it is all there. No dependencies: it runs before them.

const { spawnSync } = require('node:child_process')
const { createHash } = require('node:crypto')
const fs = require('node:fs')
const path = require('node:path')

const root = path.join(__dirname, '..')
const cache = path.join(root, '.cache')

/** Makes the checkout ready to run: npm packages as locked, the addon as its sources say. */
function setup() {
  need('cargo', 'Rust (rustup.rs), 1.89 or newer')
  need('cc', 'a C compiler (Debian: apt-get install build-essential)')
  once('packages', ['package.json', 'package-lock.json'], 'node_modules', () =>
    run('npm', ['ci', '--no-audit', '--no-fund'])
  )
  once('addon', ['Cargo.toml', 'Cargo.lock', 'build.rs', 'package.json', 'src'], addon(), () => {
    // A new file, not new bytes in the old one: processes that run the old one have it mapped.
    fs.rmSync(path.join(root, addon() ?? 'none'), { force: true })
    run('npm', ['run', 'build'])
  })
}

/** Runs a command in the checkout, its output shown, and ends this process if it fails. */
function run(command, args, options) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options })
  if (error || status !== 0) {
    console.error(`\n${command} ${args.join(' ')}: ${error?.message ?? `exit code ${status}`}`)
    process.exit(1)
  }
}

/** The built addon's name in the checkout, or undefined. */
function addon() {
  return fs.readdirSync(root).find((name) => name.endsWith('.node'))
}

/** Does `work` unless `product` is there and was made from the same `sources`. */
function once(name, sources, product, work) {
  const stamp = path.join(cache, `${name}.sha256`)
  const wanted = fingerprint(sources)
  if (product && fs.existsSync(path.join(root, product)) && read(stamp) === wanted) return
  work()
  fs.mkdirSync(cache, { recursive: true })
  fs.writeFileSync(stamp, wanted)
}

function fingerprint(sources) {
  const hash = createHash('sha256')
  for (const source of sources) {
    for (const file of filesOf(path.join(root, source)))
      hash.update(`${path.relative(root, file)}\0`).update(read(file))
  }
  return hash.digest('hex')
}

function filesOf(file) {
  if (!fs.statSync(file).isDirectory()) return [file]
  return fs
    .readdirSync(file)
    .sort()
    .flatMap((name) => filesOf(path.join(file, name)))
}

function read(file) {
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : ''
}

function need(command, what) {
  if (spawnSync(command, ['--version'], { stdio: 'ignore' }).error) {
    console.error(`${command} was not found; mintid is built from source here and needs ${what}`)
    process.exit(1)
  }
}

module.exports = { setup, run, root, cache }
