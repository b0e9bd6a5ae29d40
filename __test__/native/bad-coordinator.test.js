'use strict'

// Places that cannot grant a lease, and machine IDs by hand that are none.

const assert = require('node:assert/strict')
const { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } = require('node:fs')
const { hostname } = require('node:os')
const { dirname, join } = require('node:path')
const { test } = require('node:test')
const { pathToFileURL } = require('node:url')
const { AcquireTimeoutError, ConfigError, CoordinatorError, ExhaustedError, IdGenerator } = require('mintid')
const { heard, recorded } = require('../support/events.js')
const { Peer } = require('../support/peer.js')
const { Registry, temporaryDirectory } = require('../support/registry.js')

const isConfig = (option) => (error) => error instanceof ConfigError && error.option === option

/** Holds a lease until it is told to go. */
async function holder({ mintid, input, say, hear }) {
  const ids = await mintid.IdGenerator.connect(input)
  say(ids.machineId)
  await hear()
  await ids.close()
}

async function assertNotReady(t, options, expected, ready) {
  const ids = new IdGenerator(options)
  t.after(() => ids.close())
  await assert.rejects(ids.ready(ready), expected)
  assert.equal(ids.machineId, null)
  return ids
}

test('a directory that cannot be made is refused at once, with a hint', async (t) => {
  const file = join(temporaryDirectory(), 'file')
  writeFileSync(file, '')
  const coordinator = pathToFileURL(join(file, 'below')).href
  await assertNotReady(t, { coordinator }, (error) => {
    assert.ok(error instanceof CoordinatorError)
    assert.equal(error.code, 'ERR_MINTID_COORDINATOR')
    assert.ok(error.coordinator.startsWith(file))
    assert.match(error.hint, /writable/)
    return true
  })
  await assert.rejects(IdGenerator.connect({ coordinator }), { code: 'ERR_MINTID_COORDINATOR' })
})

test('a directory that was repaired meanwhile serves the next ready()', async (t) => {
  const registry = new Registry()
  writeFileSync(join(registry.directory, 'later'), '')
  const ids = await assertNotReady(t, { coordinator: `${registry.coordinator}/later/on` }, CoordinatorError)
  rmSync(join(registry.directory, 'later'))
  await ids.ready()
  assert.equal(ids.machineId, 0)
})

test('a namespace that was made with another layout is refused', async (t) => {
  const { coordinator } = new Registry()
  const first = await IdGenerator.connect({ coordinator })
  await first.close()
  const layout = { machine: 10, sequence: 12 }
  await assertNotReady(t, { coordinator, layout }, isConfig('layout'))
  const beside = await IdGenerator.connect({ coordinator, layout, namespace: 'beside' })
  await beside.close()
})

test('every machine ID taken: exhausted with the capacity, no wrap, and the next one that is freed', async (t) => {
  const { coordinator } = new Registry()
  const options = { coordinator, layout: { machine: 2 } }
  const holders = [0, 1, 2].map(() => new Peer(t, holder, options))
  const taken = await Promise.all(holders.map((peer) => peer.next()))
  assert.deepEqual([...taken].sort(), [0, 1, 2])

  const ids = new IdGenerator({ ...options, lease: { acquireTimeoutMs: 250 } })
  t.after(() => ids.close())
  const events = recorded(ids)
  await assert.rejects(ids.ready(), (error) => {
    assert.ok(error instanceof ExhaustedError)
    assert.deepEqual([error.code, error.capacity], ['ERR_MINTID_EXHAUSTED', 3])
    return true
  })
  assert.throws(() => ids.type('').next(), { code: 'ERR_MINTID_NOT_READY' })
  await assert.rejects(IdGenerator.connect(options, { acquireTimeoutMs: 20 }), { code: 'ERR_MINTID_EXHAUSTED' })

  const waiting = ids.ready({ acquireTimeoutMs: Infinity })
  holders[1].tell('go')
  await waiting
  await holders[1].end()
  assert.equal(ids.machineId, taken[1])
  const retries = events.filter(({ type }) => type === 'leaseRetry')
  for (const [index, { operation, attempt, delayMs, error }] of retries.entries()) {
    assert.deepEqual([operation, attempt, error.code], ['acquire', index + 1, 'ERR_MINTID_EXHAUSTED'])
    assert.ok(error instanceof ExhaustedError && delayMs >= 0 && delayMs <= 100 * 2 ** index)
  }
  assert.ok(retries.length > 0)
})

test("a range of machine IDs has its own capacity, and the highest ID of a layout is nobody's", async (t) => {
  const registry = new Registry()
  const peer = new Peer(t, holder, registry.only(5))
  assert.equal(await peer.next(), 5)
  const exhausted = (error) => error instanceof ExhaustedError && error.capacity === 1
  await assertNotReady(t, registry.only(5), exhausted, { acquireTimeoutMs: 20 })
  for (const machineIds of [
    { from: 511, to: 511 },
    { from: 0, to: 511 }
  ]) {
    const { coordinator } = new Registry()
    await assertNotReady(t, { coordinator, machineIds }, isConfig('machineIds'))
  }
})

