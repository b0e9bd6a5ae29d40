'use strict'

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { mintid, mintidOn } = require('./cli.js')

const NOW = Date.UTC(2026, 0, 1)
const CREATED = { created: true, notBefore: NOW + 302_000, now: NOW, machineIds: 511 }
const UP_TO_DATE = { created: false, notBefore: 0, now: NOW, machineIds: 511 }
const PROMISE = 'nothing of this namespace ran within the last ttl'

function setup(report, ...args) {
  return mintidOn({ setup: report, setupSql: 'create table x ();\n' }, ['setup', ...args])
}

test('a new registry says until when newcomers wait, and how not to', () => {
  const { status, stdout, stderr, calls } = setup(CREATED)
  assert.deepEqual([status, stderr], [0, ''])
  assert.match(stdout, /^The registry of namespace default was created: 511 machine IDs\.$/m)
  assert.match(stdout, /^Newcomers may lease from 2026-01-01T00:05:02\.000Z \(in 5 min 2 s\)\.$/m)
  assert.match(stdout, new RegExp(`^If ${PROMISE}: mintid setup --fresh ends the wait\\.$`, 'm'))
  assert.equal(calls.length, 1)
  assert.deepEqual([calls[0].name, calls[0].mode], ['setup', 'plain'])
})

test('a registry that waits after a reset names the other flag', () => {
  const { stdout } = setup({ ...CREATED, created: false })
  assert.match(stdout, /is up to date/)
  assert.match(stdout, /mintid setup --accept-reset ends the wait/)
})

test('a registry that is up to date', () => {
  const { status, stdout } = setup(UP_TO_DATE)
  assert.equal(status, 0)
  assert.equal(stdout, 'The registry of namespace default is up to date: 511 machine IDs.\nNewcomers may lease now.\n')
})

test('a wait that is over is none', () => {
  assert.match(setup({ ...CREATED, notBefore: NOW }).stdout, /^Newcomers may lease now\.$/m)
})

for (const mode of ['fresh', 'accept-reset']) {
  test(`--${mode} says what was promised`, () => {
    const { status, stdout, calls } = setup(UP_TO_DATE, `--${mode}`)
    assert.equal(status, 0)
    assert.equal(calls[0].mode, mode)
    assert.match(stdout, new RegExp(`^No wait, on your promise that ${PROMISE}\\.$`, 'm'))
    assert.equal(JSON.parse(setup(UP_TO_DATE, `--${mode}`, '--json').stdout).promised, PROMISE)
  })
}

test('--restored says what became of the sequences that the database mints from', () => {
  const moved = [
    { name: 'public.mintid_default', moved: true },
    { name: '"Über".second', moved: true }
  ]
  const report = { ...CREATED, created: false, sequences: moved }
  const { status, stdout, stderr, calls } = setup(report, '--restored')
  assert.deepEqual([status, stderr, calls[0].mode], [0, '', 'restored'])
  assert.match(stdout, /^Newcomers may lease from 2026-01-01T00:05:02\.000Z \(in 5 min 2 s\)\.$/m)
  assert.match(stdout, /^Moved past what the backup can have forgotten: public\.mintid_default, "Über"\.second\.$/m)
  assert.doesNotMatch(stdout, /promise that/)
  assert.deepEqual(JSON.parse(setup(report, '--restored', '--json').stdout).sequences, moved)
})

test('--restored where no sequence is says what to do where a database mints', () => {
  const { status, stdout } = setup({ ...CREATED, sequences: [] }, '--restored')
  assert.equal(status, 0)
  assert.match(
    stdout,
    /^No sequence was moved; in a database that mints IDs, run the SQL of mintid ddl --default --restored\.$/m
  )
})

