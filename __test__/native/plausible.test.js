'use strict'

// What an ID that was never made can look like, and what is refused of that.

const assert = require('node:assert/strict')
const { randomBytes } = require('node:crypto')
const { test } = require('node:test')
const { ConfigError, IdGenerator, InvalidIdError } = require('mintid')
const { fakeIds, TEST_KEY } = require('mintid/testing')
const { Registry } = require('../support/registry.js')

const KINDS = [
  { mask: true },
  { kind: 'sortable' },
  { kind: 'encrypted' },
  { bits: 96, mask: true },
  { bits: 128, kind: 'encrypted' }
]
const implausible = (error) => error instanceof InvalidIdError && error.reason === 'implausible'
const config = (option) => (error) => error instanceof ConfigError && error.option === option

const GENERATORS = {
  native: () => IdGenerator.connect({ coordinator: new Registry().coordinator, key: TEST_KEY }),
  // Made at the present: what is plausible is told by the real clock.
  fake: () => fakeIds({ now: Date.now })
}

for (const [name, make] of Object.entries(GENERATORS)) {
  test(`${name}: what was made is plausible, what is to come is not`, async (t) => {
    const ids = await make()
    t.after(() => ids.close())
    for (const options of KINDS) {
      const type = ids.type('usr_', { ...options, accepts: [{ prefix: 'old_', format: 'hex' }] })
      const made = type.inspect(type.next()).timestamp.getTime()
      for (const id of type.nextMany(20)) {
        assert.equal(type.parse(id, { plausible: true }), id)
        assert.equal(type.parse(id, { plausible: false }), id)
        assert.equal(type.safeParse(id, { plausible: { since: made - 1000, skewMs: 5000 } }).id, id)
        const since = type.safeParse(id, { plausible: { since: made + 60_000 } })
        assert.ok(implausible(since.error))
        assert.throws(() => type.parse(id, { plausible: { since: new Date(made + 60_000) } }), implausible)
        const old = ids.type('old_', { ...options, format: 'hex' }).fromDb(type.toDb(id))
        assert.equal(type.parse(old, { plausible: true }), id)
      }
    }
    const eventId = ids.type('evt_', { kind: 'sortable' })
    const tomorrow = eventId.fromDb(
      eventId.rangeFor({ from: Date.now() + 86_400_000, to: Date.now() + 86_400_000 }).gte
    )
    assert.equal(eventId.parse(tomorrow), tomorrow)
    assert.throws(() => eventId.parse(tomorrow, { plausible: true }), implausible)
    assert.equal(eventId.parse(tomorrow, { plausible: { skewMs: 2 * 86_400_000 } }), tomorrow)
    assert.throws(() => eventId.parse('evt_', { plausible: true }), { reason: 'length' })
    for (const [options, option] of [
      [{ plausible: 'yes' }, 'plausible'],
      [{ plausable: true }, 'plausable'],
      [{ plausible: { since: 'yesterday' } }, 'plausible.since'],
      [{ plausible: { since: -1 } }, 'plausible.since'],
      [{ plausible: { skewMs: -1 } }, 'plausible.skewMs'],
      [{ plausible: { skew: 1 } }, 'plausible.skew'],
      [null, 'options']
    ]) {
      assert.throws(() => eventId.parse(tomorrow, options), config(option))
    }
  })

  test(`${name}: most guesses are implausible`, async (t) => {
    const ids = await make()
    t.after(() => ids.close())
    const type = ids.type('usr_', { mask: true, format: 'hex' })
    const guesses = Array.from({ length: 3000 }, () => `usr_${randomBytes(8).toString('hex')}`)
    const passed = guesses.filter((guess) => type.safeParse(guess, { plausible: true }).success).length
    // The share of the layout's 139 years that has gone by: some 1.4 % in 2026, 2 % in 2028.
    assert.ok(passed < 3000 / 12, `${passed} passed`)
    assert.ok(guesses.every((guess) => type.is(guess)))
  })
}
