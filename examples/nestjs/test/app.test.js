'use strict'

const assert = require('node:assert/strict')
const { afterEach, beforeEach, test } = require('node:test')
const { Test } = require('@nestjs/testing')
const { fakeIds } = require('mintid/testing')
const { AppModule } = require('../dist/app.module.js')
const { IdsService } = require('../dist/ids.service.js')

let ids
let app
let users

beforeEach(async () => {
  ids = fakeIds()
  const builder = Test.createTestingModule({ imports: [AppModule] })
  const module = await builder.overrideProvider(IdsService).useValue({}).compile()
  app = module.createNestApplication({ logger: false })
  await app.listen(0, '127.0.0.1')
  users = `${await app.getUrl()}/users`
})

afterEach(async () => {
  await app.close()
  await ids.close()
})

const create = (name) => fetch(users, { method: 'POST', body: new URLSearchParams({ name }) })

test('a user that was created is found by its ID', async () => {
  const created = await create('Ada')
  assert.equal(created.status, 201)
  const { id } = await created.json()
  const found = await fetch(`${users}/${id}`)
  assert.equal(found.status, 200)
  assert.deepEqual(await found.json(), { id, name: 'Ada' })
})

test('what is no ID is answered with 400 and a code', async () => {
  const { id } = await (await create('Ada')).json()
  for (const wrong of [id.slice(0, -1), id.replace('usr_', 'ord_'), '1']) {
    const response = await fetch(`${users}/${wrong}`)
    assert.equal(response.status, 400, wrong)
    assert.equal((await response.json()).code, 'ERR_MINTID_INVALID_ID')
  }
})

test('without a lease nothing is created, and what exists is still found', async () => {
  const { id } = await (await create('Ada')).json()
  ids.loseLease()
  assert.equal((await create('Grace')).status, 503)
  assert.equal((await fetch(`${users}/${id}`)).status, 200)

  ids.regainLease()
  assert.equal((await create('Grace')).status, 201)
})
