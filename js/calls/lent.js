'use strict'

const { isBytes, isObject } = require('../options/check.js')
const { Nonsense } = require('./nonsense.js')

/** What lends a connection. */
const operations = {
  query: {
    call: (functions, { statement, parameters }) => functions.query(statement, parameters),
    read: (answer) => ({ rows: rowsOf(answer).map(textsOf) }),
    secrets: ({ parameters }) => parameters.filter(isSecret),
    wordsOf: sqlWords
  },

  eval: {
    call: (functions, { script, key, arguments: parameters }) => functions.eval(script, [key], parameters),
    read(reply) {
      if (reply === null) return {}
      if (!Array.isArray(reply)) throw Nonsense.found(reply, "the script's reply: an array, or null")
      return { list: reply.map(text) }
    },
    secrets: ({ arguments: parameters }) => parameters.filter(isSecret),
    wordsOf: redisWords
  }
}

/** A token, or a part of one, in hexadecimal digits. */
function isSecret(parameter) {
  return parameter !== null && /^[\da-f]{16,}$/.test(parameter)
}

/** As drivers answer: an array of rows, an object that has one, or either with more behind it. What was written has none. */
function rowsOf(answer) {
  if (isWritten(answer)) return []
  if (isPair(answer)) return rowsOf(answer[0])
  const rows = isObject(answer) ? answer.rows : answer
  if (Array.isArray(rows)) return rows
  throw Nonsense.found(answer, 'rows: an array of objects, or an object with an array called rows')
}

/** Rows, or what was written, with a list of columns behind it. */
function isPair(answer) {
  if (!Array.isArray(answer)) return false
  const [first] = answer
  return isWritten(first) || (Array.isArray(first) && (first.length === 0 || isObject(first[0])))
}

/** What drivers of MySQL answer to a statement that writes. */
function isWritten(answer) {
  return isObject(answer) && 'affectedRows' in answer
}

/** A row's values as texts, by name. Where each row has one column, with an object in JSON, that is the row. */
function textsOf(row) {
  const answer = Array.isArray(row) ? row[0] : row?.answer
  const fields = typeof answer === 'string' ? parsed(answer) : (answer ?? row)
  if (!isObject(fields)) throw Nonsense.found(answer, 'columns as the statement names them', 'a row with')
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, textOf(value)]))
}

/** One value of a row, whatever type a driver has made of it: MySQL's truths are numbers, its bytes are no texts. */
function textOf(value) {
  if (Array.isArray(value)) return value.join(',')
  if (typeof value === 'boolean') return value ? '1' : '0'
  if (isBytes(value)) return `\u0000x${Buffer.from(value).toString('hex')}`
  return text(value)
}

function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** One value of a script's reply. */
function text(value) {
  if (value === null || typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  if (isBytes(value)) return new TextDecoder().decode(value)
  throw Nonsense.found(value, 'a text, a number or null', 'a reply with')
}

/** How far errors that stand in for others are followed. */
const DEEPEST = 5

/** A database's own words behind an error: what drivers and object mappers wrap them in differs. */
function sqlWords(error, depth = 0) {
  if (!isObject(error) || depth > DEEPEST) return undefined
  const { code, message, originalCode, originalMessage, meta, errno, sqlState } = error
  const behind = [meta?.driverAdapterError, meta, error.cause, error.driverError, error.originalError, error.parent]
  for (const inner of behind) {
    const words = sqlWords(inner, depth + 1)
    if (words !== undefined) return words
  }
  // MySQL and MariaDB, by number.
  if (errno > 0 && typeof sqlState === 'string')
    return { code: `${errno}/${sqlState}`, said: String(error.sqlMessage ?? message) }
  if (isSqlState(originalCode)) return { code: originalCode, said: String(originalMessage ?? message) }
  return isSqlState(code) ? { code, said: String(message) } : undefined
}

/** Five capitals and digits. Prisma's own codes look like it, and so does EPIPE. */
function isSqlState(code) {
  return typeof code === 'string' && /^(?=.*\d)[\dA-Z]{5}$/.test(code) && !/^P[1-9]\d{3}$/.test(code)
}

/** What a server of Redis says begins with a word in capitals; native code looks at it. */
function redisWords(error) {
  return typeof error?.message === 'string' ? { said: error.message } : undefined
}

module.exports = { operations }
