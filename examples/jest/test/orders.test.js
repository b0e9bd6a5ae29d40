'use strict'

const { start, stop } = require('mintid')
const { orderId } = require('../ids.js')
const { createOrder, createUser } = require('../shop.js')
const { coordinator, key } = require('./real.js')

beforeAll(() => start({ coordinator, key }))
afterAll(stop)

it('gives orders IDs that sort by time', () => {
  const user = createUser('Ada')
  const ids = Array.from({ length: 1000 }, () => createOrder(user, ['tea']).id)
  expect(new Set(ids).size).toBe(1000)
  expect(ids.toSorted()).toEqual(ids)
})

it('knows when an order was made', () => {
  const { id } = createOrder(createUser('Ada'), ['tea'])
  const { timestamp, exact } = orderId.inspect(id)
  expect(exact).toBe(true)
  expect(Math.abs(timestamp.getTime() - Date.now())).toBeLessThan(1000)
})
