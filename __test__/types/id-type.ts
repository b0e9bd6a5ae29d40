import { type AnyIdType, type DbOf, type IdCodec, type IdOf, type IdType, idType, type SortableIdType } from 'mintid'
import { type Equal, expectType } from './expect.js'

const userId = idType('usr_', { mask: true })
const plainId = idType('')
const eventId = idType('evt_', { kind: 'sortable' })
const bytesId = idType('b_', { format: 'raw', dbFormat: 'raw' })
const bareNumber = idType('', { format: 'unsigned', dbFormat: 'unsigned' })
const prefixedNumber = idType('n_', { format: 'signed' })
const textInDb = idType('t_', { dbFormat: 'url64' })
const prefixInDb = idType('t_', { dbFormat: 'url64', persistPrefix: true })

// The prefix is part of the ID's type.
expectType<Equal<IdOf<typeof userId>, `usr_${string}`>>()
expectType<Equal<typeof userId.prefix, 'usr_'>>()
const typed: `usr_${string}` = userId.next()
// @ts-expect-error another prefix
const wrong: `ord_${string}` = userId.next()
// @ts-expect-error an ID of another type
userId.toDb(eventId.next())
// @ts-expect-error a plain string must be parsed first
userId.toDb('usr_' as string)
// @ts-expect-error a literal with a wrong prefix
userId.toDb('ord_4k9TnZqJs7B')
userId.toDb('usr_4k9TnZqJs7B')
userId.toDb(userId.parse('usr_4k9TnZqJs7B' as unknown))

// Formats of the application's own, and without padding.
const codec: IdCodec = { encode: (number) => number.toString(36), decode: (text) => BigInt(text) }
const ownId = idType('o_', {
  format: codec,
  accepts: [
    { prefix: 'p_', format: 'hex' },
    { prefix: 'q_', pad: false }
  ]
})
expectType<Equal<IdOf<typeof ownId>, `o_${string}`>>()
expectType<Equal<ReturnType<typeof ownId.format<'signed'>>, `o_${string}`>>()
idType('x_', { format: { encode: String, decode: () => undefined } })
const stampId = idType('x_', { format: 'base62', pad: false })
expectType<Equal<IdOf<typeof stampId>, `x_${string}`>>()
idType('x_', { pad: false, dbFormat: 'decimal' })
// @ts-expect-error what has one length anyway
idType('x_', { format: 'hex', pad: false })
// @ts-expect-error a codec pads as it likes
idType('x_', { format: codec, pad: false })
// @ts-expect-error it must read what it writes
idType('x_', { format: { encode: String } })
// @ts-expect-error numbers of 64 bits are bigints
idType('x_', { format: { encode: (number: number) => '', decode: () => 5n } })
// @ts-expect-error databases get what they can sort and compare
idType('x_', { dbFormat: codec })

// Places in the key space.
const placedId = idType('p_', {
  kind: 'sortable',
  layout: { partition: 8, time: 41, machine: 9, sequence: 6, epoch: '2025-01-01' },
  partition: () => 3,
  space: 'orders',
  overflow: 'drift'
})
placedId.next({ partition: 3, time: new Date() })
placedId.nextMany(10, { partition: 3 })
placedId.nextPair({ time: 0 }).db satisfies bigint
const whole = placedId.partitionRange(3)
expectType<Equal<typeof whole, { gte: bigint; lt: bigint | null }>>()
placedId.rangeFor({ from: 0, to: 1, partition: 3 })
userId.next({ partition: 3 })
// @ts-expect-error counters do not count by time
userId.next({ time: 0 })
// @ts-expect-error no such place
placedId.next({ shard: 3 })
// @ts-expect-error only what sorts by time overflows a millisecond
idType('x_', { overflow: 'drift' })
// @ts-expect-error wide types have no partitions
idType('x_', { bits: 128, partition: 1 })
// @ts-expect-error nor a layout of their own
idType('x_', { bits: 96, layout: {} })

