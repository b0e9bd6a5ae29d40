'use strict'

// IDs that are kept ready: see js/ready-ids.js.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const path = require('node:path')
const { test } = require('node:test')
const { IdGenerator } = require('mintid')
const { heard } = require('../support/events.js')
const { Registry } = require('../support/registry.js')

const KEY = 'a key of the tests, 32 bytes or more'

async function generator(t, options = {}) {
  const ids = await IdGenerator.connect({ coordinator: new Registry().coordinator, key: KEY, ...options })
  t.after(() => ids.close())
  return ids
}

test('one by one, in pairs and as numbers: every ID is another one, and both forms of it are the same number', async (t) => {
  const ids = await generator(t)
  for (const options of [{ mask: true }, { format: 'hex' }, { kind: 'encrypted' }, { dbFormat: 'unsigned' }]) {
    const type = ids.type('usr_', options)
    const numbers = []
    for (let round = 0; round < 1000; round++) {
      const pair = type.nextPair()
      assert.equal(type.toDb(pair.id), pair.db)
      numbers.push(
        pair.db,
        type.nextDb(),
        type.toDb(type.next()),
        ...type.nextManyDb(2),
        type.toDb(type.nextMany(3)[2])
      )
    }
    assert.equal(new Set(numbers).size, numbers.length)
  }
})

test('a type that makes few IDs counts few out', async (t) => {
  const ids = await generator(t)
  const [type, other] = [ids.type('a_'), ids.type('b_')]
  for (let made = 1; made <= 1000; made++) {
    type.next()
    if (made & (made - 1)) continue
    // Blocks double, so no more is kept ready than was used already, and never more than 256.
    const { sequence } = other.inspect(other.format(other.next(), 'base58'))
    assert.ok(sequence <= 2 * made + 2 * Math.log2(made) + 2, `${sequence} counted for ${made} IDs`)
  }
})

test('what was kept ready is thrown away with the lease', async (t) => {
  const ids = await generator(t)
  const type = ids.type('usr_')
  for (let round = 0; round < 300; round++) type.next()
  const { machineId } = ids
  ids.relinquish()
  await heard(ids, 'leaseLost')
  for (const mint of ['next', 'nextDb', 'nextPair'])
    assert.throws(() => type[mint](), { code: 'ERR_MINTID_LEASE_LOST' })
  await ids.ready()
  assert.notEqual(ids.machineId, machineId)
  assert.equal(type.inspect(type.next()).machineId, ids.machineId)
})

test('a closed generator gives out nothing that was kept ready, while another one of the same lease goes on', async (t) => {
  const { coordinator } = new Registry()
  const [ids, other] = [await generator(t, { coordinator }), await generator(t, { coordinator })]
  const [type, others] = [ids.type('usr_'), other.type('usr_')]
  for (let round = 0; round < 300; round++) type.next()
  const closed = ids.close()
  for (const mint of ['next', 'nextDb', 'nextPair']) assert.throws(() => type[mint](), { code: 'ERR_MINTID_CLOSED' })
  await closed
  assert.equal(others.is(others.next()), true)
})

test("an error's stack begins with the caller, whichever way an ID is made", async (t) => {
  const ids = await generator(t)
  const types = [ids.type('a_'), ids.type('s_', { kind: 'sortable' }), ids.type('', { format: 'signed' })]
  for (const type of types) type.next()
  await ids.close()
  for (const type of types) {
    for (const mint of ['next', 'nextDb', 'nextPair', 'nextMany', 'nextManyDb']) {
      assert.throws(
        () => type[mint](...(mint.includes('Many') ? [1] : [])),
        ({ stack }) => stack.split('\n')[1].includes(__filename)
      )
    }
  }
})

test('where compiling is forbidden everything works as well', () => {
  const script = `
    const { IdGenerator } = require('mintid')
    IdGenerator.connect(${JSON.stringify({ coordinator: new Registry().coordinator, key: KEY })}).then(async (ids) => {
      const type = ids.type('usr_', { mask: true })
      const made = [type.next(), ...type.nextMany(3), type.nextPair().id, type.fromDb(type.nextDb())]
      console.log(new Set(type.fromDbMany(type.toDbMany(made))).size)
      await ids.close()
    })`
  const flags = ['--disallow-code-generation-from-strings', '-e', script]
  const { stdout, stderr } = spawnSync(process.execPath, flags, { cwd: __dirname, encoding: 'utf8' })
  assert.deepEqual([stdout.trim(), stderr], ['6', ''])
})

test('many at once: whatever is unusual in a list is found, and named', async (t) => {
  const type = (await generator(t)).type('usr_', { mask: true })
  const [ids, dbs] = [type.nextMany(600), type.nextManyDb(600)]
  assert.deepEqual(type.fromDbMany(type.toDbMany(ids)), ids)
  assert.deepEqual(type.toDbMany(type.fromDbMany([...dbs])), dbs)
  assert.deepEqual(type.fromDbMany([...dbs].map(String)), type.fromDbMany(dbs))
  for (const [bad, reason] of [
    [null, 'type'],
    ['usr_', 'length'],
    [`${ids[0]}x`, 'length'],
    ['usr_é', 'length'],
    ['x', 'prefix']
  ]) {
    assert.throws(() => type.toDbMany(ids.with(500, bad)), {
      code: 'ERR_MINTID_INVALID_ID',
      reason,
      message: /^item 500: /
    })
  }
  for (const [bad, reason] of [
    [2n ** 63n, 'range'],
    [undefined, 'type'],
    [2 ** 60, 'unsafe number'],
    ['+5', 'character']
  ]) {
    assert.throws(() => type.fromDbMany([...dbs].with(500, bad)), { reason, message: /^item 500: / })
  }
  // Two texts whose lengths make up for each other are not two IDs.
  const bare = (await generator(t)).type('')
  const text = bare.nextMany(2).join('')
  assert.throws(() => bare.toDbMany([text.slice(0, 10), text.slice(10)]), { reason: 'length', message: /^item 0: / })
})

test('an engine without external buffers gives the shared word itself, and it moves all the same', async (t) => {
  const { backend } = require(path.join(path.dirname(require.resolve('mintid')), 'js/native.js'))
  const { generatorOptions } = require(path.join(path.dirname(require.resolve('mintid')), 'js/options/generator.js'))
  const handle = backend.open(generatorOptions({ coordinator: new Registry().coordinator }), () => {})
  t.after(() => handle.close())
  const spare = new Uint32Array(new ArrayBuffer(64))
  assert.equal(handle.generation(spare), null)
  assert.equal(await handle.ready(10_000), null)
  const held = Atomics.load(spare, 0)
  assert.ok(held > 0)
  await handle.close()
  assert.ok(Atomics.load(spare, 0) > held)
})
