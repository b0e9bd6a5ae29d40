'use strict'

// Native functions called as nobody should call them: past the JavaScript that checks, too late, and while all ends.

const assert = require('node:assert/strict')
const { join } = require('node:path')
const { test } = require('node:test')
const { inPackage } = require('../package.js')
const { Peer } = require('../support/peer.js')
const { Registry } = require('../support/registry.js')

const RAW = {
  addon: inPackage('binding.js'),
  hostile: join(__dirname, '..', 'support', 'hostile.js'),
  spec: {
    prefix: 'usr_',
    kind: 'sortable',
    base: 'counter',
    format: 'base58',
    dbFormat: 'raw',
    mask: false,
    cipher: 'speck',
    accepts: [],
    persistPrefix: false
  },
  options: {
    coordinator: 'fixed',
    machineId: { number: 1 },
    namespace: 'default',
    lease: { ttlMs: 300_000, firstTtlMs: 60_000, renewEveryMs: 60_000, requestTimeoutMs: 5000 },
    layout: { partition: 0, time: 42, machine: 9, sequence: 13, epochMs: Date.UTC(2025, 0, 1) }
  }
}

/** The scene must live to say 'done'; what it said before tells which call it did not survive. */
async function assertSurvives(t, scene, input) {
  const { code, signal, said, stderr } = await new Peer(t, scene, input).end()
  assert.deepEqual([said.at(-1), code, signal], ['done', 0, null], `died at: ${said.at(-1)}\n${stderr}`)
}

test('raw callbacks with every kind of value, as any receiver', (t) => assertSurvives(t, rawCallbacks, RAW))

async function rawCallbacks({ input, say }) {
  const addon = require(input.addon)
  const { hostileValues } = require(input.hostile)
  const handle = addon.open(input.options, () => {})
  await handle.ready(10_000)
  const attempt = (call, receiver, values) => {
    try {
      if (call.apply(receiver, values) === undefined) addon.takeFailure()
    } catch (error) {
      if (!(error instanceof Error)) throw error
    }
  }
  // What functions of three arguments may want, for one of them to be replaced.
  const wanted = () => [
    ['usr_11111111111', 15, 0],
    [new Uint8Array(4096), new BigInt64Array(256), 10],
    [new Uint8Array(4096), new BigUint64Array(256), 0]
  ]
  for (const owner of [null, handle]) {
    const binding = addon.bind(input.spec, owner)
    const functions = Object.entries(binding).filter(([, member]) => typeof member === 'function')
    for (const [method, call] of functions) {
      for (const [name, value] of Object.entries(hostileValues())) {
        say(`${owner ? 'held' : 'free'} ${method}, ${name}`)
        attempt(call, value, [])
        attempt(call, value, [value, value, value])
        for (const at of [0, 1, 2])
          for (const good of wanted()) attempt(call, value, Object.assign(good, { [at]: value }))
      }
    }
    if (binding.toDb('usr_11111111111').length !== 8) throw new Error('it does not convert any more')
  }
  await handle.close()
  say('done')
}

test('what makes handles and bindings, with every kind of value', (t) => assertSurvives(t, rawConstructors, RAW))

async function rawConstructors({ input, say }) {
  const addon = require(input.addon)
  const { hostileValues } = require(input.hostile)
  const opened = () => addon.open({ ...input.options, coordinator: 'none' }, () => {})
  const handle = opened()
  const attempt = (call) => {
    try {
      const made = call()
      if (made instanceof Promise) made.catch(() => {})
    } catch (error) {
      if (!(error instanceof Error)) throw error
    }
  }
  const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(handle)).filter((name) => name !== 'constructor')
  // napi-rs makes room for as many items as an array says it has; js/options lets no such array through.
  const { 'the longest sparse array': _, ...values } = hostileValues()
  for (const [name, value] of Object.entries(values)) {
    say(name)
    for (const known of ['coordinator', 'directory', 'machineIds', 'key', ...Object.keys(input.options)]) {
      attempt(() => addon.open({ ...input.options, [known]: value }, () => {}))
    }
    for (const known of Object.keys(input.spec)) attempt(() => addon.bind({ ...input.spec, [known]: value }, null))
    for (const make of [addon.open, addon.bind]) attempt(() => make(value, value))
    attempt(() => addon.open(input.options, value))
    attempt(() => addon.bind(input.spec, value))
    attempt(() => addon.takeFailure(value))
    attempt(() => new handle.constructor(value))
    for (const method of methods) {
      attempt(() => opened()[method](value))
      attempt(() => handle[method].call(value, value))
    }
  }
  say('done')
  process.exit()
}

test('calls while the process exits, and after close', (t) => {
  return assertSurvives(t, exiting, { coordinator: new Registry().coordinator })
})

async function exiting({ mintid, input, say }) {
  const ids = await mintid.IdGenerator.connect(input)
  const closed = await mintid.IdGenerator.connect(input)
  const [type, late] = [ids.type('usr_'), closed.type('usr_')]
  const id = type.next()
  await closed.close()
  const isRefused = (any) => {
    try {
      any.next()
    } catch (error) {
      return error.code === 'ERR_MINTID_CLOSED'
    }
  }
  process.on('exit', () => {
    type.next()
    if (late.toDb(id) !== type.toDb(id)) throw new Error('converting differs')
    ids.ready().catch(() => {})
    ids.close()
    ids.relinquish('too late')
    if (isRefused(type) && isRefused(late)) say('done')
  })
}

test('Workers that are terminated in the middle of anything take nobody along', (t) => {
  return assertSurvives(t, terminating, { options: { coordinator: new Registry().coordinator } })
})

async function terminating({ mintid, input, say, worker }) {
  async function busy({ mintid, input, tell }) {
    const ids = new mintid.IdGenerator(input.options)
    const type = ids.type('usr_', { kind: input.kind })
    const jobs = {
      minting: () => type.next(),
      'minting many': () => type.nextManyDb(100_000),
      converting: () => type.toDb(type.fromDb(5n)),
      failing: () => type.safeParse('usr_'),
      opening: () => void new mintid.IdGenerator(input.options).ready().catch(() => {}),
      closing: async () => (await mintid.IdGenerator.connect(input.options)).close(),
      relinquishing: () => {
        ids.relinquish()
        return new Promise((resolve) => ids.once('leaseLost', resolve))
      }
    }
    await ids.ready()
    tell('busy')
    for (;;) {
      try {
        const doing = jobs[input.job]()
        if (doing instanceof Promise) await doing
      } catch (error) {
        if (error.statusCode !== 503) throw error
      }
      if (input.pausing) await new Promise(setImmediate)
    }
  }
  const ids = await mintid.IdGenerator.connect(input.options)
  ids.on('leaseLost', () => {})
  // The last thing that a Worker relinquished may be on its way still.
  const mintsAgain = async () => {
    for (;;) {
      try {
        return ids.type('').next()
      } catch (error) {
        if (error.statusCode !== 503) throw error
      }
      await new Promise(setImmediate)
    }
  }
  for (const job of ['minting', 'minting many', 'converting', 'failing', 'opening', 'closing', 'relinquishing']) {
    for (const pausing of [false, true]) {
      const hands = ['counter', 'sortable'].map((kind) => worker(busy, { ...input, kind, job, pausing }))
      for (const hand of hands) await hand.next()
      say(`${job}, ${pausing ? 'pausing' : 'without a pause'}`)
      await Promise.all(hands.map((hand) => hand.terminate()))
      await mintsAgain()
    }
  }
  say('done')
}
