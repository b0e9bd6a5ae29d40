'use strict'

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000]
]

/** A duration in its two largest units, like '4 min 12 s'. */
function span(ms) {
  const largest = UNITS.findIndex(([, size]) => ms >= size)
  if (largest < 0) return `${Math.round(ms)} ms`
  const parts = []
  let rest = ms
  for (const [name, size] of UNITS.slice(largest, largest + 2)) {
    const count = Math.floor(rest / size)
    if (count > 0) parts.push(`${count} ${name}`)
    rest -= count * size
  }
  return parts.join(' ')
}

/** A moment in milliseconds since 1970, and how far it is from `now`: '2026-01-01T00:00:00.000Z (in 5 min)'. */
function moment(ms, now) {
  const distance = ms > now ? `in ${span(ms - now)}` : `${span(now - ms)} ago`
  return `${new Date(ms).toISOString()} (${distance})`
}

module.exports = { span, moment }
