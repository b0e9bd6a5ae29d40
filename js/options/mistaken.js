'use strict'

const { closest } = require('./closest.js')

const PRISMA_SCHEMES = ['prisma', 'prisma+postgres']

/** What people write who have another tool in mind, and what they need instead. */
const HABITS = [
  [/^file:/i, "an SQLite file as Prisma names it, which is no coordinator; write 'local', or file:/// and a directory"],
  [/^(postgres(ql)?|mysql2?|mariadb|(redis|valkey)s?):/i, 'that scheme without the two slashes after it'],
  [/^jdbc:/i, 'a JDBC URL; leave jdbc: out'],
  [
    /^\s*(host|hostaddr|port|dbname|user|password|service|sslmode)\s*=/i,
    "libpq's pairs of names and values; write a URL or an object"
  ]
]

/**
 * The end of a message about a `coordinator` that is none: what was found, and what was probably meant. Never shows the
 * value itself, which may hold a password.
 *
 * @param {string} value the user's
 * @param {string | undefined} scheme the value's, if it is a URL, in lower case
 * @param {string[]} words what would have been taken
 */
function mistaken(value, scheme, words) {
  if (PRISMA_SCHEMES.includes(scheme)) {
    const instead = "use the database's own URL, for example coordinator: process.env.DIRECT_URL"
    return `, found ${scheme}:, which only Prisma's own client speaks; ${instead}`
  }
  if (scheme !== undefined) return `, found a URL with the scheme ${scheme}:`
  const habit = HABITS.find(([looks]) => looks.test(value))
  if (habit !== undefined) return `, found ${habit[1]}`
  const word = closest(value, words)
  return `, found another text${word === undefined ? '' : `; did you mean '${word}'?`}`
}

module.exports = { mistaken }
