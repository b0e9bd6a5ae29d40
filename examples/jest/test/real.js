'use strict'

// What tests start with that want real IDs: a directory of this project, and the key of mintid's own tests.

const { join } = require('node:path')
const { pathToFileURL } = require('node:url')
const { TEST_KEY } = require('mintid/testing')

const { MINTID_URL = pathToFileURL(join(__dirname, '..', '.mintid')).href } = process.env

module.exports = { coordinator: MINTID_URL, key: TEST_KEY }
