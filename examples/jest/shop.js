'use strict'

const { orderId, userId } = require('./ids.js')

function createUser(name) {
  return { id: userId.next(), name }
}

function createOrder(user, items) {
  return { id: orderId.next(), user: user.id, items }
}

module.exports = { createUser, createOrder }
