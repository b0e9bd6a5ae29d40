'use strict'

const { backend: native } = require('../native.js')
const { ABOUT_URL, answerOf, connectionFlags, connectionOf } = require('./connection.js')

/** As long as 'warning', the longest. */
const WIDTH = 7

module.exports = {
  summary: 'examine a coordinator and its registry',
  usage: 'doctor [flags]',
  about: `Checks whether the server can be reached and used as a coordinator: rights, version, clock, registry, free machine
IDs. It changes nothing, and says what to do about what it finds. The exit code is 1 if there is an error, and 0 if
there are warnings only.

${ABOUT_URL}`,
  words: [],
  flags: connectionFlags,

  /** @param {object} backend stands in for native code in tests */
  async run(flags, _words, backend = native) {
    const options = connectionOf('doctor', flags)
    const { server, checks } = await answerOf(backend.examine(options))
    const count = (verdict) => checks.filter((check) => check.verdict === verdict).length
    const [errors, warnings] = [count('error'), count('warning')]
    return {
      json: { server, namespace: options.namespace, ok: errors === 0, checks },
      lines: [
        server,
        `Namespace ${options.namespace}`,
        '',
        ...described(checks),
        '',
        summary(checks, errors, warnings)
      ],
      failed: errors > 0
    }
  }
}

/** One line a check, and below it what to do. */
function described(checks) {
  const width = Math.max(0, ...checks.map(({ name }) => name.length))
  const indent = ' '.repeat(2 + WIDTH + 2 + width + 2)
  return checks.flatMap(({ name, verdict, found, advice }) => [
    `  ${verdict.padEnd(WIDTH)}  ${name.padEnd(width)}  ${found}`,
    ...(advice ? advice.split('\n').map((line) => `${indent}${line}`) : [])
  ])
}

function summary(checks, errors, warnings) {
  return `${plural(checks.length, 'check')}: ${plural(errors, 'error')}, ${plural(warnings, 'warning')}.`
}

function plural(count, noun) {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
