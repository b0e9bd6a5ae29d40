'use strict'

/**
 * @param {import('./sections.js').Section[]} sections
 * @returns {string} for a terminal
 */
function terminal(sections) {
  return sections
    .map(({ title, text, head, rows }) => {
      const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column].length)))
      const line = (row) =>
        row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]))).join('  ')
      const rule = '-'.repeat(line(head).length)
      return ['', title, ...text.flatMap(wrapped), rule, line(head), rule, ...rows.map(line)].join('\n')
    })
    .join('\n')
}

/**
 * @param {import('./sections.js').Section[]} sections
 * @param {string} level the mark of a heading
 * @returns {string}
 */
function markdown(sections, level = '##') {
  const line = (row) => `| ${row.join(' | ')} |`
  return sections
    .map(({ title, text, head, rows }) => {
      const rule = line(head.map((_, column) => (column === 0 ? '---' : '---:')))
      return [`${level} ${title}`, ...text, [line(head), rule, ...rows.map(line)].join('\n')].join('\n\n')
    })
    .join('\n\n')
}

function wrapped(paragraph) {
  return paragraph.match(/.{1,110}(\s|$)/g)
}

module.exports = { terminal, markdown }
