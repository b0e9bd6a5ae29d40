'use strict'

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { mintidOn } = require('./cli.js')

const A_DAY = 86_400_000
const BEGAN = Date.now() - A_DAY
const ENDS = BEGAN + 2 * A_DAY + 30_000
const LIVE = { machineId: 3, holder: 'web-1:77', acquiredAt: BEGAN, expiresAt: ENDS, live: true }
const FREE = { machineId: 12, holder: 'web-2:78', acquiredAt: BEGAN - 5000, expiresAt: BEGAN, live: false }
const NEVER = { machineId: 13, expiresAt: 0, live: false }

const list = (leases, ...args) => mintidOn({ leases }, ['leases', ...args])
const iso = (ms) => new Date(ms).toISOString().replace('.', '\\.')

test('the live ones, and how many of how many', () => {
  const { status, stdout, stderr } = list([LIVE, FREE, NEVER])
  assert.deepEqual([status, stderr], [0, ''])
  const [heads, row, ...rest] = stdout.split('\n')
  assert.equal(heads.trimEnd().replace(/ {2,}/g, '|'), '|machine ID|holder|acquired|expires')
  assert.match(row, new RegExp(`^ +3  web-1:77  ${iso(BEGAN)}  ${iso(ENDS)} \\(in 1 d\\)$`))
  assert.deepEqual(rest, ['', '1 of 3 machine IDs of namespace default are leased.', ''])
})

test('--all: the free ones too, since when, or that nobody had them', () => {
  const { stdout } = list([LIVE, FREE, NEVER], '--all')
  assert.match(stdout, new RegExp(`^ +12  web-2:78  .*  free since ${iso(BEGAN)} \\(1 d ago\\)$`, 'm'))
  assert.match(stdout, /^ +13 {2}- +- +free, never leased$/m)
  assert.match(stdout, /^1 of 3 machine IDs/m)
})

test('nobody holds one: no table', () => {
  assert.equal(list([FREE, NEVER]).stdout, '0 of 2 machine IDs of namespace default are leased.\n')
})

test('a registry that is not there yet', () => {
  const { status, stdout } = list([])
  assert.equal(status, 0)
  assert.equal(stdout, 'There is no registry of namespace default yet; mintid setup creates it.\n')
})

test('--json has ISO times, and null for what is not known', () => {
  const { namespace, live, machineIds, leases } = JSON.parse(list([LIVE, NEVER], '--all', '--json').stdout)
  assert.deepEqual([namespace, live, machineIds], ['default', 1, 2])
  const [one, other] = leases
  assert.deepEqual(one, {
    machineId: 3,
    live: true,
    holder: 'web-1:77',
    acquiredAt: new Date(BEGAN).toISOString(),
    expiresAt: new Date(ENDS).toISOString()
  })
  assert.deepEqual(other, { machineId: 13, live: false, holder: null, acquiredAt: null, expiresAt: null })
  assert.equal(JSON.parse(list([LIVE, NEVER], '--json').stdout).leases.length, 1)
})

test('a holder cannot steer a terminal', () => {
  const { stdout } = list([{ ...LIVE, holder: '\u001b[2Jgone\nü' }])
  assert.match(stdout, / {2}\\u\{1b\}\[2Jgone\\u\{a\}\\u\{fc\} {2}/)
  assert.ok(!stdout.includes('\u001b'))
})

test('a failure has its code, and exit code 1', () => {
  const { status, stdout, stderr } = list({ failure: true, code: 'ERR_MINTID_COORDINATOR', message: 'cannot reach it' })
  assert.deepEqual([status, stdout, stderr], [1, '', 'mintid: ERR_MINTID_COORDINATOR: cannot reach it\n'])
})
