'use strict'

const HEAD = [
  'fault',
  'IDs',
  'duplicates',
  'outside fences',
  'refused',
  "holders' first ID after",
  "newcomers' first ID after",
  'what connect said'
]

const number = (value) => (value === undefined || value === null ? '-' : value.toLocaleString('en-US'))
const seconds = (ms) =>
  ms === null || ms === undefined ? '-' : ms === Infinity ? 'never' : `${(ms / 1000).toFixed(1)} s`

function cells({ title, ids, duplicates, outside, refused, interrupted, holdersAfterMs, newcomersAfterMs, said = [] }) {
  const holders = holdersAfterMs !== null && holdersAfterMs !== undefined && !interrupted
  return [
    title,
    number(ids),
    number(duplicates),
    number(outside),
    number(refused),
    holders ? 'never stopped' : seconds(holdersAfterMs),
    seconds(newcomersAfterMs),
    said.length === 0 ? '-' : said.map((text) => text.replace('ERR_MINTID_', '')).join(', ')
  ]
}

const row = (cells) => `| ${cells.join(' | ')} |`

/** One line about a scenario that was just played. */
function line(result) {
  const { name, on, passed, notes = [], losses = {}, seconds } = result
  const [, ...rest] = cells(result)
  const words = HEAD.slice(1).map((head, index) => `${head} ${rest[index]}`)
  for (const [reason, times] of Object.entries(losses)) words.push(`${times} leases lost: ${reason}`)
  const verdict = passed ? 'ok    ' : 'FAILED'
  return `${verdict} ${on} ${name} (${seconds.toFixed(1)} s): ${[...words, ...notes].join('; ')}`
}

/** The heading and the Markdown table of each coordinator. */
function sections(results) {
  const titles = [...new Set(results.map(({ coordinator }) => coordinator))]
  return titles.map((title) => {
    const rows = results.filter(({ coordinator }) => coordinator === title).map((result) => row(cells(result)))
    return [`### ${title}`, '', row(HEAD), row(HEAD.map(() => '---')), ...rows].join('\n')
  })
}

const table = (results) => sections(results).join('\n\n')

/** The page of the documentation; what it said of other coordinators stays. */
function document(results, before = '') {
  const heading = (section) => section.split('\n', 1)[0]
  const page = new Map(
    before
      .split(/^(?=### )/m)
      .slice(1)
      .map((section) => [heading(section), section.trim()])
  )
  for (const section of sections(results)) page.set(heading(section), section)
  return `${[
    '# Faults',
    'Written by `npm run test:faults -- --write`; do not edit. Several real processes mint counter, sortable and encrypted',
    'IDs while the fault happens, and write each one down; a checker then counts duplicates, and IDs outside of the fences',
    'that the registry recorded. Leases last 4 s here (300 s by default), so that they run out while somebody watches: 8 s',
    'where each answer waits for a disk or a MySQL or MariaDB server starts, 6 s in a cluster, 20 s where Sentinel has two',
    'primaries for a while.',
    '',
    '- **Refused**: calls that threw `ERR_MINTID_LEASE_LOST` or `ERR_MINTID_NOT_READY`.',
    "- **First ID after**: how long after the fault's end the slowest process minted for good.",
    '- **What connect said**: errors of `connect` (each was asked again), and warnings.',
    '',
    [...page.values()].join('\n\n')
  ].join('\n')}\n`
}

module.exports = { document, line, table }
