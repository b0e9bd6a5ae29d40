'use strict'

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const { mkdtemp, rm } = require('node:fs/promises')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { createInterface } = require('node:readline')
const { test } = require('node:test')
const { pathToFileURL } = require('node:url')
const { TEST_KEY } = require('mintid/testing')

const main = join(__dirname, '..', 'dist', 'main.js')

test('the server mints real IDs, and ends by itself when it is told to', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'mintid-nestjs-'))
  const env = { ...process.env, PORT: '0', MINTID_URL: pathToFileURL(directory).href, MINTID_KEY: TEST_KEY }
  const server = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(async () => {
    server.kill('SIGKILL')
    await rm(directory, { recursive: true })
  })

  const users = `${await urlOf(server)}/users`
  const response = await fetch(users, { method: 'POST', body: new URLSearchParams({ name: 'Ada' }) })
  const { id } = await response.json()
  assert.match(id, /^usr_[1-9A-HJ-NP-Za-km-z]{11}$/)
  assert.deepEqual(await (await fetch(`${users}/${id}`)).json(), { id, name: 'Ada' })

  // After its shutdown hooks Nest sends itself the same signal again.
  server.kill('SIGTERM')
  assert.deepEqual(await once(server, 'exit'), [null, 'SIGTERM'])
})

/** Where a server says that it listens. */
async function urlOf(server) {
  for await (const line of createInterface(server.stdout)) {
    const url = /http:\/\/[\w.:[\]]+/.exec(line)
    if (url) return url[0]
  }
  throw new Error('the server ended before it listened')
}
