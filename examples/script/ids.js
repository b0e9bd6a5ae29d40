'use strict'

const { idType } = require('mintid')

const userId = idType('usr_', { mask: true })

module.exports = { userId }
