'use strict'

const { PLACES } = require('../support/databases.js')
const { ALL, mintTogether } = require('../support/minting.js')

/** In thousands of rows. */
const AMOUNTS = { rows: 1000, sessions: 4, processes: 4, each: 250 }

/** A database that mints beside a fleet, in one table whose primary key refuses what comes twice. */
async function measure(t) {
  const rows = []
  for (const place of PLACES.filter(({ kind, url }) => url && ALL.includes(kind))) {
    const { database, seconds } = await mintTogether(t, place, AMOUNTS)
    const [[IDs, distinct]] = database.run('select count(*), count(distinct id) from ids;')
    rows.push({ database: place.kind, IDs: Number(IDs), distinct: Number(distinct), seconds: seconds.toFixed(1) })
  }
  return { rows, duplicates: rows.reduce((sum, { IDs, distinct }) => sum + IDs - distinct, 0) }
}

module.exports = { title: 'A million IDs by the database, a million by 4 processes, into one table', measure }
