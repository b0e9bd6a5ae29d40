'use strict'

const { idType } = require('mintid')

const userId = idType('usr_', { mask: true })
const orderId = idType('ord_', { kind: 'sortable' })

module.exports = { userId, orderId }
