'use strict'

const { parseArgs } = require('node:util')

/** A command line that says nothing the tool understands: exit code 2. */
class UsageError extends Error {}

// Every command has these.
const COMMON = {
  json: { type: 'boolean', about: 'print one JSON object' },
  help: { type: 'boolean', short: 'h', about: 'print this help' },
}

const optionsOf = command => ({ ...command.options, ...COMMON })

/**
 * Reads the arguments of one command.
 *
 * @returns {{ values: Record<string, string | true>, positionals: string[] }}
 * @throws {UsageError} an unknown or malformed flag, a positional too many or too few
 */
function readArguments(command, args) {
  const options = optionsOf(command)
  // Not strict: parseArgs' own complaints differ between runtimes and know no "did you mean".
  const { tokens } = parseArgs({ args, options, strict: false, allowPositionals: true, tokens: true })
  const values = {}
  const positionals = []
  for (const token of tokens) {
    if (token.kind === 'option') values[token.name] = valueOf(token, options)
    if (token.kind === 'positional') positionals.push(token.value)
  }
  if (!values.help) checkCount(positionals, command.positionals)
  return { values, positionals }
}

function valueOf({ name, rawName, value, inlineValue }, options) {
  if (!Object.hasOwn(options, name)) {
    throw new UsageError(`unknown flag ${rawName}${suggestion(rawName, Object.keys(options).map(known => `--${known}`))}`)
  }
  const { type, choices } = options[name]
  if (type === 'boolean') {
    if (value !== undefined) throw new UsageError(`${rawName} takes no value`)
    return true
  }
  if (value === undefined || (!inlineValue && value.startsWith('-'))) {
    throw new UsageError(`${rawName} expects a value${value ? `; one that begins with a dash: ${rawName}=${value}` : ''}`)
  }
  if (choices && !choices.includes(value)) {
    throw new UsageError(`${rawName}: expected ${choices.join(', ')}; found ${JSON.stringify(value)}${suggestion(value, choices)}`)
  }
  return value
}

function checkCount(found, expected) {
  if (found.length < expected.length) throw new UsageError(`<${expected[found.length]}> is missing`)
  if (found.length > expected.length) {
    throw new UsageError(`unexpected argument ${JSON.stringify(found[expected.length])}`)
  }
}

/** "; did you mean …?" where one of the known words is near enough, else ''. */
function suggestion(word, known) {
  const [nearest] = known
    .map(candidate => ({ candidate, distance: distance(word, candidate) }))
    .filter(({ candidate, distance }) => distance <= Math.max(1, candidate.length / 3))
    .sort((a, b) => a.distance - b.distance)
  return nearest ? `; did you mean ${nearest.candidate}?` : ''
}