const ddl: string = placedId.partitionDdl('orders', { schema: 'app', partitions: [0, 1] })
userId.parse('x', { plausible: true })
userId.safeParse('x', { plausible: { since: new Date(), skewMs: 1000 } })
// @ts-expect-error a typing error
userId.parse('x', { plausable: true })

// Wider numbers.
const wideId = idType('w_', { bits: 128, kind: 'sortable', mask: true, cipher: 'aes' })
expectType<Equal<IdOf<typeof wideId>, `w_${string}`>>()
expectType<Equal<DbOf<typeof wideId>, Buffer>>()
expectType<Equal<ReturnType<typeof wideId.nextManyDb>, Buffer[]>>()
const wideText = idType('w_', { bits: 96, format: 'hex32', dbFormat: 'hex', kind: 'encrypted', cipher: 'des3' })
expectType<Equal<DbOf<typeof wideText>, string>>()
idType('w_', { bits: 96, format: codec, persistPrefix: true, dbFormat: 'hex' })
// @ts-expect-error no range of time
wideId.rangeFor({ from: 0, to: 1 })

// Formats decide what application and database see.
expectType<Equal<IdOf<typeof plainId>, string>>()
expectType<Equal<DbOf<typeof userId>, bigint>>()
expectType<Equal<IdOf<typeof bytesId>, Buffer>>()
expectType<Equal<DbOf<typeof bytesId>, Buffer>>()
expectType<Equal<IdOf<typeof bareNumber>, bigint>>()
expectType<Equal<IdOf<typeof prefixedNumber>, `n_${string}`>>()
expectType<Equal<DbOf<typeof textInDb>, string>>()
expectType<Equal<DbOf<typeof prefixInDb>, `t_${string}`>>()
expectType<Equal<ReturnType<typeof userId.nextPair>, { id: `usr_${string}`; db: bigint }>>()

// Many at once.
expectType<Equal<ReturnType<typeof userId.nextMany>, `usr_${string}`[]>>()
const signed: BigInt64Array = userId.nextManyDb(10)
const unsigned: BigUint64Array = bareNumber.nextManyDb(10)
expectType<Equal<ReturnType<typeof textInDb.nextManyDb>, string[]>>()
userId.fromDbMany(signed)
userId.fromDbMany([1n, '2', 3])
// @ts-expect-error text columns do not come as typed arrays
textInDb.fromDbMany(signed)
// @ts-expect-error numbers are no text
textInDb.fromDb(1n)
// @ts-expect-error NULL is the caller's to handle
userId.fromDb(null)
bytesId.fromDb(new Uint8Array(8))

// Reading what comes from outside.
declare const input: unknown
if (userId.is(input)) expectType<Equal<typeof input, `usr_${string}`>>()
const result = userId.safeParse(input)
if (result.success) expectType<Equal<typeof result.id, `usr_${string}`>>()
else expectType<Equal<typeof result.error.statusCode, 400>>()

// Other spellings and parts.
expectType<Equal<ReturnType<typeof userId.format<'raw'>>, Buffer>>()
const hex: `usr_${string}` = userId.format(userId.next(), 'hex')
const number: bigint = plainId.format(plainId.next(), 'signed')
// @ts-expect-error an unknown format
userId.format(userId.next(), 'base64')
expectType<Equal<ReturnType<typeof eventId.inspect>['kind'], 'sortable'>>()
const made: Date = eventId.inspect(eventId.next()).timestamp

// Ranges exist where IDs carry their time.
const { gte, lt } = eventId.rangeFor({ from: new Date(), to: Date.now() })
expectType<Equal<typeof gte | typeof lt, bigint>>()
// @ts-expect-error counter
userId.rangeFor({ from: 0, to: 1 })
// @ts-expect-error encrypted, even if what it encrypts is sortable
idType('x_', { kind: 'encrypted', base: 'sortable' }).rangeFor({ from: 0, to: 1 })
// @ts-expect-error both ends are needed
eventId.rangeFor({ from: 0 })
// @ts-expect-error a kind that is only known at run time
idType('x_', { kind: 'sortable' as 'sortable' | 'counter' }).rangeFor({ from: 0, to: 1 })

