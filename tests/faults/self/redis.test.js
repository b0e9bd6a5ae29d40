'use strict'

// What the scenarios rely on in a Redis or Valkey server of theirs; skipped where there is none.

const assert = require('node:assert/strict')
const { mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { after, describe, test } = require('node:test')
const { Redis } = require('../coordinators/redis.js')
const { Client, ask } = require('../coordinators/redis/client.js')
const { RedisFraming } = require('../coordinators/redis/framing.js')
const { TcpProxy } = require('../proxy.js')

const KEY = 'mintid:{default}'
const TOKEN = `${'ab'.repeat(8)}00000000000f4240`
const OTHER = `${'cd'.repeat(8)}00000000000f4240`

const CLAIM = `redis.call('HSET', KEYS[1], 'e' .. ARGV[1], ARGV[2], 't' .. ARGV[1], ARGV[3]) return ARGV[1]`
const RENEW = `return redis.call('HSET', KEYS[1], 'e' .. ARGV[1], ARGV[2])`
const RELEASE = `redis.call('HSET', KEYS[1], 'e' .. ARGV[1], ARGV[2]) return redis.call('HDEL', KEYS[1], 't' .. ARGV[1])`

const fence = (machineId, end, token = TOKEN) => ({ namespace: 'default', machineId, token, start: 1_000_000, end })

describe('a throw-away Redis', { skip: Redis.unavailable() ?? false }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'mintid-faults-self-'))
  const made = []

  /** What `topology` is of, and who runs scripts on the one that is used now. */
  async function server(options) {
    const redis = await Redis.create(join(folder, String(made.length)), undefined, options)
    made.push(redis)
    const run = (script, ...words) => ask(redis.address.port, 'EVAL', script, 1, KEY, ...words)
    const get = (field) => ask(redis.address.port, 'HGET', KEY, field)
    return { redis, run, get }
  }

  after(async () => {
    for (const redis of made) await redis.end()
    rmSync(folder, { recursive: true, force: true })
  })

  test('fences are recorded: a claim, a renewal, a release; what no script did is none', async () => {
    const { redis, run } = await server()
    await run(CLAIM, 1, 1_003_000, TOKEN)
    await run(RENEW, 1, 1_005_500)
    await run(CLAIM, 2, 1_003_000, OTHER)
    await run(RELEASE, 2, 1_001_501)
    await ask(redis.address.port, 'HSET', KEY, 'e3', 1_003_000, 't3', TOKEN)
    assert.deepEqual(await redis.fences(), [fence(1, 1_005_500), fence(2, 1_001_502, OTHER)])
    await run(RENEW, 3, 1_004_000)
    assert.deepEqual((await redis.fences()).at(-1), fence(3, 1_004_000))
  })

  test('a change that the audit does not understand is an error', async () => {
    const { redis, run } = await server()
    await run(`return redis.call('HINCRBY', KEYS[1], 'e1', ARGV[1])`, 1)
    await assert.rejects(redis.fences(), /does not know HINCRBY/)
  })

  test('a crash forgets everything, and what was granted before stays known', async () => {
    const { redis, run, get } = await server()
    await run(CLAIM, 1, 1_003_000, TOKEN)
    await redis.crash()
    await assert.rejects(run(RENEW, 1, 1_004_000), { code: 'ECONNREFUSED' })
    await redis.start()
    assert.equal(await get('e1'), null)
    await run(CLAIM, 1, 1_002_000, OTHER)
    assert.deepEqual(await redis.fences(), [fence(1, 1_003_000), fence(1, 1_002_000, OTHER)])
  })

  test('an append-only file keeps what was written, a power cut what was synced; renewals after it are known', async () => {
    const { redis, run, get } = await server({ settings: { appendonly: 'yes', appendfsync: 'everysec' } })
    await run(CLAIM, 1, 1_003_000, TOKEN)
    await redis.crash()
    await redis.start()
    await run(CLAIM, 2, 1_003_000, OTHER)
    const synced = await redis.stopSyncing()
    await run(CLAIM, 3, 1_003_000, TOKEN)
    await redis.powerCut(synced)
    assert.deepEqual([await get('e1'), await get('e2'), await get('e3')], ['1003000', '1003000', null])
    await run(RENEW, 2, 1_004_000)
    assert.deepEqual(await redis.fences(), [fence(1, 1_003_000), fence(2, 1_004_000, OTHER), fence(3, 1_003_000)])
  })

  test('a promoted replica that fell behind, a snapshot: what came later is forgotten', async () => {
    const { redis, run, get } = await server()
    await run(CLAIM, 1, 1_003_000, TOKEN)
    const replica = await redis.replica()
    await replica.fallBehind()
    await run(CLAIM, 2, 1_003_000, TOKEN)
    await redis.crash()
    await replica.promote()
    assert.deepEqual([await get('e1'), await get('e2')], ['1003000', null])
    await run(RENEW, 1, 1_004_000)
    const copy = await redis.coldCopy()
    await run(CLAIM, 3, 1_003_000, TOKEN)
    await redis.putBack(copy)
    assert.deepEqual([await get('e1'), await get('e3')], ['1004000', null])
    await run(RENEW, 1, 1_005_000)
    assert.deepEqual(await redis.fences(), [fence(1, 1_005_000), fence(2, 1_003_000), fence(3, 1_003_000)])
  })

  test('the registry is dropped: by everybody, by name, by a crowd; and no room is no room', async () => {
    const { redis, run, get } = await server()
    for (const drop of ['flush', 'deleteHash', 'crowdOut']) {
      await run(CLAIM, 1, 1_003_000, TOKEN)
      await redis[drop]()
      assert.equal(await get('e1'), null, drop)
    }
    await redis.fillUp()
    await assert.rejects(run(CLAIM, 1, 1_003_000, TOKEN), { code: 'OOM' })
    await redis.makeRoom()
    await run(CLAIM, 1, 1_003_000, TOKEN)
    await redis.closeIdle(1)
    const client = await Client.connect(redis.address.port)
    await client.closed
  })

  for (const topology of ['sentinel', 'cluster']) {
    test(`${topology}: the replica takes over by itself, without what it missed`, async () => {
      const { redis } = await server({ topology })
      await redis.owner.ask('EVAL', CLAIM, 1, KEY, 1, 1_003_000, TOKEN)
      await redis.fallBehind()
      await redis.owner.ask('EVAL', CLAIM, 1, KEY, 2, 1_003_000, TOKEN)
      await redis.crash()
      await redis.takenOver()
      assert.deepEqual(await redis.owner.ask('HMGET', KEY, 'e1', 'e2'), ['1003000', null])
      await redis.owner.ask('EVAL', RENEW, 1, KEY, 1, 1_004_000)
      assert.deepEqual(await redis.fences(), [fence(1, 1_004_000), fence(2, 1_003_000)])
    })
  }

  test('requests are repeated, and answered once', async () => {
    const { redis } = await server()
    const proxy = await new TcpProxy(() => redis.address, RedisFraming).listen()
    await proxy.repeat()
    for (const protocol of [2, 3]) {
      const client = await Client.connect(proxy.port)
      await client.ask('HELLO', protocol)
      for (let left = 3; left > 0; left--) await client.ask('EVAL', `return redis.call('INCR', KEYS[1])`, 1, 'marks')
      await client.ask('INCR', 'marks')
      client.close()
    }
    assert.equal(await ask(redis.address.port, 'GET', 'marks'), '14')
    assert.equal(proxy.repeated, 6)
    await proxy.close()
  })
})

