/**
 * `mintid/testing`: IDs for tests, without native code, coordinator and lease.
 *
 * What it converts is true: texts, masks, prefixes and refusals are those of the real generator with the same key, so
 * fixtures can be shared with real services. What it mints is deterministic: the same options and the same calls give
 * the same IDs in every run and on every platform, and always will, so they may stand in snapshots. That is why they
 * are not unique: never let them meet real ones.
 *
 * @packageDocumentation
 */

import type { GeneratorOptions, IdGenerator, LayoutOptions, LeaseLostReason } from '../index.js'

/**
 * Makes a generator of deterministic IDs that holds a lease at once, and makes it the process's default, as `start`
 * does: every `idType` without a `generator` of its own uses it, also one that was declared long before.
 *
 * Call it anew (or {@link FakeIdGenerator.reset}) before each test whose IDs are compared, so that no test depends on
 * what ran before it. After `await ids.close()` or `await stop()` types go on converting, and `next()` throws.
 *
 * @throws {ConfigError} `option` names what is wrong
 *
 * @example node:test
 * import { afterEach, beforeEach, test } from 'node:test'
 * import { fakeIds, type FakeIdGenerator } from 'mintid/testing'
 * import { userId } from '../ids.js'           // idType('usr_', { mask: true })
 *
 * let ids: FakeIdGenerator
 * beforeEach(() => { ids = fakeIds() })
 * afterEach(() => ids.close())
 *
 * test('a new user has an ID', () => {
 *   assert.equal(createUser('Ada').id, 'usr_BhiD6ngqovE')
 * })
 *
 * test('without a lease the service answers 503', async () => {
 *   ids.loseLease()
 *   assert.equal((await request('/users', { method: 'POST' })).status, 503)
 *   ids.regainLease()
 *   assert.equal((await request('/users', { method: 'POST' })).status, 201)
 * })
 *
 * @example Jest (the same in Vitest, with `beforeEach`, `afterEach` and friends from 'vitest')
 * const { fakeIds } = require('mintid/testing')
 *
 * let ids
 * beforeEach(() => { ids = fakeIds({ now: new Date('2026-02-03T04:05:06Z') }) })
 * afterEach(() => ids.close())
 *
 * it('lists what was ordered', async () => {
 *   await order('tea')
 *   expect(await orders()).toMatchSnapshot()   // its IDs are the same in every run
 * })
 *
 * @example time that moves on, with the test runner's clock
 * const ids = fakeIds({ now: Date.now })
 */
export function fakeIds(options?: FakeIdsOptions): FakeIdGenerator

/** The options of {@link fakeIds}; none is needed. */
export interface FakeIdsOptions {
  /**
   * What tells one fake from another: fakes with different machine IDs never mint the same ID. A whole number from 0 is
   * the machine ID itself (modulo 511 in the default layout), a text is hashed to one. Default 1.
   */
  seed?: number | string

  /**
   * The moment that IDs are made at: a Date, milliseconds since 1970, or a function that gives one. Counter types carry
   * the moment at which the lease began, sortable types the present one; neither waits for a clock, so a millisecond
   * that is used up runs into the next. It must lie inside the layout. Default {@link TEST_NOW}.
   */
  now?: Date | number | (() => Date | number)

  /**
   * The base key of masks and encrypted types: at least 32 bytes, a string taken as its UTF-8 bytes. Default
   * {@link TEST_KEY}; a service's own key gives that service's texts.
   */
  key?: string | Uint8Array

  /** Further keys and other ciphers, as the application has them. */
  keys?: GeneratorOptions['keys']
  cipherKeys?: GeneratorOptions['cipherKeys']
  ciphers?: GeneratorOptions['ciphers']

  /** How many bits of an ID each part has, as the application has it. */
  layout?: LayoutOptions
}

/**
 * What {@link fakeIds} returns: an `IdGenerator` whose lease the test holds in its hands. Events, `stats()`, `health()`,
 * diagnostics channels and metrics tell of it as of a real one; its coordinator's kind is `fixed`.
 */
export interface FakeIdGenerator extends IdGenerator {
  /**
   * Loses the lease: `lease` is null, `next()` throws `LeaseLostError`, `ready()` waits. Emits `leaseLost` before it
   * returns. Does nothing without a lease.
   *
   * @param reason what the event and the errors say. Default `'expired'`
   */
  loseLease(reason?: LeaseLostReason): void

  /**
   * Takes the next lease after {@link FakeIdGenerator.loseLease}: its IDs come after all that were minted before.
   * Emits `leaseAcquired` before it returns. Does nothing while a lease is held, or after `close()`.
   */
  regainLease(): void

  /** Begins from the beginning, under a lease: the next IDs are those of a new generator with the same options. */
  reset(): void
}

/** The moment of fake IDs, in milliseconds since 1970: 2026-01-01T00:00:00Z. It never changes. */
export const TEST_NOW: number

/** The base key of fake IDs, for a test that gives a real generator the same one. It never changes; it is no secret. */
export const TEST_KEY: string