// Incoherent and unknown options.
idType('x_', { kind: 'encrypted' })
idType('x_', { kind: 'encrypted', base: 'sortable', cipher: 'speck', mask: false })
idType('x_', { mask: true, cipher: 'speck' })
idType('x_', { mask: 'k1', cipher: 'aes', maskTweak: 'users' })
idType('x_', { mask: true, maskTweak: new Uint8Array(8) })
idType('x_', { mask: true as boolean, cipher: 'des3' })
idType('x_', { kind: 'encrypted', cipher: 'blowfish' })
idType('x_', { mask: 'k2', accepts: [{ prefix: 'y_', mask: 'k1', cipher: 'aes', maskTweak: 'users' }] })
idType('x_', { accepts: [{ prefix: 'old_' }, { prefix: '', format: 'hex' }] })
// @ts-expect-error what is encrypted needs no mask
idType('x_', { kind: 'encrypted', mask: true })
// @ts-expect-error nothing is encrypted
idType('x_', { base: 'sortable' })
// @ts-expect-error nothing is encrypted
idType('x_', { kind: 'sortable', base: 'counter' })
// @ts-expect-error nothing is ciphered
idType('x_', { cipher: 'speck' })
// @ts-expect-error no prefix to persist
idType('', { dbFormat: 'hex', persistPrefix: true })
// @ts-expect-error a bigint column cannot hold a prefix
idType('x_', { persistPrefix: true })
// @ts-expect-error a typing error
idType('x_', { mask: true, formt: 'hex' })
// @ts-expect-error an unknown kind
idType('x_', { kind: 'random' })
// @ts-expect-error an unknown cipher
idType('x_', { mask: true, cipher: 'rc4' })
// @ts-expect-error nothing is masked
idType('x_', { maskTweak: 'users' })
// @ts-expect-error what is encrypted has the generator's key
idType('x_', { kind: 'encrypted', mask: 'k1' })
// @ts-expect-error no such size
idType('x_', { bits: 32 })
// @ts-expect-error no bigints of these sizes
idType('w_', { bits: 128, dbFormat: 'signed' })
// @ts-expect-error no bigints of these sizes
idType('w_', { bits: 96, format: 'unsigned' })
// @ts-expect-error it would mask 64 bits of 96
idType('w_', { bits: 96, mask: true, cipher: 'blowfish' })
// @ts-expect-error a cipher that does not have the size
idType('w_', { bits: 128, kind: 'encrypted', cipher: 'des3' })
// @ts-expect-error an unknown member of a spelling
idType('x_', { accepts: [{ prefx: 'old_' }] })
// @ts-expect-error no prefix
idType()

// Names for annotations.
const annotated: IdType<'usr_'> = userId
const annotatedSortable: SortableIdType<'evt_'> = eventId
const all: AnyIdType[] = [
  placedId,
  wideId,
  wideText,
  ownId,
  stampId,
  userId,
  plainId,
  eventId,
  bytesId,
  bareNumber,
  prefixedNumber,
  textInDb,
  prefixInDb
]
function mint<Type extends AnyIdType>(type: Type): IdOf<Type> {
  return type.next() as IdOf<Type>
}
expectType<Equal<ReturnType<typeof mint<typeof userId>>, `usr_${string}`>>()

// Standard Schema v1, by its structure.
interface StandardSchemaV1<Input, Output> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => Result<Output> | Promise<Result<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}
type Result<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: ReadonlyArray<{ readonly message: string; readonly path?: ReadonlyArray<PropertyKey> }> }
const schema: StandardSchemaV1<`usr_${string}`, `usr_${string}`> = userId
