'use strict'

// Each driver of Redis as its users have it: `eval` is what mintid is lent, `id` the connection's number at the server.

const Redis = require('ioredis')

const DRIVERS = {
  async ioredis(url) {
    const redis = new Redis(url, { maxRetriesPerRequest: 0 })
    redis.on('error', () => {})
    return {
      eval: (script, keys, args) => redis.eval(script, keys.length, ...keys, ...args),
      id: () => redis.client('ID'),
      end: () => redis.quit()
    }
  },
  'node-redis 4': (url) => nodeRedis(require('node-redis-4'), { url }),
  'node-redis 5': (url) => nodeRedis(require('node-redis-5'), { url }),
  'node-redis 5 with RESP3': (url) => nodeRedis(require('node-redis-5'), { url, RESP: 3 }),
  'node-redis 6': (url) => nodeRedis(require('node-redis-6'), { url })
}

async function nodeRedis({ createClient }, options) {
  const client = createClient({ ...options, disableOfflineQueue: true })
  client.on('error', () => {})
  await client.connect()
  return {
    eval: (script, keys, args) => client.eval(script, { keys, arguments: args }),
    id: () => client.sendCommand(['CLIENT', 'ID']),
    end: () => (client.close ? client.close() : client.quit())
  }
}

module.exports = { DRIVERS }
