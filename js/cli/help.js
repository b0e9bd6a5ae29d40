'use strict'

const { flagsOf } = require('./arguments.js')

/** The help of the tool. */
function overview(commands) {
  const rows = Object.entries(commands).map(([name, { summary }]) => [name, summary])
  return `mintid: unique 64-bit IDs under a leased machine ID

Usage: mintid <command> [flags]

Commands:
${table(rows)}

Flags:
${table([
  ['--version, -v', 'print the version'],
  ['--help, -h', 'print this help, or that of a command']
])}

Exit codes: 0 done, 1 failed, 2 not understood.`
}

/** The help of one command. */
function helpOf(command) {
  const rows = Object.entries(flagsOf(command)).map(([name, { short, value, choices, otherwise, about }]) => {
    const flag = `--${name}${short ? `, -${short}` : ''}${value ? ` <${value}>` : ''}`
    return [flag, choices ? `${about}: ${choices.join(', ')} (${otherwise ?? 'the first'} by default)` : about]
  })
  return `Usage: mintid ${command.usage}

${command.about}

Flags:
${table(rows)}`
}

/** Two columns, indented. */
function table(rows) {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n')
}

module.exports = { overview, helpOf, table }
