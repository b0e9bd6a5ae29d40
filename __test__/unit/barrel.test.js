'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { test } = require('node:test')

const root = join(__dirname, '..', '..')

test('import sees the same names as require', async () => {
  const required = require('../../index.js')
  const imported = await import('../../index.js')
  for (const [name, value] of Object.entries(required)) assert.equal(imported[name], value, name)
})

test('each export is a plain property once it was read', () => {
  const script = `
    const mintid = require('./index.js')
    const { get, value, ...rest } = Object.getOwnPropertyDescriptor(mintid, (mintid.idType, 'idType'))
    console.log(JSON.stringify([get, value === mintid.idType, rest]))
  `
  const plain = { writable: true, enumerable: true, configurable: true }
  assert.deepEqual(JSON.parse(output(script)), [null, true, plain])
})

test('a program that only declares ID types loads few files, and loads them when it does', () => {
  const script = `
    const loaded = () => Object.keys(require.cache).map((file) => require('node:path').relative(process.cwd(), file))
    const { idType } = require('./index.js')
    idType('usr_', { mask: true })
    console.log(JSON.stringify(loaded()))
  `
  const expected = ['index.js', 'js/id-type.js', 'js/options/check.js', 'js/options/type.js', 'js/shared.js']
  assert.deepEqual(JSON.parse(output(script)), expected)
  assert.deepEqual(JSON.parse(output(script.replace('{ idType }', '{}').replace(/idType\(.*/, ''))), ['index.js'])
})

test('index.d.ts declares exactly what index.js exports', () => {
  const declared = [...typings().matchAll(/^export (?:class|function) (\w+)/gm)].map(([, name]) => name)
  assert.deepEqual(declared.sort(), Object.keys(require('../../index.js')).sort())
})

test('index.d.ts declares every method of generators and types', () => {
  const { IdGenerator } = require('../../index.js')
  const { IdType } = require('../../js/id-type.js')
  const members = [IdGenerator, IdType].flatMap((Class) => Object.getOwnPropertyNames(Class.prototype))
  for (const name of members.filter((name) => !['constructor', 'toJSON'].includes(name))) {
    assert.match(typings(), new RegExp(`^  (readonly )?'?${name}'?[(<:]`, 'm'), name)
  }
})

test('declaring types and generators loads no addon and reads no environment', () => {
  const { loads, reads, error } = inChild(`
    const { idType, IdGenerator } = require('./index.js')
    idType('usr_', { mask: true, accepts: [{ prefix: 'user_' }] })
    const ids = new IdGenerator({ machineId: { env: 'POD_NAME' }, key: 'k'.repeat(32) })
    ids.type('evt_', { kind: 'sortable' })
    ids.on('leaseLost', () => {})
  `)
  assert.deepEqual({ loads, reads, error }, { loads: 0, reads: [], error: undefined })
})

test('using a type loads the addon; the environment is read when a lease is wanted', () => {
  const used = inChild("require('./index.js').idType('usr_').toDb('usr_00000000000')")
  assert.equal(used.loads, 1)
  assert.equal(used.error, 'ERR_MINTID_ADDON: the test lets no addon load')

  const ready = inChild("return new (require('./index.js').IdGenerator)({ machineId: { env: 'POD_NAME' } }).ready()")
  assert.deepEqual(ready.reads, ['POD_NAME'])
  assert.equal(ready.error, 'ERR_MINTID_ADDON: the test lets no addon load')
})

/** Runs a script where the addon cannot be loaded and every look at the environment is recorded. */
function inChild(script) {
  const child = spawnSync(
    process.execPath,
    [
      '-e',
      `
    const Module = require('node:module')
    const seen = { loads: 0, reads: [] }
    const load = Module._load
    Module._load = function (request, ...rest) {
      if (!/binding\\.js$|\\.node$/.test(request)) return load.call(this, request, ...rest)
      seen.loads++
      throw new Error('the test lets no addon load')
    }
    const env = process.env
    process.env = new Proxy(env, { get (target, name) { seen.reads.push(name); return target[name] } })
    const report = (error) => {
      process.env = env
      seen.error = error && error.code + ': ' + error.cause.message
      require('node:fs').writeSync(1, JSON.stringify(seen))
    }
    (async () => { ${script} })().then(() => report(), report)
  `
    ],
    { cwd: root, encoding: 'utf8' }
  )
  assert.equal(child.status, 0, child.stderr)
  return { error: undefined, ...JSON.parse(child.stdout) }
}

function output(script) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', script], { cwd: root, encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  return stdout
}

function typings() {
  return readFileSync(join(root, 'index.d.ts'), 'utf8')
}