test('--restored fails for a sequence that it could not move', () => {
  const sequences = [{ name: 'public.mintid_default', moved: false }]
  const { status, stdout, stderr } = setup({ ...CREATED, sequences }, '--restored')
  assert.equal(status, 1)
  assert.match(stdout, /^Newcomers may lease from/m)
  assert.equal(
    stderr,
    'mintid: warning: public.mintid_default is ahead of the clock: nothing tells what was forgotten of it\n'
  )
})

test('--help says what both flags promise', () => {
  const { stdout } = mintid(['setup', '--help'])
  assert.match(stdout, /--fresh +no wait: you promise that nothing of this namespace ran within the last ttl/)
  assert.match(stdout, /--accept-reset +end a wait: you promise the same/)
  assert.match(stdout, /two processes may hold\s+one machine ID, and IDs may be made twice/)
})

test('--json', () => {
  assert.deepEqual(JSON.parse(setup(CREATED, '--json').stdout), {
    namespace: 'default',
    created: true,
    machineIds: 511,
    notBefore: '2026-01-01T00:05:02.000Z'
  })
  assert.equal(JSON.parse(setup(UP_TO_DATE, '--json').stdout).notBefore, null)
})

test('--print prints the SQL alone and sets nothing up', () => {
  const { status, stdout, stderr, calls } = setup(CREATED, '--print')
  assert.deepEqual([status, stdout, stderr], [0, 'create table x ();\n', ''])
  assert.deepEqual(
    calls.map(({ name }) => name),
    ['setupSql']
  )
  assert.deepEqual(JSON.parse(setup(CREATED, '--print', '--json').stdout), { sql: 'create table x ();\n' })
})

test('native code gets the options of a generator', () => {
  const { calls } = setup(CREATED, '--url', 'postgres://h/d', '--namespace', 'blue', '--ttl', '9000')
  const [{ options }] = calls
  assert.deepEqual([options.coordinator, options.url, options.namespace], ['postgres', 'postgres://h/d', 'blue'])
  assert.equal(options.lease.ttlMs, 9000)
  assert.deepEqual(['machineId' in options, 'acquireTimeoutMs' in options], [false, false])
})

for (const [args, expected] of [
  [['--fresh', '--accept-reset'], /--fresh and --accept-reset exclude each other\nSee mintid setup --help\n$/],
  [['--print', '--fresh'], /--print and --fresh exclude each other; run mintid setup --fresh once/],
  [['--print', '--accept-reset'], /--print and --accept-reset exclude each other/],
  [['--restored', '--fresh'], /--fresh and --restored exclude each other/],
  [['--restored', '--accept-reset'], /--accept-reset and --restored exclude each other/],
  [['--print', '--restored'], /--print and --restored exclude each other/],
  [['--ttl', '5m'], /--ttl: expected milliseconds, like 300000/],
  [['--ttl=-1'], /--ttl: expected milliseconds/],
  [['postgres://user:secret@h/d'], /expected no further argument, found a URL/]
]) {
  test(`not understood: mintid setup ${args.join(' ')}`, () => {
    const { status, stdout, stderr, calls } = setup(CREATED, ...args)
    assert.deepEqual([status, stdout, calls], [2, '', []])
    assert.match(stderr, expected)
    assert.doesNotMatch(stderr, /secret/)
  })
}

test('a ttl out of range is refused by the option', () => {
  const { status, stderr, calls } = setup(CREATED, '--ttl', '10')
  assert.deepEqual([status, calls], [1, []])
  assert.match(stderr, /^mintid: ERR_MINTID_CONFIG: lease\.ttlMs: expected an integer from 3000/)
})

test('a right that is missing: the error, and the SQL that somebody else can run', () => {
  const hint = 'have someone who may create tables run this:\ncreate table x ()'
  const failure = { failure: true, code: 'ERR_MINTID_COORDINATOR', message: 'postgres://h/d: no right', hint }
  const { status, stdout, stderr } = setup(failure)
  assert.deepEqual([status, stdout], [1, ''])
  assert.equal(stderr, `mintid: ERR_MINTID_COORDINATOR: postgres://h/d: no right\n${hint}\n`)
})
