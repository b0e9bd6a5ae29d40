'use strict'

const { randomBytes } = require('node:crypto')
const { Database, PLACES } = require('./databases.js')

/** MariaDB, and MySQL where there is one: `{ kind, url }`. */
const SERVERS = PLACES.filter(({ kind, url }) => ['mariadb', 'mysql'].includes(kind) && url)

/**
 * A database with nothing in it and the registries in it, gone after the test.
 *
 * @param {{ after: Function }} t
 * @param {{ kind: string, url: string }} [place] by default MariaDB's
 * @returns {{ url: string, run: (sql: string) => string[][], user: (rights: string) => string }} `user` makes one with the
 *   password 'secret' and these rights on the database, and gives the URL for it
 */
function temporaryDatabase(t, place = SERVERS[0]) {
  const database = Database.temporary(t, place)
  const name = new URL(database.url).pathname.slice(1)
  const user = (rights) => {
    const user = `mintid_${randomBytes(6).toString('hex')}`
    database.run(`create user ${user}@'%' identified by 'secret'; grant ${rights} on ${name}.* to ${user}@'%';`)
    t.after(() => new Database(place.kind, place.url).run(`drop user ${user}@'%';`))
    const url = new URL(database.url)
    url.username = user
    url.password = 'secret'
    return url.href
  }
  return { url: database.url, run: (sql) => database.run(sql), user }
}

module.exports = { SERVERS, temporaryDatabase }