test('each value of both protocols is one answer, however it is cut; what nobody asked for is none', () => {
  const values = [
    '+OK\r\n',
    '-ERR no\r\n',
    ':-3\r\n',
    '$4\r\na\r\nb\r\n',
    '$-1\r\n',
    '*2\r\n*1\r\n:1\r\n$0\r\n\r\n',
    '*-1\r\n',
    '_\r\n',
    '#t\r\n',
    ',1.5\r\n',
    '(12345678901234567890\r\n',
    '!5\r\nERR x\r\n',
    '=5\r\ntxt:x\r\n',
    '~1\r\n+a\r\n',
    '%1\r\n+a\r\n:1\r\n',
    '|1\r\n+ttl\r\n:3\r\n*1\r\n:1\r\n'
  ]
  const pushed = '>2\r\n+invalidate\r\n*1\r\n+x\r\n'
  const stream = Buffer.from(pushed + values.join(pushed))
  const framing = new RedisFraming()
  const answers = [...stream].flatMap((byte) => framing.answers(Buffer.from([byte])))
  assert.deepEqual(
    answers.filter(({ ends }) => ends).map(({ bytes }) => String(bytes)),
    values
  )
  assert.deepEqual(new RedisFraming().answers(stream), answers)
  const asked = Buffer.from('*1\r\n$4\r\nPING\r\n*2\r\n$7\r\nevalsha\r\n$2\r\n\r\n\r\n')
  assert.deepEqual(
    framing.requests(asked).map(({ bytes, ...rest }) => [bytes.length, rest]),
    [
      [14, { answered: true, repeatable: false }],
      [asked.length - 14, { answered: true, repeatable: true }]
    ]
  )
})
