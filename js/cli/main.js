#!/usr/bin/env node
'use strict'

const process = require('node:process')
const { shown } = require('../options/check.js')
const { UsageError, readArguments, suggestion } = require('./arguments.js')
const { helpOf, overview } = require('./help.js')

/**
 * The commands. Each has a `summary`, its `usage`, what it is `about`, its `words` (positional arguments) and `flags`,
 * and `run (flags, words)`, which returns (or promises) what to print: `json`, `lines`, and `warnings` for stderr;
 * `failed` has the exit code of a failure all the same.
 */
const commands = {
  init: require('./init.js'),
  key: require('./key.js'),
  setup: require('./setup.js'),
  leases: require('./leases.js'),
  ddl: require('./ddl.js'),
  inspect: require('./inspect.js'),
  doctor: require('./doctor.js'),
  bench: require('./bench.js')
}

const DONE = 0
const FAILED = 1
const NOT_UNDERSTOOD = 2

main(process.argv.slice(2)).then((code) => {
  process.exitCode = code
})

async function main([name, ...args]) {
  try {
    if (name === undefined) throw new UsageError('expected a command, found nothing')
    if (['--help', '-h', 'help'].includes(name)) return print(overview(commands))
    if (['--version', '-v'].includes(name)) return print(require('../../package.json').version)
    if (!Object.hasOwn(commands, name)) {
      throw new UsageError(`unknown command ${shown(name)}${suggestion(name, Object.keys(commands))}`)
    }
    return await run(commands[name], args)
  } catch (error) {
    return fail(error, name)
  }
}

async function run(command, args) {
  const { flags, words } = readArguments(command, args)
  if (flags.help) return print(helpOf(command))
  const { json, lines, warnings = [], failed = false } = await command.run(flags, words)
  for (const warning of warnings) console.error(`mintid: warning: ${warning}`)
  print(flags.json ? JSON.stringify(json, null, 2) : lines.join('\n'))
  return failed ? FAILED : DONE
}

function print(text) {
  console.log(text)
  return DONE
}

function fail(error, name) {
  if (error instanceof UsageError) {
    console.error(`mintid: ${error.message}\nSee mintid ${Object.hasOwn(commands, name ?? '') ? `${name} ` : ''}--help`)
    return NOT_UNDERSTOOD
  }
  // Messages of the file system begin with their code; what has none is a fault of ours, and its stack tells where.
  const { code, message, stack, hint } = error
  console.error(`mintid: ${code === undefined ? stack : message.startsWith(code) ? message : `${code}: ${message}`}`)
  if (hint && !message.includes(hint)) console.error(hint)
  return FAILED
}
