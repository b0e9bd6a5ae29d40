import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { fakeIds } from 'mintid/testing'
import { buildApp } from '../app.js'

let ids
let app

beforeEach(() => {
  ids = fakeIds()
  app = buildApp()
})

afterEach(async () => {
  await app.close()
  await ids.close()
})

const create = (name) => app.inject({ method: 'POST', url: '/users', body: { name } })

test('a user that was created is found by its ID', async () => {
  const created = await create('Ada')
  assert.equal(created.statusCode, 201)
  const { id } = created.json()
  const found = await app.inject(`/users/${id}`)
  assert.equal(found.statusCode, 200)
  assert.deepEqual(found.json(), { id, name: 'Ada' })
})

test('what is no ID is answered with 400 and a code', async () => {
  const { id } = (await create('Ada')).json()
  for (const wrong of [id.slice(0, -1), id.replace('usr_', 'ord_'), '1']) {
    const response = await app.inject(`/users/${wrong}`)
    assert.equal(response.statusCode, 400, wrong)
    assert.equal(response.json().code, 'ERR_MINTID_INVALID_ID')
  }
})

test('without a lease nothing is created, and what exists is still found', async () => {
  const { id } = (await create('Ada')).json()
  ids.loseLease()
  const refused = await create('Grace')
  assert.equal(refused.statusCode, 503)
  assert.equal(refused.json().code, 'ERR_MINTID_LEASE_LOST')
  assert.equal((await app.inject(`/users/${id}`)).statusCode, 200)

  ids.regainLease()
  assert.equal((await create('Grace')).statusCode, 201)
})
