'use strict'

const { parseArgs } = require('node:util')
const { shown } = require('../options/check.js')
const { closest } = require('../options/closest.js')

/** A command line that the tool does not understand. */
class UsageError extends Error {}

/** What every command has. */
const COMMON = {
  json: { type: 'boolean', about: 'print one JSON object' },
  help: { type: 'boolean', short: 'h', about: 'print this help' }
}

/** The flags of a command, the common ones last. */
function flagsOf(command) {
  return { ...command.flags, ...COMMON }
}

/**
 * Reads the arguments of a command.
 *
 * @param {object} command
 * @param {string[]} args what follows its name
 * @returns {{ flags: Record<string, string | true>, words: string[] }}
 * @throws {UsageError} an unknown or malformed flag, a word too many or too few
 */
function readArguments(command, args) {
  const known = flagsOf(command)
  // Not strict: parseArgs' own complaints differ between runtimes, and suggest nothing.
  const { tokens } = parseArgs({ args, options: known, strict: false, allowPositionals: true, tokens: true })
  const flags = {}
  for (const token of tokens) if (token.kind === 'option') flags[token.name] = flagValue(token, known)
  const words = tokens.filter(({ kind }) => kind === 'positional').map(({ value }) => value)
  if (!flags.help) checkWords(words, command.words)
  return { flags, words }
}

function flagValue({ name, rawName, value, inlineValue }, known) {
  if (!Object.hasOwn(known, name)) {
    const names = Object.keys(known).map((flag) => `--${flag}`)
    throw new UsageError(`unknown flag ${shown(rawName)}${suggestion(rawName, names)}`)
  }
  const { type, choices } = known[name]
  if (type === 'boolean') {
    if (value !== undefined) throw new UsageError(`${rawName} takes no value, found ${shown(value)}`)
    return true
  }
  if (value === undefined || (!inlineValue && value.startsWith('-'))) {
    throw new UsageError(`${rawName} expects a value (one that begins with a dash as ${rawName}=-…)`)
  }
  if (choices && !choices.includes(value)) {
    const expected = choices.join(', ')
    throw new UsageError(`${rawName}: expected ${expected}; found ${shown(value)}${suggestion(value, choices)}`)
  }
  return value
}

function checkWords(found, expected) {
  if (found.length < expected.length) throw new UsageError(`expected <${expected[found.length]}>, found nothing`)
  if (found.length > expected.length) {
    throw new UsageError(`expected no further argument, found ${shown(found[expected.length])}`)
  }
}

/** '; did you mean …?', or '' where no known word is near. */
function suggestion(word, known) {
  const meant = closest(word, known)
  return meant === undefined ? '' : `; did you mean ${meant}?`
}

module.exports = { UsageError, flagsOf, readArguments, suggestion }
