import type { IdGenerator } from 'mintid'
import { type FakeIdGenerator, fakeIds, TEST_KEY, TEST_NOW } from '../../js/testing.js'
import { type Equal, expectType } from './expect.js'

export function main(): void {
  const ids = fakeIds()
  expectType<Equal<typeof ids, FakeIdGenerator>>()
  const generator: IdGenerator = ids
  generator.on('leaseLost', ({ reason }) => reason)

  // Options.
  fakeIds({ seed: 7, now: TEST_NOW, key: TEST_KEY, layout: { machine: 10, sequence: 12 } })
  fakeIds({ seed: 'worker 1', now: new Date(), key: Buffer.alloc(32) })
  fakeIds({ now: Date.now })
  // @ts-expect-error a typing error
  fakeIds({ sede: 7 })
  // @ts-expect-error no moment
  fakeIds({ now: '2026-01-01' })

  // Types bound to it.
  const userId = ids.type('usr_', { mask: true })
  expectType<Equal<ReturnType<typeof userId.next>, `usr_${string}`>>()

  // The lease.
  ids.loseLease()
  ids.loseLease('rejected')
  // @ts-expect-error no such reason
  ids.loseLease('bored')
  ids.regainLease()
  ids.reset()
}
