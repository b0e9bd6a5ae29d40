'use strict'

// Partitions and ranges of time in a real PostgreSQL.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { ConfigError, IdGenerator, idType } = require('mintid')
const { sql, temporarySchema } = require('../support/psql.js')
const { Registry } = require('../support/registry.js')

const LAYOUT = { partition: 2, time: 41, machine: 9, sequence: 12 }
const config = (option) => (error) => error instanceof ConfigError && error.option === option

/** A value as SQL has it. */
function literal(value) {
  if (typeof value === 'bigint') return String(value)
  return typeof value === 'string' ? `'${value}'` : `'\\x${value.toString('hex')}'`
}

for (const [dbFormat, column] of [
  ['signed', 'bigint'],
  ['unsigned', 'numeric(20)'],
  ['hex', 'text collate "C"'],
  ['raw', 'bytea']
]) {
  test(`a table by partitions of ${dbFormat}: each row in its part, and queries look at one part alone`, async (t) => {
    const ids = await IdGenerator.connect({ coordinator: new Registry().coordinator })
    t.after(() => ids.close())
    const schema = temporarySchema(t)
    const type = ids.type('ord_', { layout: LAYOUT, kind: 'sortable', dbFormat })
    sql(`create table ${schema}.orders (id ${column} primary key) partition by range (id)`)
    const ddl = type.partitionDdl('orders', { schema })
    sql(ddl)
    sql(ddl)
    const where = []
    for (let partition = 0; partition < 4; partition++) {
      const db = type.nextDb({ partition })
      sql(`insert into ${schema}.orders values (${literal(db)})`)
      const { gte, lt } = type.partitionRange(partition)
      where.push(`id >= ${literal(gte)}${lt === null ? '' : ` and id < ${literal(lt)}`}`)
    }
    const found = sql(`select tableoid::regclass::text from ${schema}.orders order by 1`).flat()
    assert.deepEqual(
      found,
      [0, 1, 2, 3].map((partition) => `${schema}.orders_p${partition}`)
    )
    for (const [partition, condition] of where.entries()) {
      const plan = sql(`explain (costs off) select * from ${schema}.orders where ${condition}`).flat().join('\n')
      assert.match(plan, new RegExp(`orders_p${partition}\\b`))
      assert.equal(new Set(plan.match(/orders_p\d/g)).size, 1, plan)
      assert.deepEqual(sql(`select count(*) from ${schema}.orders where ${condition}`), [['1']])
    }
  })
}

test('a range of time finds exactly what was made in it, by the index', async (t) => {
  const ids = await IdGenerator.connect({ coordinator: new Registry().coordinator })
  t.after(() => ids.close())
  const schema = temporarySchema(t)
  const type = ids.type('evt_', { kind: 'sortable' })
  sql(`create table ${schema}.events (id bigint primary key)`)
  const dbs = [...type.nextManyDb(20_000)]
  sql(`insert into ${schema}.events values ${dbs.map((db) => `(${db})`).join(', ')}; analyze ${schema}.events`)
  const time = (db) => type.inspect(type.fromDb(db)).timestamp.getTime()
  const [first, last] = [time(dbs[0]), time(dbs.at(-1))]
  for (const [from, to] of [
    [first, last],
    [first, first + 1],
    [last, last + 1],
    [0, last + 1],
    [first + 1, last]
  ]) {
    const { gte, lt } = type.rangeFor({ from: Math.min(from, to), to })
    const expected = dbs.filter((db) => time(db) >= from && time(db) < to).length
    const query = `select count(*) from ${schema}.events where id >= ${gte} and id < ${lt}`
    assert.deepEqual(sql(query), [[String(expected)]])
  }
  const { gte, lt } = type.rangeFor({ from: first, to: first + 1 })
  const plan = sql(
    `set enable_seqscan = off; explain (costs off) select * from ${schema}.events where id >= ${gte} and id < ${lt}`
  )
  assert.match(plan.flat().join('\n'), /Index (Only )?Scan|Bitmap Index Scan/)
})

test('what is no table, no schema and no partition is refused by name', () => {
  const type = idType('ord_', { layout: LAYOUT })
  assert.equal(type.partitionDdl('orders').split('\n').length, 5)
  assert.match(
    type.partitionDdl('o"x', { partitions: [1] }),
    /^create table if not exists "o""x_p1" partition of "o""x" for/
  )
  for (const table of ['', 7, undefined, 'x\0', 'x'.repeat(64)]) {
    assert.throws(() => type.partitionDdl(table), config('table'))
  }
  assert.throws(() => type.partitionDdl('x'.repeat(62)), config('table'))
  for (const [options, option] of [
    [{ schema: 7 }, 'schema'],
    [{ partitions: [] }, 'partitions'],
    [{ partitions: 4 }, 'partitions'],
    [{ partitions: [4] }, 'partition'],
    [{ partitions: ['1'] }, 'partition'],
    [{ partition: 1 }, 'partition']
  ]) {
    assert.throws(() => type.partitionDdl('orders', options), config(option))
  }
  assert.throws(() => idType('').partitionDdl('orders'), config('partitions'))
  assert.throws(() => idType('', { layout: LAYOUT, dbFormat: 'url64' }).partitionDdl('orders'), config('dbFormat'))
})
