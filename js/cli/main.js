#!/usr/bin/env node
'use strict'

const { parseArgs } = require('node:util')
const { UsageError, helpOf, overview } = require('./help.js')
