'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const { mkdtempSync, readFileSync, rmSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { after, test } = require('node:test')
const { pathToFileURL } = require('node:url')

const project = join(__dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'mintid-script-'))
after(() => rmSync(folder, { recursive: true }))

const template = readFileSync(join(project, '.env.example'), 'utf8')

test('rows come out with IDs that belong together, anew in every run', () => {
  const key = run('npx', ['mintid', 'key']).stdout.trim()
  assert.match(key, /^[\w-]{43}$/)
  const url = pathToFileURL(join(folder, 'leases')).href
  const text = template.replace('MINTID_KEY=', `MINTID_KEY=${key}`).replace(/^# MINTID_URL=.*/m, `MINTID_URL=${url}`)

  const rows = [...rowsOf(seed(text)), ...rowsOf(seed(text))]
  assert.equal(rows.length, 6)
  assert.equal(new Set(rows.map(({ db }) => db)).size, 6)
  assert.equal(new Set(rows.map(({ id }) => id)).size, 6)
})

test('without a key the script says which option lacks', () => {
  const { status, stdout, stderr } = seed(template)
  assert.notEqual(status, 0)
  assert.equal(stdout, '')
  assert.match(stderr, /ERR_MINTID_CONFIG/)
  assert.match(stderr, /option: 'key'/)
})

/** Runs the script with a .env of this text. */
function seed(text) {
  const file = join(folder, '.env')
  writeFileSync(file, text)
  return run(process.execPath, [`--env-file=${file}`, 'seed.js'])
}

/** What the script printed: { db, id } for each row. */
function rowsOf({ status, stdout, stderr }) {
  assert.equal(status, 0, stderr)
  const lines = stdout.trim().split('\n')
  return lines.map((line) => /\((?<db>-?\d+), '\w+'\); -- (?<id>usr_[1-9A-HJ-NP-Za-km-z]{11})$/.exec(line).groups)
}

function run(command, args) {
  const { MINTID_KEY, MINTID_URL, ...env } = process.env
  return spawnSync(command, args, { cwd: project, env, encoding: 'utf8' })
}
