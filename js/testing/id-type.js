'use strict'

const { shown } = require('../options/check.js')
const { codecOf } = require('./codec.js')
const { Failure } = require('./failure.js')
const { Layout } = require('./layout.js')
const { Spelling } = require('./spelling.js')

const SIGN = 2n ** 63n

/** What the IDs of one column look like, as src/id composes it. Numbers are unsigned BigInts; it throws Failures. */
class FakeIdType {
  #spec
  #layout
  #encryption
  #app
  #db
  #accepts

  /**
   * @param {object} spec a checked TypeSpec
   * @param {import('./layout.js').Layout} layout
   * @param {import('./ciphers/keyring.js').Keyring} keys the generator's
   */
  constructor(spec, layout, keys) {
    const { prefix, dbFormat, persistPrefix, kind, cipher, accepts, bits = 64 } = spec
    const spelling = (one) => new Spelling({ ...one, bits, mask: one.mask ? maskOf(keys, bits, one) : undefined })
    this.#spec = { ...spec, bits }
    this.#layout = spec.layout ? new Layout(spec.layout) : layout
    this.#encryption = kind === 'encrypted' ? keys.cipher(bits, { cipher }, "kind 'encrypted'") : undefined
    this.#app = spelling(spec)
    this.#db = spelling({ prefix: persistPrefix ? prefix : '', format: dbFormat })
    this.#accepts = accepts.map(spelling)
  }

  /** How nonces are counted: 'counter' or 'sortable'. */
  get order() {
    const { kind, base } = this.#spec
    return kind === 'encrypted' ? base : kind
  }

  get layout() {
    return this.#layout
  }

