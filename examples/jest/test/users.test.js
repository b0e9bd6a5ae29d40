'use strict'

const { start, stop } = require('mintid')
const { userId } = require('../ids.js')
const { createUser } = require('../shop.js')
const { coordinator, key } = require('./real.js')

beforeAll(() => start({ coordinator, key }))
afterAll(stop)

it('gives every user an ID of its own', () => {
  const ids = Array.from({ length: 1000 }, () => createUser('Ada').id)
  expect(new Set(ids).size).toBe(1000)
  expect(ids.every((id) => userId.is(id))).toBe(true)
})

it('finds in the database what the application shows', () => {
  const { id } = createUser('Ada')
  expect(userId.fromDb(userId.toDb(id))).toBe(id)
})
