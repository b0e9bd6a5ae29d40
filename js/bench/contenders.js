'use strict'

const { IdGenerator } = require('../../index.js')
const { IDS } = require('./harness.js')

/**
 * The default layout grants 8192 IDs for each millisecond of the lease, one each 122 ns, and a loop that does nothing
 * else outruns that. With this layout loops measure work and never wait; `endless.js` shows the default's behaviour.
 */
const LAYOUT = { time: 41, machine: 2, sequence: 21 }

const KEY = 'known to all, and good for nothing but a benchmark'

/**
 * IDs of ours in all the ways they can be had, of several types in one process, as in an application.
 *
 * @param {object} options who grants the lease: a coordinator, or a machine ID
 * @returns {Promise<{ contenders: object[], close: () => Promise<void> }>} contenders as `measure` takes them
 */
async function ours(options) {
  const ids = await IdGenerator.connect({ ...options, namespace: 'benchmark', layout: LAYOUT, key: KEY })
  const userId = ids.type('usr_', { mask: true })
  const texts = userId.nextMany(IDS)
  const dbs = texts.map((text) => userId.toDb(text))
  const scope = {
    userId,
    url64Id: ids.type('usr_', { mask: true, format: 'url64' }),
    orderId: ids.type('ord_', { mask: true, kind: 'sortable' }),
    texts,
    dbs,
    textLists: thousands(texts),
    dbLists: thousands(dbs),
    typedLists: thousands(BigInt64Array.from(dbs))
  }
  const contender = (name, gives, call, atOnce) => ({ name: `mintid ${name}`, gives, call, atOnce, scope })
  const contenders = [
    contender('next()', 'text', 'userId.next()'),
    contender('next(), url64', 'text', 'url64Id.next()'),
    contender('next(), sortable', 'text', 'orderId.next()'),
    contender('nextDb()', 'bigint', 'userId.nextDb()'),
    contender('nextPair()', 'pair', 'userId.nextPair()'),
    contender('nextMany(1000)', 'text', 'userId.nextMany(1000)', 1000),
    contender('nextManyDb(1000)', 'bigint', 'userId.nextManyDb(1000)', 1000),
    contender('toDb(text)', 'bigint', 'userId.toDb(texts[i])'),
    contender('fromDb(bigint)', 'text', 'userId.fromDb(dbs[i])'),
    contender('toDbMany(1000 texts)', 'bigint', 'userId.toDbMany(textLists[i / 1000])', 1000),
    contender('fromDbMany(1000 bigints)', 'text', 'userId.fromDbMany(dbLists[i / 1000])', 1000),
    contender('fromDbMany(BigInt64Array)', 'text', 'userId.fromDbMany(typedLists[i / 1000])', 1000)
  ]
  return { contenders, close: () => ids.close() }
}

function thousands(list) {
  return Array.from({ length: list.length / 1000 }, (_, index) => list.slice(1000 * index, 1000 * (index + 1)))
}

module.exports = { ours, LAYOUT, KEY }
