'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const { existsSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')
const { beforeEach, test } = require('node:test')
const { root } = require('../package.js')
const { mintid, temporaryFolder } = require('./cli.js')

const KEY_LINE = /^MINTID_KEY=([\w-]{43})$/m

let folder
beforeEach((t) => {
  folder = temporaryFolder(t)
})

const path = (name) => join(folder, name)
const read = (name) => readFileSync(path(name), 'utf8')
const init = (...args) => mintid(['init', ...args], { cwd: folder })

function git(...args) {
  assert.equal(spawnSync('git', args, { cwd: folder }).status, 0)
}

test('an empty folder gets a key, an example and the SQL', () => {
  const { status, stdout, stderr } = init()
  assert.deepEqual([status, stderr], [0, ''])
  assert.deepEqual(readdirSync(folder).sort(), ['.env', 'ids.js'])
  assert.match(stdout, /id bigint primary key/)
  const [, key] = KEY_LINE.exec(read('.env'))
  assert.ok(!stdout.includes(key), 'the key is not printed')
})

test('.env is readable by its owner alone', { skip: process.platform === 'win32' }, () => {
  init()
  assert.equal(statSync(path('.env')).mode & 0o777, 0o600)
})

test('a second run changes nothing', () => {
  init()
  const before = [read('.env'), read('ids.js')]
  const { status, stdout } = init('--json')
  assert.equal(status, 0)
  assert.deepEqual(JSON.parse(stdout), {
    env: 'kept',
    ids: { file: 'ids.js', state: 'kept' },
    sql: 'create table users (id bigint primary key not null)'
  })
  assert.deepEqual([read('.env'), read('ids.js')], before)
})

test('an empty MINTID_KEY is filled in, and its neighbours stay', () => {
  writeFileSync(path('.env'), 'PORT=80\nMINTID_KEY=\nNAME=x\n')
  assert.equal(JSON.parse(init('--json').stdout).env, 'extended')
  assert.match(read('.env'), /^PORT=80\nMINTID_KEY=[\w-]{43}\nNAME=x\n$/)
})

test('an .env without a key keeps its lines and its mode', () => {
  writeFileSync(path('.env'), 'PORT=80\n#MINTID_KEY=old\nNOT_MINTID_KEY=x', { mode: 0o640 })
  const mode = statSync(path('.env')).mode
  assert.equal(JSON.parse(init('--json').stdout).env, 'extended')
  assert.match(read('.env'), /^PORT=80\n#MINTID_KEY=old\nNOT_MINTID_KEY=x\n# .*\nMINTID_KEY=[\w-]{43}\n$/)
  assert.equal(statSync(path('.env')).mode, mode)
})

for (const line of ['MINTID_KEY=mine', 'export MINTID_KEY = mine', '  MINTID_KEY="mine"']) {
  test(`a key that is there is kept: ${line}`, () => {
    writeFileSync(path('.env'), `A=1\n${line}\nB=2\n`)
    assert.equal(JSON.parse(init('--json').stdout).env, 'kept')
    assert.equal(read('.env'), `A=1\n${line}\nB=2\n`)
  })
}

test('a TypeScript project gets ids.ts', () => {
  writeFileSync(path('package.json'), JSON.stringify({ devDependencies: { typescript: '*' } }))
  assert.deepEqual(JSON.parse(init('--json').stdout).ids, { file: 'ids.ts', state: 'created' })
  assert.match(read('ids.ts'), /import \{ idType, type IdOf \} from 'mintid'/)
  assert.match(read('ids.ts'), /export type UserId = IdOf<typeof userId>/)
})

test('an ids file that is there is kept, whichever it is', () => {
  writeFileSync(path('tsconfig.json'), '{}')
  writeFileSync(path('ids.js'), '// mine\n')
  assert.deepEqual(JSON.parse(init('--json').stdout).ids, { file: 'ids.js', state: 'kept' })
  assert.equal(read('ids.js'), '// mine\n')
  assert.equal(existsSync(path('ids.ts')), false)
})

for (const [kind, type] of [
  ['CommonJS', 'commonjs'],
  ['ES module', 'module']
]) {
  test(`the example of a ${kind} project runs`, () => {
    writeFileSync(path('package.json'), JSON.stringify({ type }))
    init()
    mkdirSync(path('node_modules'))
    symlinkSync(root, path('node_modules/mintid'), 'junction')
    const script = "import('./ids.js').then(({ userId }) => console.log(userId.prefix))"
    const { stdout, stderr } = spawnSync(process.execPath, ['--eval', script], { cwd: folder, encoding: 'utf8' })
    assert.deepEqual([stdout, stderr], ['usr_\n', ''])
  })
}

test('an .env that git would take is warned of', () => {
  git('init', '--quiet')
  const { status, stderr } = init()
  assert.equal(status, 0)
  assert.match(stderr, /^mintid: warning: \.env is not ignored by git/)
  writeFileSync(path('.gitignore'), '.env\n')
  assert.equal(init().stderr, '')
  git('add', '--force', '.env')
  assert.match(init().stderr, /not ignored/)
})

test('--dir names another folder', () => {
  mkdirSync(path('app'))
  assert.equal(init('--dir', 'app').status, 0)
  assert.deepEqual(readdirSync(path('app')).sort(), ['.env', 'ids.js'])
  assert.deepEqual(readdirSync(folder), ['app'])
})

test('a folder that is not there is an error', () => {
  const { status, stdout, stderr } = init('--dir', 'nowhere')
  assert.deepEqual([status, stdout], [1, ''])
  assert.match(stderr, /^mintid: ENOENT: .*nowhere/)
})

test('a broken package.json is an error before anything is written', () => {
  writeFileSync(path('package.json'), '{')
  const { status, stderr } = init()
  assert.equal(status, 1)
  assert.match(stderr, /^mintid: ERR_MINTID_CONFIG: package\.json: expected JSON/)
  assert.deepEqual(readdirSync(folder), ['package.json'])
})