test('who gives up waiting learns how often it was tried and what failed last, if that may pass', async (t) => {
  const registry = new Registry()
  mkdirSync(join(registry.directory, 'default'))
  symlinkSync('6.lease', join(registry.directory, 'default', '6.lease'))
  await assertNotReady(
    t,
    registry.only(6),
    (error) => {
      assert.ok(error instanceof AcquireTimeoutError && error.attempts >= 1)
      assert.ok(error.cause instanceof CoordinatorError)
      assert.match(error.message, /no lease in \d+ ms; attempts: \d+/)
      return true
    },
    { acquireTimeoutMs: 50 }
  )
})

test('a lease file that cannot be used keeps nobody from the others', async () => {
  const registry = new Registry()
  mkdirSync(join(registry.directory, 'default', '0.lease'), { recursive: true })
  await assert.rejects(IdGenerator.connect(registry.only(0)), (error) => error instanceof CoordinatorError)
  const ids = await IdGenerator.connect({ ...registry.only(0), machineIds: { from: 0, to: 1 } })
  assert.equal(ids.machineId, 1)
  await ids.close()
})

test('a lease file that is not one of ours is left alone: its machine ID is not granted', async (t) => {
  const registry = new Registry()
  const file = join(registry.directory, 'default', '6.lease')
  mkdirSync(dirname(file))
  writeFileSync(file, 'precious')
  await assertNotReady(t, registry.only(6), (error) => error instanceof ExhaustedError, { acquireTimeoutMs: 20 })
  assert.equal(readFileSync(file, 'utf8'), 'precious')
})

test("'local' in a container, or without a home, wants the directory by name", async (t) => {
  async function tries({ mintid, say }) {
    const ids = new mintid.IdGenerator({ coordinator: 'local' })
    await ids.ready().catch(say)
  }
  const container = new Peer(t, tries, {}, { env: { container: 'docker', HOME: '/nowhere' } })
  const homeless = new Peer(t, tries, {}, { env: { HOME: undefined, XDG_STATE_HOME: undefined } })
  for (const peer of [container, homeless]) {
    const { code, option, message } = await peer.next()
    assert.deepEqual([code, option], ['ERR_MINTID_CONFIG', 'coordinator'])
    assert.match(message, /file:\/\/\/.*(container|home)|(container|home).*file:\/\/\//)
    assert.equal((await peer.end()).code, 0)
  }
})

const inContainer = existsSync('/.dockerenv') || existsSync('/run/.containerenv')

test("'local' lies in the XDG state home", { skip: inContainer && 'this is a container' }, async (t) => {
  const state = temporaryDirectory()
  const peer = new Peer(t, holder, { coordinator: 'local' }, { env: { XDG_STATE_HOME: state } })
  assert.equal(await peer.next(), 0)
  assert.ok(existsSync(join(state, 'mintid', 'default', '0.lease')))
  peer.tell('go')
  await peer.end()
})

test('a machine ID by hand: the number, the end of a variable, the place in a list', async (t) => {
  t.after(() => delete process.env.MINTID_TEST_POD)
  process.env.MINTID_TEST_POD = 'pod-web-17'
  const good = [
    [7, 7],
    [{ env: 'MINTID_TEST_POD' }, 17],
    [{ hosts: ['~last', hostname(), '!first'] }, 1]
  ]
  for (const [machineId, expected] of good) {
    const ids = await IdGenerator.connect({ machineId })
    assert.equal(ids.machineId, expected)
    assert.equal(ids.lease.expiresAt, null)
    const type = ids.type('')
    assert.equal(type.inspect(type.next()).machineId, expected)
    await ids.close()
  }
})

test('a variable or a list that gives no machine ID is refused when a lease is wanted', async (t) => {
  t.after(() => delete process.env.MINTID_TEST_POD)
  for (const value of [undefined, '', 'pod', 'pod-5a', 'pod-512', 'pod-99999999999999999999', 'pod-٣']) {
    if (value === undefined) delete process.env.MINTID_TEST_POD
    else process.env.MINTID_TEST_POD = value
    await assertNotReady(t, { machineId: { env: 'MINTID_TEST_POD' } }, isConfig('machineId'))
  }
  for (const hosts of [['not this host'], [`${hostname()}!`], ['10.255.255.254', 'x']]) {
    await assertNotReady(t, { machineId: { hosts } }, isConfig('machineId'))
  }
})

test('machine IDs beyond the layout are refused before anything starts', () => {
  for (const machineId of [-1, 512, 1.5, NaN, '7', {}, { env: 'A', hosts: ['b'] }, { pod: 'x' }, null, [7]]) {
    assert.throws(() => new IdGenerator({ machineId }), { code: 'ERR_MINTID_CONFIG' })
  }
})

test('a lease that is waited for can be had by somebody else meanwhile', async (t) => {
  const registry = new Registry()
  const peer = new Peer(t, holder, registry.only(2))
  await peer.next()
  const ids = new IdGenerator(registry.only(2))
  t.after(() => ids.close())
  const waiting = ids.ready({ acquireTimeoutMs: Infinity })
  await heard(ids, 'leaseRetry')
  peer.kill('SIGKILL')
  await waiting
  assert.equal(ids.machineId, 2)
})
