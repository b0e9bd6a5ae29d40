'use strict'

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { mintidOn } = require('./cli.js')

const REACH = { name: 'reach', verdict: 'ok', found: 'connected in 3 ms' }
const CLOCK = { name: 'clock', verdict: 'warning', found: '9 s ahead', advice: 'synchronize it' }
const RIGHTS = { name: 'rights', verdict: 'error', found: 'may not create tables', advice: 'run mintid setup --print' }

const examine = (checks, ...args) => mintidOn({ examine: { server: 'PostgreSQL 17.2', checks } }, ['doctor', ...args])

test('each check with its verdict, what was found and what to do', () => {
  const { status, stdout, stderr } = examine([REACH, CLOCK, RIGHTS])
  assert.deepEqual([status, stderr], [1, ''])
  assert.deepEqual(stdout.split('\n'), [
    'PostgreSQL 17.2',
    'Namespace default',
    '',
    '  ok       reach   connected in 3 ms',
    '  warning  clock   9 s ahead',
    '                   synchronize it',
    '  error    rights  may not create tables',
    '                   run mintid setup --print',
    '',
    '3 checks: 1 error, 1 warning.',
    ''
  ])
})

test('advice of several lines stays in its column', () => {
  const { stdout } = examine([{ ...CLOCK, advice: 'one\ntwo' }])
  assert.match(stdout, /^ {18}one\n {18}two$/m)
})

test('warnings alone are no failure', () => {
  const { status, stdout } = examine([REACH, CLOCK], '--namespace', 'blue')
  assert.equal(status, 0)
  assert.match(stdout, /^Namespace blue$/m)
  assert.match(stdout, /^2 checks: 0 errors, 1 warning\.$/m)
})

test('--json, with the same exit codes', () => {
  const { status, stdout } = examine([REACH, RIGHTS], '--json')
  assert.equal(status, 1)
  const found = { server: 'PostgreSQL 17.2', namespace: 'default', ok: false, checks: [REACH, RIGHTS] }
  assert.deepEqual(JSON.parse(stdout), found)
  assert.deepEqual([examine([CLOCK], '--json').status, JSON.parse(examine([CLOCK], '--json').stdout).ok], [0, true])
})

test('a server that is not there: its error, and what to do', () => {
  const failure = { failure: true, code: 'ERR_MINTID_COORDINATOR', message: 'h: refused', hint: 'is it started?' }
  const { status, stdout, stderr } = mintidOn({ examine: failure }, ['doctor'])
  assert.deepEqual([status, stdout], [1, ''])
  assert.equal(stderr, 'mintid: ERR_MINTID_COORDINATOR: h: refused\nis it started?\n')
})
