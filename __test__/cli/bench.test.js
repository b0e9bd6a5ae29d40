'use strict'

const assert = require('node:assert/strict')
const { mkdirSync, readdirSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')
const { test } = require('node:test')
const { mintid, temporaryFolder } = require('./cli.js')

const OURS = ['next()', 'next(), sortable', 'nextDb()', 'nextMany(1000)', 'toDb(text)', 'fromDb(bigint)']

/** A folder with a package `nanoid` that an application could have. */
function application(t) {
  const folder = temporaryFolder(t)
  const nanoid = join(folder, 'node_modules/nanoid')
  mkdirSync(nanoid, { recursive: true })
  writeFileSync(join(nanoid, 'package.json'), '{ "type": "module", "exports": "./index.js" }')
  writeFileSync(join(nanoid, 'index.js'), "let n = 0\nexport const nanoid = () => 'made up ' + n++\n")
  return folder
}

test('a quick run as JSON: each of ours, and what can be found from here; nothing is left behind', (t) => {
  const [cwd, TMPDIR] = [application(t), temporaryFolder(t)]
  const { status, stdout, stderr } = mintid(['bench', '--quick', '--json'], { cwd, env: { TMPDIR } })
  assert.deepEqual([status, stderr], [0, ''])
  const { runtime, machine, quick, rounds, results, missing } = JSON.parse(stdout)
  assert.match(runtime, /^[\w.]+ \d+\.\d+/)
  assert.deepEqual([typeof machine, quick, rounds > 0], ['string', true, true])
  const names = results.map(({ name }) => name)
  for (const name of [...OURS.map((name) => `mintid ${name}`), 'crypto.randomUUID', 'nanoid']) {
    assert.ok(names.includes(name), `no ${name} in ${names}`)
  }
  for (const { leastNs, medianNs, ofNext } of results) {
    assert.ok(leastNs > 0 && medianNs >= leastNs && ofNext > 0)
  }
  assert.equal(results.find(({ name }) => name === 'mintid next()').ofNext, 1)
  const { reason } = missing.find(({ name }) => name === 'hyperid')
  assert.match(reason, /hyperid/)
  assert.deepEqual(readdirSync(TMPDIR), [])
})

test('people read a table, the fastest first, and what was not measured', (t) => {
  const { status, stdout } = mintid(['bench', '--quick'], { cwd: application(t) })
  assert.equal(status, 0)
  const rows = stdout.split('\n').filter((line) => line.endsWith('×'))
  const medians = rows.map((row) => Number(/ +([\d.]+) +[\d.]+ +[\d.]+ ×$/.exec(row)[1]))
  assert.ok(rows.length > OURS.length)
  assert.deepEqual(
    medians,
    [...medians].sort((a, b) => a - b)
  )
  assert.match(stdout, /^ {2}nanoid /m)
  assert.match(stdout, /^not measured: .*hyperid/m)
})
