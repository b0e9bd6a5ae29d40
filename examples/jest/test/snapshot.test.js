'use strict'

const { fakeIds } = require('mintid/testing')
const { createOrder, createUser } = require('../shop.js')

let ids

beforeEach(() => {
  ids = fakeIds()
})

afterEach(() => ids.close())

it('is the same order in every run', () => {
  const user = createUser('Ada')
  expect({ user, orders: [createOrder(user, ['tea']), createOrder(user, ['milk', 'sugar'])] }).toMatchSnapshot()
})

it('depends on no test before it', () => {
  expect(createUser('Grace')).toMatchSnapshot()
})

it('creates nothing without a lease', () => {
  ids.loseLease()
  expect(() => createUser('Ada')).toThrow(expect.objectContaining({ code: 'ERR_MINTID_LEASE_LOST' }))
})
