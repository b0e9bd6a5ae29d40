'use strict'

const assert = require('node:assert/strict')
const { writeFileSync } = require('node:fs')
const { spawnSync } = require('node:child_process')
const { join } = require('node:path')
const { after, test } = require('node:test')
const { fakeIds, TEST_KEY } = require('mintid/testing')
const { main, mintid, temporaryFolder } = require('./cli.js')

const KEY = { MINTID_KEY: TEST_KEY }
const MADE = '2026-01-01T00:00:00.000Z'
const ids = fakeIds()
after(() => ids.close())

function inspect(args, env) {
  const { status, stdout, stderr } = mintid(['inspect', ...args, '--json'], { env })
  assert.deepEqual([status, stderr], [0, ''])
  return JSON.parse(stdout)
}

test('an ID is taken apart', () => {
  const { id, db } = ids.type('usr_').nextPair()
  const parts = { kind: 'counter', timestamp: MADE, exact: false, machineId: 1, sequence: 0, partition: 0 }
  assert.deepEqual(inspect([id]), { id, prefix: 'usr_', db: String(db), ...parts })
})

test('people read lines', () => {
  const { stdout } = mintid(['inspect', ids.type('usr_', { kind: 'sortable' }).next(), '--kind', 'sortable'])
  assert.match(stdout, /^ +prefix +usr_$/m)
  assert.match(stdout, /^ +made +2026-01-01T00:00:00\.000Z$/m)
  assert.match(stdout, /^ +machine ID +1$/m)
  assert.match(stdout, /^ +database +\d+$/m)
})

for (const format of ['base58', 'url64', 'hex', 'hex32', 'base62', 'decimal', 'signed', 'unsigned']) {
  for (const prefix of ['', 'a-b_']) {
    test(`format ${format} with prefix '${prefix}'`, () => {
      const { id, db } = ids.type(prefix, { format }).nextPair()
      const found = inspect([String(id), '--format', format])
      assert.deepEqual([found.prefix, found.db, found.timestamp], [prefix, String(db), MADE])
    })
  }
}

test('masked and encrypted IDs are read with the key from the environment', () => {
  const masked = ids.type('usr_', { mask: true }).nextPair()
  assert.equal(inspect([masked.id, '--mask'], KEY).db, String(masked.db))
  for (const cipher of ['aes', 'blowfish', 'des3']) {
    const { id, db } = ids.type('c_', { mask: true, cipher }).nextPair()
    assert.equal(inspect([id, '--mask', '--cipher', cipher], KEY).db, String(db))
  }
  const encrypted = ids.type('t1_', { kind: 'encrypted', base: 'sortable', format: 'hex' }).next()
  const found = inspect([encrypted, '--kind', 'encrypted', '--base', 'sortable', '--format', 'hex'], KEY)
  assert.deepEqual([found.kind, found.exact, found.timestamp], ['encrypted', true, MADE])
})

test('the key comes from .env by --env-file', (t) => {
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, '.env'), `MINTID_KEY='${TEST_KEY}'\n`)
  const id = ids.type('usr_', { mask: true }).next()
  const args = ['--env-file=.env', main, 'inspect', id, '--mask']
  const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  assert.match(stdout, /2026-01-01T00:00:00\.000Z/)
})

test('a layout and an epoch of its own', () => {
  const layout = { time: 41, machine: 10, sequence: 12, epoch: '2020-01-01' }
  const id = fakeIds({ layout, seed: 600 }).type('').next()
  const found = inspect([id, '--layout', '0/41/10/12', '--epoch', '2020-01-01'])
  assert.deepEqual([found.machineId, found.timestamp], [600, MADE])
})

test('a negative number follows two dashes', () => {
  const { status, stdout } = mintid(['inspect', '--format', 'signed', '--json', '--', '-5'])
  assert.equal(status, 0)
  assert.equal(JSON.parse(stdout).db, '-5')
})

test('a masked ID that is read without --mask raises suspicion', () => {
  const { status, stderr } = mintid(['inspect', ids.type('usr_', { mask: true }).next()])
  assert.equal(status, 0)
  assert.match(stderr, /^mintid: warning: made in the future: is it masked \(--mask\)/)
})

for (const [args, env, expected] of [
  [['usr_BhiD6ngqovE', '--mask'], {}, /^mintid: ERR_MINTID_NO_KEY: MINTID_KEY is not set; see mintid inspect --help/],
  [['usr_BhiD6ngqovE', '--kind', 'encrypted'], { MINTID_KEY: '' }, /^mintid: ERR_MINTID_NO_KEY: /],
  [['usr_BhiD6ngqovE', '--mask'], { MINTID_KEY: 'secret' }, /^mintid: ERR_MINTID_CONFIG: key: .* 32 bytes, found 6/],
  [['usr_BhiD6ngqov0'], {}, /^mintid: ERR_MINTID_INVALID_ID: not an ID of this type \(character\)/],
  [['usr_BhiD6ngqovE', '--prefix', 'ord_'], {}, /^mintid: ERR_MINTID_INVALID_ID: .*\(prefix\)/],
  [['short'], {}, /^mintid: ERR_MINTID_INVALID_ID: .*\(length\)/],
  [['ключ_BhiD6ngqovE'], {}, /^mintid: ERR_MINTID_INVALID_ID: /],
  [['usr_BhiD6ngqovE', '--base', 'sortable'], {}, /^mintid: ERR_MINTID_CONFIG: base: /],
  [['usr_BhiD6ngqovE', '--layout', '0/1/1/1'], {}, /^mintid: ERR_MINTID_CONFIG: layout\.time: /],
  [['usr_BhiD6ngqovE', '--epoch', 'yesterday'], {}, /^mintid: ERR_MINTID_CONFIG: layout\.epoch: /]
]) {
  test(`refused: mintid inspect ${args.join(' ')} ${JSON.stringify(env)}`, () => {
    const { status, stdout, stderr } = mintid(['inspect', ...args], { env })
    assert.deepEqual([status, stdout], [1, ''])
    assert.match(stderr, expected)
    assert.doesNotMatch(stderr, /secret/)
  })
}
