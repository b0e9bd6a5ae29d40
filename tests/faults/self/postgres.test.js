'use strict'

// What the scenarios rely on in a PostgreSQL server of theirs; skipped where there is none.

const assert = require('node:assert/strict')
const { mkdtempSync, chmodSync, rmSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { after, before, describe, test } = require('node:test')
const { fencesOf } = require('../coordinators/fences.js')
const { Postgres } = require('../coordinators/postgres.js')
const { binary, run } = require('../coordinators/postgres/cluster.js')
const { PostgresFraming } = require('../coordinators/postgres/framing.js')
const { TcpProxy } = require('../proxy.js')

const LEASES = `create table if not exists mintid_leases (namespace text, id int, token bytea, expires_at timestamptz,
  primary key (namespace, id))`

/** A claim of a machine ID from 1000 s on; the token ends with its start. */
const claim = (id, ends) => `insert into mintid_leases values ('n', ${id}, '\\x${'ab'.repeat(8)}' || int8send(1000000),
  to_timestamp(${ends})) on conflict (namespace, id) do update set token = excluded.token, expires_at = excluded.expires_at`

const fence = (machineId, end) => ({
  namespace: 'n',
  machineId,
  token: `${'ab'.repeat(8)}00000000000f4240`,
  start: 1_000_000,
  end
})

describe('a throw-away PostgreSQL', { skip: Postgres.unavailable() ?? false }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'mintid-faults-self-'))
  chmodSync(folder, 0o755)
  let made = 0
  const servers = []

  /** A server with a table of leases that mintid's own role made. */
  async function server() {
    const postgres = await Postgres.create(join(folder, String(++made)), join(folder, 'shared'))
    servers.push(postgres)
    const client = (text, port = postgres.address.port) =>
      run(binary('psql'), ['-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', postgres.url(port), '-c', text])
    await client(LEASES)
    return { postgres, client }
  }

  after(async () => {
    for (const postgres of servers) await postgres.end()
    rmSync(folder, { recursive: true, force: true })
  })

  let shared
  before(async () => {
    shared = await server()
  })

  test('fences are recorded: a claim, a renewal, a release; what was rolled back is not', async () => {
    const { postgres, client } = shared
    await client(claim(1, 1003.9999))
    await client(`update mintid_leases set expires_at = to_timestamp(1005.5) where id = 1`)
    await client(claim(2, 1003))
    await client(`update mintid_leases set token = null, expires_at = to_timestamp(1001.5) where id = 2`)
    await client(`begin; ${claim(3, 1003)}; rollback`)
    assert.deepEqual(await postgres.fences(), [fence(1, 1_005_500), fence(2, 1_001_501)])
    const granted = [fence(1, 1_005_500), fence(2, 1_001_501), fence(3, 1_003_000)]
    assert.deepEqual(await postgres.fences({ forgets: true }), granted)
  })

  test('a table that is dropped and made again is watched again', async () => {
    const { postgres, client } = shared
    await postgres.wipe()
    await client(LEASES)
    await client(claim(9, 1002))
    assert.deepEqual((await postgres.fences()).at(-1), fence(9, 1_002_000))
  })

  test('a crash loses what was confirmed early, and what it lost stays known', async () => {
    const { postgres, client } = await server()
    await postgres.confirmEarly()
    await client(claim(1, 1003))
    await postgres.crash()
    await postgres.start()
    assert.deepEqual([await postgres.fences(), await postgres.fences({ forgets: true })], [[], [fence(1, 1_003_000)]])
  })

  test('a promoted replica that fell behind, a dump, a cold copy: what came later is forgotten', async () => {
    const { postgres, client } = await server()
    const count = async () => Number((await client('select count(*) from mintid_leases')).stdout)
    await client(claim(1, 1003))
    const [dump, copy] = [await postgres.dump(), await postgres.coldCopy()]
    await client(claim(2, 1003))
    const replica = await postgres.replica()
    await replica.fallBehind()
    await client(claim(3, 1003))
    assert.equal(await count(), 3)
    await postgres.crash()
    await replica.promote()
    assert.equal(await count(), 2)
    await postgres.restore(dump)
    assert.equal(await count(), 1)
    await client(claim(4, 1003))
    await postgres.restoreElsewhere(dump)
    assert.equal(await count(), 1)
    await client(claim(5, 1003))
    await postgres.putBack(copy)
    assert.equal(await count(), 1)
    await client(claim(6, 1003))
    const ids = (await postgres.fences({ forgets: true })).map(({ machineId }) => machineId)
    assert.deepEqual([...new Set(ids)].sort(), [1, 2, 3, 4, 5, 6])
  })

  test('a session has the time zone of its role', async () => {
    const { postgres, client } = shared
    await postgres.setTimeZone('Pacific/Kiritimati')
    assert.equal((await client('show timezone')).stdout.trim(), 'Pacific/Kiritimati')
  })

  test('requests are repeated in both protocols, and answered once', async () => {
    const { postgres, client } = shared
    const proxy = await new TcpProxy(() => postgres.address, PostgresFraming).listen()
    await client('create table marks (id int)')
    const script = join(folder, 'mark.sql')
    writeFileSync(script, 'insert into marks values (1);\n')
    await proxy.repeat()
    for (const protocol of ['simple', 'extended', 'prepared']) {
      const args = ['-n', '-M', protocol, '-t', '5', '-f', script, postgres.url(proxy.port)]
      const { stdout } = await run(binary('pgbench'), args)
      assert.match(stdout, /actually processed: 5\/5/)
    }
    assert.equal((await client('select count(*) from marks', proxy.port)).stdout.trim(), '30')
    await proxy.close()
  })
})

test('the fence of a token grows with renewals and ends with a release', () => {
  const change = (at, expires, released = false) => ({
    at,
    namespace: 'n',
    id: 1,
    token: `${'ab'.repeat(8)}00000000000f4240`,
    expires,
    released
  })
  assert.deepEqual(fencesOf([change(1, 5.9)]), [fence(1, 5)])
  assert.deepEqual(fencesOf([change(2, 9), change(1, 5)]), [fence(1, 9)])
  assert.deepEqual(fencesOf([change(1, 5), change(2, 9), change(3, 7.2, true)]), [fence(1, 8)])
})
