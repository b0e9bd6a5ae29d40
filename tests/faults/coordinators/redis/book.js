'use strict'

/** A registry's hash: `mintid:{namespace}`. */
const KEY = /^mintid:\{(.*)\}$/
/** The end and the token of a machine ID's lease. */
const LEASE = /^[et](\d+)$/
const TOKEN = /^t(\d+)$/

const READS = 'EXISTS HEXISTS HGET HGETALL HKEYS HLEN HMGET TYPE'.split(' ')

/** Every lease of a server's, kept by what the server executed. */
class Book {
  /** Each time that a lease was found, granted, renewed or released, as `fencesOf` takes it. */
  changes = []
  #hashes = new Map()

  /**
   * @param {Map<string, Map<string, string>>} hashes by key: what is there at the beginning, or after a while in which
   *   nothing was told
   * @param {number} at in milliseconds
   */
  found(hashes, at) {
    this.#hashes = hashes
    for (const [key, hash] of hashes) {
      for (const field of hash.keys()) {
        const [, id] = TOKEN.exec(field) ?? []
        if (id !== undefined) this.#note(at, { key, id })
      }
    }
  }

  /**
   * @param {string[][]} commands that were executed at once: nobody saw anything between two of them
   * @param {{ at: number, script: boolean }} when in milliseconds; what scripts did not do (replication, the harness) is
   *   kept in mind, and grants nothing
   */
  executed(commands, { at, script }) {
    const leases = new Map()
    const write = (key, field, value) => {
      const hash = this.#hash(key)
      const [, id] = LEASE.exec(field) ?? []
      const place = `${key} ${id}`
      if (id !== undefined && !leases.has(place)) leases.set(place, { key, id, before: hash.get(`t${id}`) })
      if (value === undefined) hash.delete(field)
      else hash.set(field, value)
    }
    for (const [name, ...words] of commands) this.#execute(name.toUpperCase(), words, write)
    if (script) for (const lease of leases.values()) this.#note(at, lease)
  }

  #hash(key) {
    if (!this.#hashes.has(key)) this.#hashes.set(key, new Map())
    return this.#hashes.get(key)
  }

  #execute(name, [key, ...words], write) {
    if (name === 'FLUSHALL' || name === 'FLUSHDB') this.#hashes.clear()
    else if (name === 'DEL' || name === 'UNLINK') for (const gone of [key, ...words]) this.#hashes.delete(gone)
    else if (!KEY.test(key) || READS.includes(name)) return
    else if (name === 'HSET' || name === 'HMSET') {
      for (let at = 0; at < words.length; at += 2) write(key, words[at], words[at + 1])
    } else if (name === 'HSETNX') {
      if (!this.#hash(key).has(words[0])) write(key, ...words)
    } else if (name === 'HDEL') for (const field of words) write(key, field)
    else if (name !== 'HINCRBY' || LEASE.test(words[0])) throw new Error(`the audit does not know ${name} ${key}`)
  }

  #note(at, { key, id, before }) {
    const [hash, [, namespace]] = [this.#hash(key), KEY.exec(key)]
    const now = hash.get(`t${id}`)
    if (now === undefined && before === undefined) return
    const expires = Number(hash.get(`e${id}`))
    this.changes.push({ at, namespace, id: Number(id), token: now ?? before, expires, released: now === undefined })
  }
}

module.exports = { Book }
