import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { TEST_KEY } from 'mintid/testing'

const project = fileURLToPath(new URL('..', import.meta.url))
const cli = createRequire(import.meta.url).resolve('next/dist/bin/next')
const leases = join(project, '.mintid')

before(() => rm(leases, { recursive: true, force: true }))

test('the build needs no environment and leases nothing', async () => {
  const build = next(['build'], {})
  build.stdout.pipe(process.stdout)
  assert.deepEqual(await once(build, 'exit'), [0, null])
  assert.equal(existsSync(leases), false)
})

test('the server that was built mints and parses real IDs', async (t) => {
  const server = next(['start', '--port', '0'], { MINTID_KEY: TEST_KEY })
  t.after(() => server.kill('SIGKILL'))
  const users = `${await urlOf(server)}/users`

  const created = await fetch(users, { method: 'POST', body: JSON.stringify({ name: 'Ada' }) })
  assert.equal(created.status, 201)
  const { id } = await created.json()
  assert.match(id, /^usr_[1-9A-HJ-NP-Za-km-z]{11}$/)
  assert.deepEqual(await (await fetch(`${users}/${id}`)).json(), { id, name: 'Ada' })

  const refused = await fetch(`${users}/${id.slice(0, -1)}`)
  assert.equal(refused.status, 400)
  assert.equal((await refused.json()).code, 'ERR_MINTID_INVALID_ID')

  server.kill('SIGTERM')
  await once(server, 'exit')
})

/** Runs Next with these environment variables and no others. */
function next(args, env) {
  return spawn(process.execPath, [cli, ...args], {
    cwd: project,
    env: { PATH: process.env.PATH, NEXT_TELEMETRY_DISABLED: '1', ...env },
    stdio: ['ignore', 'pipe', 'inherit']
  })
}

/** Where a server says that it listens. */
async function urlOf(server) {
  for await (const line of createInterface(server.stdout)) {
    const url = /http:\/\/[\w.:]+/.exec(line)
    if (url) return url[0]
  }
  throw new Error('the server ended before it listened')
}
