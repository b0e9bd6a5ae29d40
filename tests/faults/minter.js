'use strict'

const { now } = require('./clock.js')
const { CALLS, KINDS, RecordWriter, unpack } = require('./records.js')

const [NEXT, NEXT_DB, NEXT_MANY_DB] = CALLS.keys()

/** What a call without a lease throws; anything else is a fault of its own. */
const REFUSALS = ['LEASE_LOST', 'CONFLICT', 'NOT_READY', 'CLOSED'].map((name) => `ERR_MINTID_${name}`)

/** Mints all kinds by all calls, writes each ID down, and says when minting stops and when it goes on. */
class Minter {
  made = 0
  refused = 0
  /** How often each error came. */
  codes = {}
  lastAt = 0
  /** When the first call of the latest round that was not refused began. */
  firstOfRound = 0
  #minting = false
  #types
  #writer
  #say

  constructor(ids, file, say, kinds = KINDS) {
    this.#types = kinds.map((kind) => ({ type: ids.type('', { kind }), kind: KINDS.indexOf(kind) }))
    this.#writer = new RecordWriter(file)
    this.#say = say
  }

  /**
   * One round: `singles` IDs by each of the calls for one, `many` at once, of each kind.
   *
   * @returns {number} when it was over
   */
  round({ singles, many }) {
    const began = now()
    const before = this.made
    for (const one of this.#types) {
      for (let left = singles; left > 0; left--) {
        this.#attempt(() => this.#single(one))
        this.#attempt(() => this.#record(one, one.type.nextDb(), NEXT_DB))
      }
      this.#attempt(() => this.#many(one, many))
    }
    this.#writer.flush()
    if (this.made > before) this.firstOfRound = began
    this.lastAt = now()
    return this.lastAt
  }

  #attempt(mint) {
    try {
      mint()
      if (!this.#minting) this.#turn('minting')
    } catch (error) {
      this.refused++
      this.codes[error.code] = (this.codes[error.code] ?? 0) + 1
      const first = this.codes[error.code] === 1
      if (first && !REFUSALS.includes(error.code))
        this.#say({ event: 'unexpected', code: error.code, message: error.stack })
      if (this.#minting) this.#turn('refusing', error.code)
    }
  }

  #turn(event, code) {
    this.#minting = event === 'minting'
    this.#say({ event, code })
  }

  #single(one) {
    const id = one.type.next()
    this.#record(one, one.type.toDb(id), NEXT, id)
  }

  #many(one, many) {
    const numbers = one.type.nextManyDb(many)
    const ids = one.kind === KINDS.indexOf('encrypted') ? one.type.fromDbMany(numbers) : []
    for (const [index, number] of numbers.entries()) this.#record(one, number, NEXT_MANY_DB, ids[index])
  }

  /** An encrypted number says nothing by itself: its type takes it apart. */
  #record({ type, kind }, number, call, id) {
    const parts = KINDS[kind] === 'encrypted' ? taken(type.inspect(id ?? type.fromDb(number))) : unpack(number)
    this.#writer.add(number, parts, kind, call)
    this.made++
  }
}

const taken = ({ timestamp, machineId, sequence }) => ({ timestamp: timestamp.getTime(), machineId, count: sequence })

module.exports = { Minter }
