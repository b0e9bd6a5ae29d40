'use strict'

const assert = require('node:assert/strict')

/** A request may need six ways there and back, its connection included: less than its timeout. */
const SLOW_MS = 80
const SOME = { machineIds: { from: 0, to: 11 } }

/** A fault of the network that outlasts every lease: all of them stop, and come back by themselves. */
const outlasting = (begin) => async (stage) => {
  const holders = await stage.holders(3, { options: SOME })
  await Promise.all(holders.map((holder) => holder.event('leaseRenewed')))
  await begin(stage.proxy)
  stage.newcomer({ options: SOME })
  await Promise.all(holders.map((holder) => holder.event('refusing')))
  await stage.proxy.pass()
  stage.faultEnds()
  await stage.everybodyMints()
}

/** A fault that is over before any lease is: nobody stops. */
const passing = (begin, ms) => async (stage) => {
  const holders = await stage.holders(3, { options: SOME })
  await Promise.all(holders.map((holder) => holder.event('leaseRenewed')))
  await begin(stage.proxy)
  await stage.pass(ms)
  await stage.proxy.pass()
  stage.faultEnds()
  stage.newcomer({ options: SOME })
  await stage.everybodyMints()
  for (const holder of holders) assert.equal(holder.of('refusing').length, 0, `${holder.name} stopped`)
}

/**
 * Slow answers, but in time: leases come, are renewed, lost and released through it. (The first process of a registry
 * needs a dozen answers before it has its lease: it is there already.)
 */
async function slow(stage) {
  await stage.holders(1, { options: SOME })
  await stage.proxy.delay(SLOW_MS)
  const holders = await stage.holders(3, { options: SOME })
  for (const holder of holders) {
    await holder.ask('relinquish', { reason: 'slow' })
    await holder.event('leaseAcquired', { source: 'reacquire' })
  }
  await stage.newcomer({ options: SOME }).minted()
  await stage.proxy.pass()
  stage.faultEnds()
  await stage.everybodyMints()
}

/** Every request is executed twice: claims, renewals and releases, while leases are lost and taken again. */
const twice = (afterMs) => async (stage) => {
  const options = { machineIds: { from: 0, to: 29 } }
  await stage.proxy.repeat({ afterMs })
  const holders = await stage.holders(3, { options })
  for (let round = 1; round <= 2 || stage.proxy.repeated <= 10; round++) {
    for (const holder of holders) {
      const [asked, acquired] = [holder.events.length, holder.of('leaseAcquired').length]
      await holder.ask('relinquish', { reason: `round ${round}` })
      await holder.until('another lease', () => holder.of('leaseAcquired').length > acquired)
      await holder.until(
        'a renewal of it',
        (event) => event.event === 'leaseRenewed' && holder.events.indexOf(event) > asked
      )
    }
  }
  await holders[0].close()
  await stage.newcomer({ options }).minted()
  await stage.proxy.pass()
  stage.faultEnds()
  await stage.everybodyMints()
  assert.ok(stage.proxy.repeated > 10, `only ${stage.proxy.repeated} requests were repeated`)
  stage.note(`${stage.proxy.repeated} requests executed twice`)
}

const scenario = (title, run, more = {}) => ({ title, server: true, run, ...more })

module.exports = {
  cut: scenario(
    'connection cut in both directions',
    outlasting((proxy) => proxy.cut()),
    { short: ['postgres'] }
  ),
  'cut-briefly': scenario(
    'connection cut for a second',
    passing((proxy) => proxy.cut(), 1000)
  ),
  'answers-lost': scenario(
    'only the answers lost',
    outlasting((proxy) => proxy.loseAnswers()),
    { short: true }
  ),
  'half-open': scenario(
    'sockets half-open: accepted, and nobody there',
    outlasting((proxy) => proxy.halfOpen())
  ),
  refused: scenario(
    'connections reset and refused',
    outlasting((proxy) => proxy.refuse())
  ),
  'reset-once': scenario(
    'every connection reset once',
    passing((proxy) => proxy.reset(), 0)
  ),
  held: scenario(
    'requests held until after the ttl, then delivered',
    outlasting((proxy) => proxy.hold()),
    { short: true }
  ),
  'too-late': scenario(
    'answers later than the request timeout',
    outlasting((proxy) => proxy.delay(600))
  ),
  delayed: scenario(`requests and answers delayed by ${SLOW_MS} ms each`, slow, { lease: { requestTimeoutMs: 1500 } }),
  repeated: scenario('every request executed twice', twice(0), { short: true, framing: true }),
  'repeated-late': scenario('every request executed again 1.5 s later', twice(1500), { framing: true })
}
