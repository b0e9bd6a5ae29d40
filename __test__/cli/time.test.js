'use strict'

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { inPackage } = require('../package.js')
const { moment, span } = require(inPackage('js/cli/time.js'))

test('a duration has two units at most', () => {
  for (const [ms, text] of [
    [0, '0 ms'],
    [999, '999 ms'],
    [1000, '1 s'],
    [59_999, '59 s'],
    [60_000, '1 min'],
    [302_000, '5 min 2 s'],
    [3_600_000, '1 h'],
    [3_659_000, '1 h'],
    [86_400_000 + 7_200_000, '1 d 2 h'],
    [400 * 86_400_000, '400 d']
  ]) {
    assert.equal(span(ms), text)
  }
})

test('a moment is before now or after it', () => {
  const now = Date.UTC(2026, 0, 1)
  assert.equal(moment(now + 5000, now), '2026-01-01T00:00:05.000Z (in 5 s)')
  assert.equal(moment(now - 5000, now), '2025-12-31T23:59:55.000Z (5 s ago)')
})
