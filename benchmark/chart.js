'use strict'

const ROW = 22
const BAR = 14
const LABELS = 200
const BARS = 460
const NUMBERS = 80

/**
 * A bar chart, as an SVG that reads on light and dark pages.
 *
 * @param {string} title
 * @param {{ label: string, value: number, own: boolean }[]} bars from top to bottom; `own` ones stand out
 * @returns {string}
 */
function chart(title, bars) {
  const width = LABELS + BARS + NUMBERS
  const height = (bars.length + 2) * ROW
  const most = Math.max(...bars.map(({ value }) => value))
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}">
<style>
  text { font: 12px system-ui, sans-serif; fill: #57606a }
  .title { font-weight: 600 }
  rect { fill: #afb8c1 }
  .own { fill: #1a7f64 }
  @media (prefers-color-scheme: dark) { text { fill: #c9d1d9 } rect { fill: #57606a } .own { fill: #3fb68b } }
</style>
<text class="title" x="0" y="${ROW - 6}">${escaped(title)}</text>
${bars.map((bar, index) => row(bar, (index + 1.5) * ROW, most)).join('\n')}
</svg>
`
}

function row({ label, value, own }, y, most) {
  const length = Math.max(1, (value / most) * BARS).toFixed(1)
  const baseline = y + BAR - 3
  return [
    `<text x="${LABELS - 8}" y="${baseline}" text-anchor="end">${escaped(label)}</text>`,
    `<rect${own ? ' class="own"' : ''} x="${LABELS}" y="${y}" width="${length}" height="${BAR}" rx="2"/>`,
    `<text x="${(LABELS + Number(length) + 6).toFixed(1)}" y="${baseline}">${value.toFixed(0)}</text>`
  ].join('')
}

function escaped(text) {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
}

module.exports = { chart }
