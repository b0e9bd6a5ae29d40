'use strict'

// Each driver of PostgreSQL as its users have it: `lend` makes what mintid is lent, `end` ends it.

const { PrismaPg } = require('@prisma/adapter-pg')
const { Pool } = require('pg')
const postgres = require('postgres')
const { PrismaClient } = require('./node_modules/.prisma-client')

const DRIVERS = {
  pg(url) {
    const pool = new Pool({ connectionString: url, max: 3 })
    // What a pool says of an idle connection that the server ended.
    pool.on('error', () => {})
    return { query: (text, values) => pool.query(text, values), end: () => pool.end() }
  },

  'postgres.js'(url) {
    const sql = postgres(url, { max: 3, onnotice() {} })
    return { query: (text, values) => sql.unsafe(text, values), end: () => sql.end() }
  },

  Prisma(url) {
    const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: url }, { onPoolError() {} }) })
    return { query: (text, values) => prisma.$queryRawUnsafe(text, ...values), end: () => prisma.$disconnect() }
  }
}

module.exports = { DRIVERS }
