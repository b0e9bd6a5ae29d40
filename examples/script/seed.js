'use strict'

// Prints SQL for a table's first rows: node --env-file=.env seed.js > seed.sql

const { join } = require('node:path')
const { pathToFileURL } = require('node:url')
const { start } = require('mintid')
const { userId } = require('./ids.js')

const { MINTID_KEY, MINTID_URL = pathToFileURL(join(__dirname, '.mintid')).href } = process.env

async function main() {
  const ids = await start({ coordinator: MINTID_URL, key: MINTID_KEY })
  for (const name of ['Ada', 'Grace', 'Margaret']) {
    const { id, db } = userId.nextPair()
    console.log(`insert into users (id, name) values (${db}, '${name}'); -- ${id}`)
  }
  await ids.close()
}

main()
