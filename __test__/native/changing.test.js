'use strict'

// The recipes of docs/changing.md, on a table that has IDs.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { IdGenerator } = require('mintid')
const { sql, temporarySchema } = require('../support/psql.js')
const { Registry } = require('../support/registry.js')

const [KEY, K2] = ['0123456789abcdef0123456789abcdef', 'another key of thirty-two bytes..']

async function connected(t, options) {
  const ids = await IdGenerator.connect({
    coordinator: new Registry().coordinator,
    key: KEY,
    keys: { k2: K2 },
    ...options
  })
  t.after(() => ids.close())
  return ids
}

test('prefix, key, cipher and format are changed in two steps, and no text is refused on the way', async (t) => {
  const ids = await connected(t)
  const now = { mask: 'k2', cipher: 'aes', format: 'hex32' }
  const then = { mask: true, cipher: 'speck', format: 'base58' }
  const before = ids.type('usr_', { mask: true })
  const between = ids.type('usr_', { mask: true, accepts: [{ prefix: 'u2_', ...now }] })
  const after = ids.type('u2_', { ...now, accepts: [{ prefix: 'usr_', ...then }] })
  const finally_ = ids.type('u2_', now)
  const schema = temporarySchema(t)
  sql(`create table ${schema}.users (id bigint primary key)`)
  const steps = [before, between, after, finally_]
  for (const [step, writer] of steps.entries()) {
    for (const { id, db } of Array.from({ length: 20 }, () => writer.nextPair())) {
      sql(`insert into ${schema}.users values (${db})`)
      // Processes of one step run beside those of the next and of the one before.
      for (const reader of steps.slice(Math.max(0, step - 1), step + 2)) {
        assert.equal(reader.toDb(id), db)
        assert.equal(reader.parse(id), reader.fromDb(db))
      }
    }
  }
  for (const [db] of sql(`select id from ${schema}.users`)) {
    assert.equal(after.parse(before.fromDb(db)), finally_.fromDb(db))
    assert.equal(between.parse(after.fromDb(db)), before.fromDb(db))
  }
  assert.throws(() => finally_.parse(before.fromDb(1n)), { reason: 'prefix' })
})

test('a mask is put on and taken off, and padding left out', async (t) => {
  const ids = await connected(t)
  const plain = ids.type('p_')
  const masked = ids.type('m_', { mask: true, accepts: [{ prefix: 'p_', mask: false }] })
  assert.equal(masked.toDb(plain.fromDb(7n)), 7n)
  const unpadded = ids.type('p_', { pad: false, accepts: [{ pad: true }] })
  assert.equal(unpadded.parse(plain.fromDb(7n)), unpadded.fromDb(7n))
  assert.throws(() => ids.type('p_', { mask: true, accepts: [{ mask: false }] }), { option: 'accepts[0]' })
})

const CONVERTED = {
  raw: `alter column id type bytea using int8send(id)`,
  hex: `alter column id type text collate "C" using lpad(to_hex(id), 16, '0')`,
  unsigned: `alter column id type numeric(20)
    using case when id < 0 then id + 18446744073709551616::numeric else id end`
}

for (const [dbFormat, statement] of Object.entries(CONVERTED)) {
  test(`a bigint column becomes one of ${dbFormat}, and its IDs stay what they are`, async (t) => {
    const ids = await connected(t)
    const signed = ids.type('usr_', { mask: true })
    const schema = temporarySchema(t)
    const shown = [0n, -1n, -(2n ** 63n), 2n ** 63n - 1n, ...signed.nextManyDb(50)].map((db) => signed.fromDb(db))
    sql(`create table ${schema}.users (id bigint primary key)`)
    sql(`insert into ${schema}.users values ${shown.map((id) => `(${signed.toDb(id)})`).join(', ')}`)
    sql(`alter table ${schema}.users ${statement}`)
    const now = ids.type('usr_', { mask: true, dbFormat })
    const found = sql(`select id from ${schema}.users`).map(([db]) =>
      now.fromDb(dbFormat === 'raw' ? Buffer.from(db.slice(2), 'hex') : db)
    )
    assert.deepEqual(found.sort(), shown.sort())
  })
}

test('kind, space and partition change from one process to the next, and no number comes twice', async () => {
  const { coordinator } = new Registry()
  const layout = { partition: 1, time: 41, machine: 9, sequence: 13 }
  const seen = []
  for (const options of [
    {},
    { kind: 'sortable' },
    { kind: 'sortable', overflow: 'drift' },
    { space: 'users' },
    { kind: 'sortable', space: 'users' },
    { partition: 1 },
    {}
  ]) {
    const ids = await IdGenerator.connect({ coordinator, layout })
    seen.push(...ids.type('', options).nextManyDb(20_000))
    await ids.close()
  }
  assert.equal(new Set(seen).size, seen.length)
})

const NEVER = {
  'another key of an encrypted type': [{ kind: 'encrypted' }, { kind: 'encrypted', cipher: 'aes' }],
  'an encrypted type becomes a counted one': [{ kind: 'encrypted' }, { mask: true }],
  'another layout': [{ mask: true }, { mask: true, layout: { time: 41, machine: 9, sequence: 14 } }]
}

for (const [what, [then, now]] of Object.entries(NEVER)) {
  test(`what never changes gets a column of its own: ${what}`, async (t) => {
    const ids = await connected(t)
    const [before, after] = [ids.type('usr_', then), ids.type('u2_', now)]
    const users = `${temporarySchema(t)}.users`
    const all = () => sql(`select id, new_id from ${users} order by number`)
    const texts = before.nextMany(30)
    sql(`create table ${users} (id bigint primary key, number serial)`)
    sql(`insert into ${users} values ${texts.map((id) => `(${before.toDb(id)})`).join(', ')}`)
    // 1. A column with its own unique constraint.
    sql(`alter table ${users} add column new_id bigint unique`)
    // 2. New rows get both, old ones a new one in batches.
    const added = [before.next(), after.next()]
    sql(`insert into ${users} (id, new_id) values (${before.toDb(added[0])}, ${after.toDb(added[1])})`)
    for (;;) {
      const lacking = sql(`select number from ${users} where new_id is null order by number limit 12`)
      if (lacking.length === 0) break
      const fresh = [...after.nextManyDb(lacking.length)]
      const pairs = lacking.map(([number], at) => `(${number}, ${fresh[at]})`).join(', ')
      sql(`update ${users} set new_id = v.id from (values ${pairs}) as v (number, id) where users.number = v.number`)
    }
    // 3. Both find the row.
    const rows = all()
    assert.equal(rows.length, 31)
    for (const [at, [id, newId]] of rows.entries()) {
      assert.equal(before.fromDb(id), [...texts, added[0]][at])
      const shown = after.fromDb(newId)
      assert.deepEqual(sql(`select id from ${users} where new_id = ${after.toDb(shown)}`), [[id]])
      assert.throws(() => after.parse(before.fromDb(id)), { reason: 'prefix' })
    }
    // 4. The new column becomes the key.
    sql(`alter table ${users} alter column new_id set not null, drop constraint users_pkey, add primary key (new_id)`)
    assert.deepEqual(all(), rows)
  })
}
