'use strict'

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { mintid } = require('./cli.js')

const COMMANDS = ['init', 'key', 'setup', 'leases', 'ddl', 'inspect', 'doctor', 'bench']

test('--help lists the commands', () => {
  for (const flag of ['--help', '-h', 'help']) {
    const { status, stdout, stderr } = mintid([flag])
    assert.deepEqual([status, stderr], [0, ''])
    for (const command of COMMANDS) assert.match(stdout, new RegExp(`^  ${command} +\\w`, 'm'))
  }
})

test('every command has a --help with its flags, whatever else is said', () => {
  for (const command of COMMANDS) {
    const { status, stdout, stderr } = mintid([command, 'a', 'b', '--help'])
    assert.deepEqual([status, stderr], [0, ''])
    assert.match(stdout, new RegExp(`^Usage: mintid ${command} `))
    assert.match(stdout, /--json +print one JSON object/)
    assert.ok(stdout.split('\n').every((line) => line.length <= 120))
  }
})

test('--version prints the version of the package', () => {
  const { status, stdout } = mintid(['--version'])
  assert.deepEqual([status, stdout.trim()], [0, require('mintid/package.json').version])
})

for (const [args, expected] of [
  [[], /expected a command, found nothing\nSee mintid --help\n$/],
  [['inspekt'], /unknown command "inspekt"; did you mean inspect\?/],
  [['--json'], /unknown command "--json"/],
  [['toString'], /unknown command "toString"/],
  [['\u001b[31m'], /unknown command "\\u001b\[31m"/],
  [['key', '--jsno'], /unknown flag "--jsno"; did you mean --json\?\nSee mintid key --help\n$/],
  [['key', '--json=yes'], /--json takes no value, found "yes"/],
  [['key', 'more'], /expected no further argument, found "more"/],
  [['init', '--dir'], /--dir expects a value/],
  [['inspect'], /expected <id>, found nothing/],
  [['inspect', 'a', 'b'], /expected no further argument, found "b"/],
  [['inspect', 'a', '--prefix', '--json'], /--prefix expects a value/],
  [['inspect', 'a', '--format', 'base85'], /--format: expected base58, .* found "base85"; did you mean base58\?/],
  [['inspect', 'a', '--layout', '42'], /--layout: expected partition\/time\/machine\/sequence/],
  [['inspect', '--format', 'signed', '-5'], /unknown flag "-5"/]
]) {
  test(`not understood: mintid ${JSON.stringify(args)}`, () => {
    const { status, stdout, stderr } = mintid(args)
    assert.deepEqual([status, stdout], [2, ''])
    assert.match(stderr, /^mintid: /)
    assert.match(stderr, expected)
  })
}
