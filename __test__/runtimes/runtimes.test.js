'use strict'

// What must hold on every runtime: `npm test -- runtimes` names the binaries of Bun and Deno in MINTID_BUN and MINTID_DENO.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const path = require('node:path')
const process = require('node:process')
const { test } = require('node:test')
const { IdGenerator } = require('mintid')
const { Registry } = require('../support/registry.js')

const LONGEST_MS = 60_000

const RUNTIMES = [
  { runtime: 'Node.js', command: [process.execPath] },
  { runtime: 'Bun', command: [process.env.MINTID_BUN] },
  { runtime: 'Deno', command: [process.env.MINTID_DENO, 'run', '-A'] }
]

for (const { runtime, command } of RUNTIMES) {
  const options = { skip: !command[0] && 'not installed' }

  test(
    `${runtime}: nothing of a lease is given out after its loss was delivered, and no answer before its events`,
    options,
    () => {
      const { status, stdout, stderr } = play(command, 'loss.js', new Registry().coordinator)
      assert.deepEqual([status, stderr], [0, ''])
      console.log(stdout.trimEnd())
    }
  )

  test(`${runtime}: functions of the user's are called on their thread, and keep nothing alive`, options, () => {
    const { status, stdout, stderr } = play(command, 'functions.js')
    const said = ['map: renew() threw Error: no route', 'map did not answer renew within 100 ms', '1', '1', '']
    assert.deepEqual([status, stdout, stderr], [0, said.join('\n'), ''])
  })

  test(`${runtime}: a pending ready() keeps the process alive, and nothing else does`, options, async () => {
    const [occupied, free] = [new Registry(), new Registry()]
    const holder = await IdGenerator.connect(occupied.only(1))
    const { status, stdout, stderr } = play(command, 'waiting.js', occupied.coordinator, free.coordinator)
    assert.deepEqual([status, stdout, stderr], [0, 'ERR_MINTID_EXHAUSTED\n15\n', ''])
    await holder.close()
  })

  test(`${runtime}: import finds every name that require does`, options, () => {
    const { status, stdout, stderr } = play(command, 'imports.mjs')
    assert.deepEqual([status, stderr], [0, ''])
    const names = JSON.parse(stdout)
    for (const name of Object.keys(require('mintid'))) assert.ok(names.includes(name), name)
  })
}

/** Runs a script of this folder to its end. */
function play([binary, ...args], script, ...registries) {
  const argv = [...args, path.join(__dirname, script), ...registries]
  return spawnSync(binary, argv, { encoding: 'utf8', timeout: LONGEST_MS })
}
