'use strict'

const { spawnSync } = require('node:child_process')
const { appendFileSync, existsSync, readFileSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')
const { newKey } = require('./key.js')

const SQL = 'create table users (id bigint primary key not null)'

module.exports = {
  summary: 'put a key into .env and an example into ids.ts',
  usage: 'mintid init [--dir <folder>] [--json]',
  about: `Adds MINTID_KEY with a new key to .env, writes ids.ts (ids.js in a project without TypeScript), and prints the
SQL for the column. What is there already is never changed: running it twice is harmless.`,
  positionals: [],
  options: {
    dir: { type: 'string', value: 'folder', about: 'the project, instead of the current folder' },
  },
  run({ dir = '.' }) {
    const env = addKey(join(dir, '.env'))
    const ids = addExample(dir)
    const lines = [
      env === 'kept' ? 'kept     .env (it has a MINTID_KEY)' : `${env.padEnd(8)} .env (MINTID_KEY with a new key)`,
      `${ids.status.padEnd(8)} ${ids.file}`,
      '',
      'The column, in PostgreSQL, MySQL, MariaDB and SQLite alike:',
      `  ${SQL};`,
      '',
      'Then start the process with its key:',
      `  node --env-file=.env ${ids.file === 'ids.ts' ? 'dist/main.js' : 'main.js'}`,
    ]
    return { json: { env, ids, sql: SQL }, lines, warnings: isUnignored(dir) ? [UNIGNORED] : [] }
  },
}

const UNIGNORED = '.env is not ignored by git: add a line ".env" to .gitignore before you commit'

const ENV_COMMENT = `# Base key of mintid. Secret: who has it can unmask IDs. Keep it: another key changes every public ID.\n`

/** Adds a key unless there is one: 'created', 'added' or 'kept'. */
function addKey(file) {
  const line = `${ENV_COMMENT}MINTID_KEY=${newKey()}\n`
  if (!existsSync(file)) {
    writeFileSync(file, line, { mode: 0o600, flag: 'wx' })
    return 'created'
  }
  const text = readFileSync(file, 'utf8')
  if (/^\s*(export\s+)?MINTID_KEY\s*=/m.test(text)) return 'kept'
  appendFileSync(file, text === '' || text.endsWith('\n') ? line : `\n${line}`)
  return 'added'
}

/** Writes the example unless there is an ids file: { file, status: 'created' | 'kept' }. */
function addExample(dir) {
  const existing = ['ids.ts', 'ids.js'].find(file => existsSync(join(dir, file)))
  if (existing) return { file: existing, status: 'kept' }
  const { file, text } = exampleFor(dir)
  writeFileSync(join(dir, file), text, { flag: 'wx' })
  return { file, status: 'created' }
}

function exampleFor(dir) {
  const manifest = readManifest(dir)
  const typescript = existsSync(join(dir, 'tsconfig.json'))
    || 'typescript' in { ...manifest.dependencies, ...manifest.devDependencies }
  if (typescript) return { file: 'ids.ts', text: example({ module: true, types: true }) }
  return { file: 'ids.js', text: example({ module: manifest.type === 'module', types: false }) }
}

function readManifest(dir) {
  const file = join(dir, 'package.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
}

const example = ({ module, types }) => `\
// The IDs of this application. Importing this file needs no key, no environment and no lease.
${module ? `import { idType${types ? ', type IdOf' : ''} } from 'mintid'` : "const { idType } = require('mintid')"}

${module ? 'export ' : ''}const userId = idType('usr_', { mask: true })
${types ? 'export type UserId = IdOf<typeof userId>\n' : ''}${module ? '' : '\nmodule.exports = { userId }\n'}
// Once, where the process begins ('local': unique among the processes of this host):
//
//   ${module ? "import { start } from 'mintid'" : "const { start } = require('mintid')"}
//   const ids = await start({ coordinator: 'local', key: process.env.MINTID_KEY })
//   userId.next()       // 'usr_4k9TnZqJs7B'
//   await ids.close()   // at the end
`

// Git tells with 1 that a file is not ignored; with 0 that it is; anything else: no repository, no git.
const isUnignored = dir => spawnSync('git', ['check-ignore', '-q', '.env'], { cwd: dir, stdio: 'ignore' }).status === 1
