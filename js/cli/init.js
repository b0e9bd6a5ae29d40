'use strict'

const { spawnSync } = require('node:child_process')
const { appendFileSync, existsSync, readFileSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')
const { ConfigError } = require('../errors.js')
const { exampleOf } = require('./example.js')
const { newKey } = require('./key.js')

const SQL = 'create table users (id bigint primary key not null)'

const KEY_COMMENT = '# The base key of mintid. Keep it secret, and keep it: another key changes every masked ID.'

const NOT_IGNORED = '.env is not ignored by git: put a line ".env" into .gitignore before you commit'

module.exports = {
  summary: 'write a key into .env and an example into ids.ts',
  usage: 'init [--dir <folder>] [--json]',
  about: `Writes MINTID_KEY with a new key into .env and an example into ids.ts (ids.js where there is no TypeScript),
and prints the SQL for a table. What is there already is left as it is, so it may be run again.`,
  words: [],
  flags: {
    dir: { type: 'string', value: 'folder', about: 'the project; by default the current folder' }
  },

  run({ dir = '.' }) {
    const project = projectIn(dir)
    const env = writeKey(join(dir, '.env'))
    const ids = writeExample(dir, project)
    const lines = [
      `.env     ${env === 'kept' ? 'has a MINTID_KEY, left as it is' : `${env}, MINTID_KEY is a new key`}`,
      `${ids.file.padEnd(8)} ${ids.state === 'kept' ? 'is there, left as it is' : ids.state}`,
      '',
      'A table for it, in PostgreSQL, MySQL, MariaDB and SQLite alike:',
      `  ${SQL};`,
      '',
      'Start the process with its key:',
      '  node --env-file=.env main.js'
    ]
    return { json: { env, ids, sql: SQL }, lines, warnings: isIgnored(dir) ? [] : [NOT_IGNORED] }
  }
}

/** What kind of project lies in a folder: { typescript, modules }. Read before anything is written. */
function projectIn(dir) {
  const file = join(dir, 'package.json')
  const { type, dependencies, devDependencies } = existsSync(file) ? parsed(readFileSync(file, 'utf8')) : {}
  const typescript = existsSync(join(dir, 'tsconfig.json')) || 'typescript' in { ...dependencies, ...devDependencies }
  return { typescript, modules: typescript || type === 'module' }
}

function parsed(text) {
  try {
    return JSON.parse(text) ?? {}
  } catch (cause) {
    throw new ConfigError(`package.json: expected JSON: ${cause.message}`, { option: 'dir', cause })
  }
}

/** Puts a key into a file that has none: 'created', 'extended' or 'kept'. */
function writeKey(file) {
  const lines = `${KEY_COMMENT}\nMINTID_KEY=${newKey()}\n`
  if (!existsSync(file)) {
    writeFileSync(file, lines, { mode: 0o600, flag: 'wx' })
    return 'created'
  }
  const text = readFileSync(file, 'utf8')
  const empty = /^(\s*(?:export\s+)?MINTID_KEY\s*=)[ \t]*$/m
  if (empty.test(text)) {
    writeFileSync(file, text.replace(empty, `$1${newKey()}`))
    return 'extended'
  }
  if (/^\s*(export\s+)?MINTID_KEY\s*=/m.test(text)) return 'kept'
  appendFileSync(file, text === '' || text.endsWith('\n') ? lines : `\n${lines}`)
  return 'extended'
}

/** Writes the example where there is none: { file, state: 'created' | 'kept' }. */
function writeExample(dir, project) {
  const existing = ['ids.ts', 'ids.js'].find((file) => existsSync(join(dir, file)))
  if (existing) return { file: existing, state: 'kept' }
  const file = project.typescript ? 'ids.ts' : 'ids.js'
  writeFileSync(join(dir, file), exampleOf(project), { flag: 'wx' })
  return { file, state: 'created' }
}

/** Whether git leaves .env alone: its 0 is a yes, its 1 a no, and anything else says that there is no repository. */
function isIgnored(dir) {
  return spawnSync('git', ['check-ignore', '--quiet', '.env'], { cwd: dir, stdio: 'ignore' }).status !== 1
}
