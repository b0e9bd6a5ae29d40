import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { TEST_KEY } from 'mintid/testing'

const main = fileURLToPath(new URL('../main.js', import.meta.url))

test('the server mints real IDs, and ends by itself when it is told to', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'mintid-fastify-'))
  const env = { ...process.env, PORT: '0', MINTID_URL: pathToFileURL(directory).href, MINTID_KEY: TEST_KEY }
  const server = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(async () => {
    server.kill('SIGKILL')
    await rm(directory, { recursive: true })
  })

  const users = `${await urlOf(server)}/users`
  const response = await fetch(users, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Ada' })
  })
  const { id } = await response.json()
  assert.match(id, /^usr_[1-9A-HJ-NP-Za-km-z]{11}$/)
  assert.deepEqual(await (await fetch(`${users}/${id}`)).json(), { id, name: 'Ada' })

  server.kill('SIGTERM')
  assert.deepEqual(await once(server, 'exit'), [0, null])
})

/** Where a server says that it listens. */
async function urlOf(server) {
  for await (const line of createInterface(server.stdout)) {
    const url = /http:\/\/[\w.:]+/.exec(line)
    if (url) return url[0]
  }
  throw new Error('the server ended before it listened')
}