  /** Where nonces are counted: what is unique after encryption is only what went through the same cipher and key. */
  get space() {
    return [this.#spec.kind, this.order, this.#encryption?.encrypt(0n), this.#spec.space].join(' ')
  }

  /** The next number of the database's, under a lease. */
  mint(handle, place) {
    const bits = this.countedBits
    const nonce = bits === 64 ? handle.next(this, place) : handle.nextWide(bits, `${this.space} wide`, this.order)
    return this.number(nonce)
  }

  /** How many bits are counted: of 96 encrypted by a cipher of 64 the upper ones. */
  get countedBits() {
    return this.#encryption?.takes ? 64 : this.#spec.bits
  }

  /** The number that the database keeps for a nonce. */
  number(nonce) {
    const plain = nonce << BigInt(this.#spec.bits - this.countedBits)
    return this.#encryption?.encrypt(plain) ?? plain
  }

  writeApp(number) {
    return this.#app.write(number)
  }

  writeDb(number) {
    return this.#db.write(number)
  }

  readApp(value) {
    const number = this.#readAny(value)
    if (typeof number === 'bigint') return number
    const expected = [this.#app, ...this.#accepts].map((spelling) => spelling.describe()).join(', or ')
    throw invalid('an ID of this type', number, expected, value)
  }

  readDb(value) {
    const number = this.#madeHere(this.#db.read(value))
    if (typeof number === 'bigint') return number
    throw invalid('a database value of this type', number, this.#db.describe(), value)
  }

  isCanonical(value) {
    return (
      typeof this.#madeHere(this.#app.read(value)) === 'bigint' && (!this.#app.isBigint || typeof value === 'bigint')
    )
  }

  respell(value, format) {
    const { bits } = this.#spec
    if (codecOf(format, { bits }) === undefined) {
      const text = `to: expected 'raw' or a text format for ${bits} bits, found '${format}'`
      throw new Failure('CONFIG', text, { option: 'to' })
    }
    return this.#app.writeAs(this.readApp(value), format)
  }

  inspect(value) {
    const number = this.readApp(value)
    const { kind } = this.#spec
    const parts = this.#parts(this.#encryption?.decrypt(number) ?? number)
    return { kind, exact: this.order === 'sortable', ...parts, db: this.writeDb(number) }
  }

  range(fromMs, toMs, partition = 0) {
    const { kind, dbFormat } = this.#spec
    if (kind !== 'sortable') refuse('kind', `a range of time: expected kind 'sortable', found '${kind}'`)
    this.#checkSorting('a range of time')
    if (fromMs > toMs) refuse('to', `to: expected a time at or after from (${fromMs} ms), found ${toMs} ms`)
    const [from, to] = [fromMs, toMs].map((ms) => this.#layout.firstNonceAt(ms, partition))
    if (dbFormat === 'signed' && from < SIGN && to >= SIGN) {
      const turn = this.#layout.parts(SIGN).timestamp
      const text = `a range of time: dbFormat 'signed' turns negative at ${turn} ms since 1970; ask before and after it`
      throw new Failure('TIME', text)
    }
    return [this.writeDb(from), this.writeDb(to)]
  }

  /** Whether an ID may have been made between two times. */
  plausible(value, fromMs, toMs) {
    const number = this.readApp(value)
    const plain = this.#encryption?.decrypt(number) ?? number
    const { timestamp, machineId } = this.#parts(plain)
    const inTime = timestamp >= fromMs && timestamp <= toMs && this.#layout.timestamp(timestamp) < this.#layout.end
    if (inTime && machineId < this.#layout.machines && this.#fits(plain)) return true
    const expected = [this.#app, ...this.#accepts].map((spelling) => spelling.describe()).join(', or ')
    throw invalid('an ID of this type', 'implausible', expected, value)
  }

  /** Whether no bit is set that no nonce has. */
  #fits(plain) {
    const { bits } = this.#spec
    const tail = bits - this.countedBits
    if (BigInt.asUintN(tail, plain) !== 0n) return false
    const nonce = plain >> BigInt(tail)
    return this.countedBits === 64 ? this.#layout.fits(nonce) : this.#layout.wideFits(bits, nonce)
  }

  /** The first database value of a partition, and the one after its last if there is one. */
  partitionRange(partition = 0) {
    const { kind, dbFormat } = this.#spec
    if (kind === 'encrypted') refuse('kind', "a partition's range: expected one that is not 'encrypted'")
    this.#checkSorting("a partition's range")
    const [from, to] = this.#layout.partitionRange(partition)
    const last = dbFormat === 'signed' ? SIGN : 2n * SIGN
    if (to === last) return [this.writeDb(from)]
    if (to < 2n * SIGN) return [from, to].map((number) => this.writeDb(number))
    // The negative ones end before zero.
    if (from > 0n) return [from, 0n].map((number) => this.writeDb(number))
    const text = "a partition's range: dbFormat 'signed' has negative numbers in the layout's only partition"
    throw new Failure('TIME', text)
  }

  #checkSorting(what) {
    const { dbFormat } = this.#spec
    if (dbFormat !== 'url64') return
    refuse('dbFormat', `${what}: text of dbFormat 'url64' does not sort like the number`)
  }

  #parts(plain) {
    const { bits } = this.#spec
    const nonce = plain >> BigInt(bits - this.countedBits)
    return this.countedBits === 64 ? this.#layout.parts(nonce) : this.#layout.wideParts(bits, nonce)
  }

  /** Refuses what the type's cipher cannot have made. */
  #madeHere(number) {
    const takes = this.#encryption?.takes
    return typeof number === 'bigint' && takes && !takes(number) ? 'range' : number
  }

  /** The number, or the reason that belongs to the longest prefix that matched. */
  #readAny(value) {
    let closest = { matched: -1 }
    for (const spelling of [this.#app, ...this.#accepts]) {
      const number = spelling.read(value)
      if (typeof number === 'bigint') return this.#madeHere(number)
      const matched = number === 'type' || number === 'prefix' ? -1 : spelling.prefix.length
      if (closest.reason === undefined || matched > closest.matched) closest = { matched, reason: number }
    }
    return closest.reason
  }
}

function refuse(option, message) {
  throw new Failure('CONFIG', message, { option })
}

/** Where only 64 of 96 bits are encrypted, nothing is masked. */
function maskOf(keys, bits, spelling) {
  const mask = keys.cipher(bits, spelling, 'mask')
  if (!mask.takes) return mask
  const text = `cipher: expected 'speck' for a mask of ${bits} bits, found '${spelling.cipher}'`
  throw new Failure('CONFIG', text, { option: 'cipher' })
}

function invalid(what, reason, expected, found) {
  const text = `not ${what} (${reason}): expected ${expected}, found ${shown(found)}`
  return new Failure('INVALID_ID', text, { reason, expected })
}

module.exports = { FakeIdType }
