'use strict'

// What the scenarios rely on in a MariaDB or MySQL server of theirs; skipped where there is none.

const assert = require('node:assert/strict')
const { mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { after, before, describe, test } = require('node:test')
const { Mysql } = require('../coordinators/mysql.js')
const { changesIn } = require('../coordinators/mysql/audit.js')
const { MysqlFraming } = require('../coordinators/mysql/framing.js')
const { client: ask } = require('../coordinators/mysql/server.js')
const { TcpProxy } = require('../proxy.js')

const LEASES = `create table if not exists mintid_leases (namespace varchar(255), id int, token binary(16),
  expires_at datetime(6) not null, primary key (namespace, id)) engine=InnoDB;
  create table if not exists mintid_registry (namespace varchar(255) primary key, incarnation varchar(255))`

/** Bytes that a log has to escape, the escape itself, and zeros at the end, which it leaves out. */
const RANDOM = '27005c0aff80c3a9'
const START = 0x1000000

/** A claim of a machine ID from START on, that ends so many seconds later; the token ends with its start. */
const claim = (id, seconds) => `insert into mintid_leases values ('n', ${id},
  concat(unhex('${RANDOM}'), unhex(lpad(hex(${START}), 16, '0'))), ${endOf(seconds)})
  on duplicate key update token = values(token), expires_at = values(expires_at)`

const endOf = (seconds) => `'1970-01-01 00:00:00' + interval ${START * 1000 + seconds * 1e6} microsecond`

const fence = (machineId, ms) => ({
  namespace: 'n',
  machineId,
  token: `${RANDOM}0000000001000000`,
  start: START,
  end: START + ms
})

describe('a throw-away MariaDB or MySQL', { skip: Mysql.unavailable() ?? false }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'mintid-faults-self-'))
  let made = 0
  const servers = []

  /** A server with a table of leases that mintid's own user made. */
  async function server() {
    const mysql = await Mysql.create(join(folder, String(++made)), join(folder, 'shared'))
    servers.push(mysql)
    const client = (text, port = mysql.address.port) => ask({ port, user: 'app', database: 'app' }, text)
    await client(LEASES)
    return { mysql, client }
  }

  after(async () => {
    for (const mysql of servers) await mysql.end()
    rmSync(folder, { recursive: true, force: true })
  })

  let shared
  before(async () => {
    shared = await server()
  })

  test('fences are recorded: a claim, a renewal, a release; what was rolled back is not', async () => {
    const { mysql, client } = shared
    await client(claim(1, 3.9999))
    await client(`update mintid_leases set expires_at = ${endOf(5.5)} where id = 1`)
    await client(claim(2, 3))
    await client(`update mintid_leases set token = null, expires_at = ${endOf(1.5)} where id = 2`)
    await client(`begin; ${claim(3, 3)}; rollback`)
    assert.deepEqual(await mysql.fences(), [fence(1, 5500), fence(2, 1501)])
  })

  test('tokens are recorded whatever their bytes are', async () => {
    const { mysql, client } = shared
    const tokens = Array.from({ length: 16 }, (_, row) =>
      Buffer.from(Array.from({ length: 16 }, (_, at) => at * 16 + row))
    )
    for (const [row, token] of tokens.entries())
      await client(`insert into mintid_leases values ('n', ${100 + row}, x'${token.toString('hex')}', ${endOf(2)})`)
    const recorded = (await mysql.fences()).filter(({ machineId }) => machineId >= 100).map(({ token }) => token)
    assert.deepEqual(
      recorded,
      tokens.map((token) => token.toString('hex'))
    )
  })

  test('a table that is dropped and made again is watched again', async () => {
    const { mysql, client } = shared
    await mysql.wipe({ everything: true })
    await client(LEASES)
    await client(claim(9, 2))
    assert.deepEqual((await mysql.fences()).at(-1), fence(9, 2000))
  })

  const skip = tmpdir().startsWith('/dev/shm') && 'MariaDB loses nothing there'
  test('a crash loses what was confirmed early, and what it lost stays known', { skip }, async () => {
    const { mysql, client } = await server()
    await mysql.flushLate()
    await client(claim(1, 3))
    await mysql.crash()
    await mysql.start()
    assert.deepEqual(await client('select * from mintid_leases'), [])
    assert.deepEqual(await mysql.fences(), [fence(1, 3000)])
  })

  test('a promoted replica that fell behind, a dump, a cold copy: what came later is forgotten', async () => {
    const { mysql, client } = await server()
    const count = async () => Number(await client('select count(*) from mintid_leases'))
    await client(claim(1, 3))
    const [dump, copy] = [await mysql.dump(), await mysql.coldCopy()]
    await client(claim(2, 3))
    const replica = await mysql.replica()
    await replica.fallBehind()
    await client(claim(3, 3))
    assert.equal(await count(), 3)
    await mysql.crash()
    await replica.promote()
    assert.equal(await count(), 2)
    await mysql.restore(dump)
    assert.equal(await count(), 1)
    await client(claim(4, 3))
    await mysql.restoreElsewhere(dump)
    assert.equal(await count(), 1)
    await client(claim(5, 3))
    await mysql.putBack(copy)
    assert.equal(await count(), 1)
    await client(claim(6, 3))
    assert.deepEqual(
      (await mysql.fences()).map(({ machineId }) => machineId),
      [1, 2, 3, 4, 5, 6]
    )
  })

  test('a session has the time zone of its server', async () => {
    const { mysql, client } = shared
    await mysql.setTimeZone('Pacific/Kiritimati')
    const row = await client('select @@session.time_zone, timestampdiff(hour, utc_timestamp(), now())')
    assert.deepEqual(row, ['Pacific/Kiritimati\t14'])
  })

  test('requests are repeated, and answered once: with rows, with many results, with an error', async () => {
    const { mysql, client } = shared
    const proxy = await new TcpProxy(() => mysql.address, MysqlFraming).listen()
    await client('create table marks (id int auto_increment primary key, text varchar(300))')
    await proxy.repeat()
    for (let round = 0; round < 3; round++) {
      await client('insert into marks (text) values (repeat("x", 300))', proxy.port)
      await assert.rejects(client('select wrong', proxy.port), /1054/)
      const rows = await client(
        'select 1 union select 2; select text from marks limit 1; do 0; select null',
        proxy.port
      )
      assert.deepEqual(rows, ['1', '2', 'x'.repeat(300), 'NULL'])
    }
    await proxy.close()
    assert.deepEqual(await client('select count(*) from marks'), ['6'])
    assert.ok(proxy.repeated >= 9, `${proxy.repeated} were answered`)
  })
})

test('a log has the row after a change, and the token before a release', () => {
  const row = (token, seconds) =>
    `###   @1='n'\n###   @2=7\n###   @3=${token}\n###   @4='1970-01-01 00:00:0${seconds}.999900'\n`
  const texts = { false: String.raw`'\x27\x0A\q\xff'`, true: String.raw`'\'\n\\q\xff'` }
  for (const letters of [false, true]) {
    const token = texts[letters]
    const text = ['app', 'mintid_registry', 'mintid_leases']
      .map((name) => `### UPDATE \`app\`.\`${name}\`\n### WHERE\n${row(token, 1)}### SET\n${row('NULL', 2)}# at 1\n`)
      .join('')
    const released = { namespace: 'n', id: 7, token: `270a5c71ff${'0'.repeat(22)}`, expires: 2999, released: true }
    assert.deepEqual(changesIn(text, { letters }), [released])
    const made = (name) => `### INSERT INTO \`app\`.\`mintid_leases\`\n### SET\n${row(name, 3)}`
    const granted = { ...released, expires: 3999, released: false }
    assert.deepEqual(changesIn(made(token) + made('NULL'), { letters }), [granted])
  }
})
