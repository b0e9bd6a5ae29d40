'use strict'

const assert = require('node:assert/strict')
const { writeFileSync } = require('node:fs')
const { library } = require('../../../__test__/slow/faketime.js')

const HOUR_S = 3600
const STEPS = { 'plus-1h': HOUR_S, 'minus-1h': -HOUR_S, 'plus-50d': 50 * 24 * HOUR_S }
const TOLERANCE_MS = 120_000

/** A clock that scenarios set; libfaketime leaves the monotonic ones alone, as a stepped clock does. */
function wallClock(file) {
  const set = (seconds) => writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}\n`)
  set(0)
  const env = {
    LD_PRELOAD: library(),
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1'
  }
  return { set, env }
}

/** Holders whose wall clock is wrong from the start, and one whose clock is right; the first is replaced. */
const wrongAtStart = (seconds) => async (stage) => {
  const clock = wallClock(stage.file('clock'))
  clock.set(seconds)
  const options = { machineIds: { from: 0, to: 3 } }
  const [wrong] = await stage.holders(1, { name: 'wrong clock', env: clock.env, options })
  const [right] = await stage.holders(1, { options })
  offBy(wrong.of('connecting')[0].wall, seconds)
  await wrong.kill()
  stage.faultEnds()
  const heir = stage.newcomer({ options })
  await heir.minted()
  const again = stage.newcomer({ env: clock.env, options })
  await again.minted()
  await stage.everybodyMints()
  assert.equal(right.of('refusing').length, 0)
}

/** A holder whose wall clock is set while it mints: it must not notice anything. */
const setWhileMinting = (seconds) => async (stage) => {
  const clock = wallClock(stage.file('clock'))
  const [holder] = await stage.holders(1, { name: 'set clock', env: clock.env })
  await stage.holders(1)
  clock.set(seconds)
  stage.faultEnds()
  const [renewals, before] = [stage.lease.renewEveryMs, holder.of('count').at(-1).at]
  if (stage.proxy) offBy((await holder.event('leaseRenewed', { after: before + renewals })).wall, seconds)
  offBy((await holder.ask('wall')).wall, seconds)
  await stage.newcomer({ env: clock.env }).minted()
  await stage.everybodyMints()
  clock.set(-seconds)
  await stage.everybodyMints()
  assert.equal(holder.of('refusing').length, 0)
}

/** Fails unless the clock was as wrong as it should be: else the scenario would show nothing. */
function offBy(wall, seconds) {
  const off = wall - Date.now() - seconds * 1000
  assert.ok(Math.abs(off) < TOLERANCE_MS, `libfaketime did not set the clock: it is ${off} ms beside`)
}

const scenarios = {}
for (const [name, seconds] of Object.entries(STEPS)) {
  const words = name.replace('plus-', '+').replace('minus-', '-').replace('50d', '50 days').replace('1h', '1 h')
  const short = name === 'plus-1h' && ['postgres', 'directory']
  scenarios[`clock-${name}-start`] = { title: `wall clock ${words} at start`, short, run: wrongAtStart(seconds) }
  scenarios[`clock-${name}-run`] = { title: `wall clock ${words} at run time`, short, run: setWhileMinting(seconds) }
}

module.exports = scenarios
