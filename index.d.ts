/// <reference types="node" />

import { EventEmitter } from 'node:events'

/* ------------------------------------------------------------------------------------------------------------------ */
/* ID types                                                                                                           */
/* ------------------------------------------------------------------------------------------------------------------ */

/**
 * Declares what the IDs of one column look like.
 *
 * Costs nothing and needs nothing: no native code, no lease, no key and no environment, so the module that declares
 * your types can be imported anywhere (drizzle-kit, `next build`, Jest, a seed script). The type looks for its
 * generator when it is used: its own `generator`, or the process's default, which {@link start} makes.
 *
 * @param prefix `''`, or 1 to 64 characters of `A-Z a-z 0-9 . _ ~ -`; part of the text, not of the database's value
 * @param options see {@link IdTypeOptions}; what is left out has the default written there
 * @throws {ConfigError} `option` names what is wrong
 *
 * @example
 * // ids.ts
 * import { idType, type IdOf } from 'mintid'
 *
 * export const userId = idType('usr_', { mask: true })
 * export type UserId = IdOf<typeof userId>              // `usr_${string}`
 *
 * // anywhere, after `await start(…)`
 * userId.next()                                         // 'usr_4k9TnZqJs7B'
 * userId.toDb('usr_4k9TnZqJs7B')                        // 98770186085072901n
 * userId.fromDb(98770186085072901n)                     // 'usr_4k9TnZqJs7B'
 */
export function idType<
  const Prefix extends string,
  const Kind extends IdKind = 'counter',
  const Format extends AnyIdFormat = 'base58',
  const DbFormat extends IdFormat = 'signed',
  const Mask extends boolean | string = false,
  const Persist extends boolean = false,
  const Bits extends IdBits = 64
>(
  prefix: Prefix,
  options?: IdTypeOptions<Prefix, Kind, Format, DbFormat, Mask, Persist, Bits>
): IdTypeFor<Prefix, Kind, Format, DbFormatOf<DbFormat, Bits>, Persist, Bits>

/**
 * How the numbers behind a type's IDs are counted.
 *
 * - `'counter'`: the fastest. Almost ascending: numbers of one process ascend, timestamps lag behind the clock.
 * - `'sortable'`: each carries the millisecond in which it was made, so IDs can be cut by time (`rangeFor`).
 * - `'encrypted'`: the database's number is encrypted too, and tells nothing about order or time.
 */
export type IdKind = 'counter' | 'sortable' | 'encrypted'

/**
 * How the 64-bit number behind an ID is spelled.
 *
 * | format | value | length of 64 bits |
 * |---|---|---|
 * | `'base58'` | text that sorts like the number and is selected by a double click | 11 |
 * | `'url64'` | base64url text | 11 |
 * | `'hex'` | lower-case hexadecimal text | 16 |
 * | `'hex32'` | base32 text with the extended hex alphabet | 13 |
 * | `'base62'` | text of digits, capitals and small letters that sorts like the number | 11 |
 * | `'decimal'` | decimal text that sorts like the number | 20 |
 * | `'signed'` | bigint from -2^63 to 2^63 - 1; with a prefix decimal text | up to 20 |
 * | `'unsigned'` | bigint from 0 to 2^64 - 1; with a prefix decimal text | up to 20 |
 * | `'raw'` | Buffer, big-endian, after the prefix's bytes | 8 |
 *
 * 96 bits have 17, 16, 24, 20, 17, 29 characters and 12 bytes, 128 bits 22, 22, 32, 26, 22, 39 characters and 16 bytes, in
 * the order of the table, and no `'signed'` and `'unsigned'`.
 *
 * Text is canonical: one number has exactly one text, and anything else is refused.
 */
export type IdFormat = 'base58' | 'url64' | 'hex' | 'hex32' | 'base62' | 'decimal' | 'signed' | 'unsigned' | 'raw'

/** A format that can do without padding (`pad: false`). */
export type PaddedFormat = 'base58' | 'base62' | 'decimal'

/**
 * A format of your own: how a number is spelled after the prefix. Texts of it are made one by one, in JavaScript.
 *
 * What `encode` gives for a number is the one text that is read as this number: whatever else `decode` understands (other
 * case, leading zeros) is refused as not canonical. It must never change.
 *
 * @example
 * import Sqids from 'sqids'
 *
 * const sqids = new Sqids({ minLength: 10 })
 * const docId = idType('doc_', {
 *   format: {
 *     encode: (number) => sqids.encode([Number(number >> 32n), Number(number & 0xffffffffn)]),
 *     decode(text) {
 *       const [high, low] = sqids.decode(text)
 *       return low === undefined ? undefined : (BigInt(high) << 32n) | BigInt(low)
 *     }
 *   }
 * })
 */
export interface IdCodec {
  /** The text of a number from 0 to 2^64 - 1, masked already: 1 to 256 characters. */
  encode(number: bigint): string
  /** The number of a text; `undefined`, or an exception, for what is none. */
  decode(text: string): bigint | undefined
}

/** What can be the `format` of a type. */
export type AnyIdFormat = IdFormat | IdCodec

/** How many bits a number has. */
export type IdBits = 64 | 96 | 128

/** The `dbFormat` of a type: numbers that are no bigints are kept as bytes unless another format was chosen. */
export type DbFormatOf<DbFormat extends IdFormat, Bits extends IdBits> = Bits extends 64
  ? DbFormat
  : DbFormat extends NumericFormat
    ? 'raw'
    : DbFormat

/** The ciphers that have a size. */
export type CipherOf<Bits extends IdBits> = Bits extends 64
  ? IdCipher
  : Bits extends 96
    ? 'speck' | 'blowfish' | 'des3'
    : 'aes' | 'speck'

/** The ciphers that can mask a size: they encrypt all of it. */
export type MaskCipherOf<Bits extends IdBits> = Bits extends 96 ? 'speck' : CipherOf<Bits>

/** A format that is a bigint where there is no prefix. */
export type NumericFormat = 'signed' | 'unsigned'

/**
 * A block cipher.
 *
 * | cipher | what it is | choose it |
 * |---|---|---|
 * | `'speck'` | Speck64/128, Speck96/144, Speck128/256 | where nothing speaks against it: the fastest |
 * | `'aes'` | AES-256; for 64 bits in the construction FF1 of NIST SP 800-38G | where only a standard will do; it can have a `maskTweak` |
 * | `'blowfish'` | Blowfish, 128-bit key | to read what NoNoncense wrote with its default |
 * | `'des3'` | Triple DES, three keys | to read what NoNoncense wrote with it |
 */
export type IdCipher = 'speck' | 'aes' | 'blowfish' | 'des3'

/**
 * The options of {@link idType}. Combinations that mean nothing do not compile, and are refused at run time.
 *
 * An option that is present with the value `undefined` or `''` is an error, not a default.
 */
export interface IdTypeOptions<
  Prefix extends string = string,
  Kind extends IdKind = IdKind,
  Format extends AnyIdFormat = AnyIdFormat,
  DbFormat extends IdFormat = IdFormat,
  Mask extends boolean | string = boolean | string,
  Persist extends boolean = boolean,
  Bits extends IdBits = IdBits
> {
  /**
   * How wide the numbers are. Default 64: a `bigint` column. 96 and 128 bits have room for a count of 45 and 64 bits, so
   * that nothing ever waits for the clock; their column holds bytes or text. Not with `rangeFor`.
   */
  bits?: Bits

  /** How the numbers are counted. Default `'counter'`. */
  kind?: Kind

  /** What kind of number `kind: 'encrypted'` encrypts; only with that. Default `'counter'`. */
  base?: Kind extends 'encrypted' ? 'counter' | 'sortable' : never

  /** What the application sees: a format by its name, or a codec of your own. Default `'base58'`. */
  format?: Format & (Bits extends 64 ? unknown : Exclude<IdFormat, NumericFormat> | IdCodec)

  /**
   * Whether texts of `'base58'`, `'base62'` and `'decimal'` have one length. `false` leaves the zeros at their beginning
   * out, as Stamp does: texts are shorter then, and do not sort. Only with these formats. Default `true`.
   */
  pad?: Format extends PaddedFormat ? boolean : never

  /** What the database sees. Default `'signed'`: a `bigint` column; of 96 and 128 bits `'raw'`. */
  dbFormat?: DbFormat & (Bits extends 64 ? unknown : Exclude<IdFormat, NumericFormat>)

  /**
   * Whether the application's text is a block cipher's view of the database's number, so that it tells neither how many
   * IDs there are nor which is older. `true` takes the generator's `key`, a name the one of that name among its `keys`.
   * Not with `kind: 'encrypted'`. Default `false`.
   *
   * @example
   * await start({ coordinator, key, keys: { partner: process.env.PARTNER_KEY } })
   * idType('usr_', { mask: 'partner' })
   */
  mask?: Mask & (Kind extends 'encrypted' ? false : unknown)

  /**
   * The block cipher; only with `mask` or `kind: 'encrypted'`. Default: the generator's `ciphers[64]`, which is `'speck'`
   * where that says nothing. It must never change for an encrypted column, and for a mask only as `accepts` allows. Of 96
   * bits `'speck'`, `'blowfish'` and `'des3'` (the last two not for a mask), of 128 bits `'aes'` and `'speck'`.
   */
  cipher?: Kind extends 'encrypted' ? CipherOf<Bits> : Mask extends false ? never : MaskCipherOf<Bits>

  /**
   * What chooses another mask under the same key, so that two types show one number as two texts: 1 to 256 bytes, a
   * string taken as its UTF-8 bytes. It is no secret. Only with `mask`, 64 bits and the cipher `'aes'`. Default: none.
   *
   * @example
   * idType('usr_', { mask: true, cipher: 'aes', maskTweak: 'users' })
   */
  maskTweak?: Mask extends false ? never : string | Uint8Array

  /**
   * Further spellings that are read and never written: how a prefix, a key, a cipher or a format is changed in a running
   * system. Each needs a prefix or a length of its own, so that no text can be read in two ways.
   *
   * @example
   * // IDs were `user_…` once; old links go on working, `parse` turns them into `usr_…`
   * idType('usr_', { mask: true, accepts: [{ prefix: 'user_' }] })
   *
   * @example
   * // the mask has another key since; what was shown as `u1_…` is still read
   * idType('u2_', { mask: 'k2', accepts: [{ prefix: 'u1_', mask: true }] })
   */
  accepts?: readonly AcceptedSpelling[]

  /**
   * How many bits of an ID each part has, where that is another than the generator's `layout`. It needs room for as many
   * machine IDs. It must never change for a column that has IDs. Only with 64 bits.
   */
  layout?: Bits extends 64 ? LayoutOptions : never

  /**
   * In which partition IDs are counted, where the layout has bits for one: a number, or a function that is asked for each
   * call. Each partition has a sequence of its own. Only with 64 bits. Default 0.
   *
   * @example
   * // one partition a tenant's shard: its rows lie side by side
   * const orderId = idType('ord_', {
   *   layout: { partition: 8, time: 41, machine: 9, sequence: 6 },
   *   partition: () => tenant.getStore()!.shard
   * })
   */
  partition?: Bits extends 64 ? number | (() => number) : never

  /**
   * A name for the numbers that shall be unique among each other: types with the same name share a sequence, types with
   * different names may have equal numbers. A name has one kind, layout, cipher and key. 1 to 64 characters of
   * `A-Z a-z 0-9 . _ -`. Default: types share the sequence of their kind and layout.
   */
  space?: string

  /**
   * What a sortable type does when a millisecond has no numbers left: `'wait'` for the next one, or `'drift'` into the
   * future by up to five minutes, never past the lease, with the event `overflow`. Where a machine ID is set by hand without
   * a guard, nobody keeps what was used, and it waits all the same. Only with `kind: 'sortable'` and 64 bits. Default
   * `'wait'`.
   */
  overflow?: Kind extends 'sortable' ? (Bits extends 64 ? 'wait' | 'drift' : never) : never

  /**
   * Whether the database's value carries the prefix too. Needs a prefix and a `dbFormat` that is not numeric.
   * Default `false`.
   */
  persistPrefix?: Persist & (Prefix extends '' ? false : DbFormat extends NumericFormat ? false : unknown)

  /** The generator that mints and converts. Default: the process's default generator, at the moment of use. */
  generator?: IdGenerator
}

/** A spelling that a type reads beside its own; what is left out is as in the type itself. */
export interface AcceptedSpelling {
  /** `''` accepts IDs without a prefix. */
  prefix?: string
  /** Whether it is masked, and by the name of which key. */
  mask?: boolean | string
  /** Only where it is masked. */
  cipher?: IdCipher
  /** Only where it is masked. Left out, it is the type's own together with the type's own cipher. */
  maskTweak?: string | Uint8Array
  /** Where it, or the type's own, is a codec of your own, no other prefix may begin with this one, or begin it. */
  format?: AnyIdFormat
  /** Left out, it is the type's own together with the type's own format. */
  pad?: boolean
}

/** What {@link idType} returns: a {@link SortableIdType} for `kind: 'sortable'` of 64 bits, else an {@link IdType}. */
export type IdTypeFor<
  Prefix extends string,
  Kind extends IdKind,
  Format extends AnyIdFormat,
  DbFormat extends IdFormat,
  Persist extends boolean,
  Bits extends IdBits = 64
> = [Kind, Bits] extends ['sortable', 64]
  ? SortableIdType<Prefix, Format, DbFormat, Persist>
  : IdType<Prefix, Kind, Format, DbFormat, Persist>

/** Any ID type, for code that works with all of them. */
export type AnyIdType = IdType<string, IdKind, AnyIdFormat, IdFormat, boolean>

/** The application's IDs of a type: `IdOf<typeof userId>` is `` `usr_${string}` ``. */
export type IdOf<Type extends AnyIdType> = ReturnType<Type['next']>

/** The database's values of a type: `DbOf<typeof userId>` is `bigint`. */
export type DbOf<Type extends AnyIdType> = ReturnType<Type['nextDb']>

/**
 * One ID type, made by {@link idType} or {@link IdGenerator.type}.
 *
 * **Minting** (`next…`) needs a lease. Without one it throws {@link NotReadyError} before the first lease,
 * {@link LeaseLostError} after a loss, {@link ConflictError} while another process holds a guarded machine ID,
 * {@link ClosedError} after `close()`.
 *
 * **Converting** (everything else) needs no lease: it works before the first, after a loss and after `close()`. A type
 * without `mask` that is not encrypted needs no generator either; others throw {@link NotReadyError} until there is
 * one, and {@link NoKeyError} if it has no key.
 */
export interface IdType<
  Prefix extends string = string,
  Kind extends IdKind = 'counter',
  Format extends AnyIdFormat = 'base58',
  DbFormat extends IdFormat = 'signed',
  Persist extends boolean = false
> {
  /** The prefix that the type was made with. */
  readonly prefix: Prefix

  /** The kind that the type was made with. */
  readonly kind: Kind

  /**
   * Mints an ID.
   *
   * @throws {NotReadyError | LeaseLostError | ConflictError | ClosedError} see above
   * @throws {TimeError} when the clock is before the layout's epoch or past its end
   * @param options where to count; see {@link MintOptions}
   *
   * @example
   * userId.next()          // 'usr_4k9TnZqJs7B'
   */
  next(options?: MintOptions<Kind>): IdValue<Prefix, Format>

  /**
   * Mints an ID in the database's form.
   *
   * @example
   * userId.nextDb()        // 98770186085072901n
   */
  nextDb(options?: MintOptions<Kind>): DbValue<Prefix, DbFormat, Persist>

  /**
   * Mints an ID and gives both of its forms.
   *
   * @example
   * const { id, db } = userId.nextPair()
   */
  nextPair(options?: MintOptions<Kind>): { id: IdValue<Prefix, Format>; db: DbValue<Prefix, DbFormat, Persist> }

  /**
   * Mints many IDs at once: all of them, or none and an error.
   *
   * @param n 1 to 1 000 000
   * @throws {ConfigError} with `option: 'n'` when the count is out of range
   */
  nextMany(n: number, options?: MintOptions<'counter'>): IdValue<Prefix, Format>[]

  /**
   * Mints many IDs at once in the database's form: a `BigInt64Array` for `dbFormat: 'signed'`, a `BigUint64Array` for
   * `'unsigned'`, else an array.
   *
   * @param n 1 to 1 000 000
   * @throws {ConfigError} with `option: 'n'` when the count is out of range
   */
  nextManyDb(n: number, options?: MintOptions<'counter'>): DbList<Prefix, DbFormat, Persist>

  /**
   * Turns the application's ID into the database's value.
   *
   * @param id an ID of this type, or in one of its `accepts` spellings. Where that is a bigint, its decimal text and a
   * safe integer will do too, as they come from URLs and JSON
   * @throws {InvalidIdError} for anything else; `null` and `undefined` too
   */
  toDb(id: IdValue<Prefix, Format>): DbValue<Prefix, DbFormat, Persist>

  /**
   * Turns the database's value into the application's ID.
   *
   * @param db for a numeric `dbFormat` a bigint, a decimal text as `pg` returns it, or a safe integer; a number beyond
   * `Number.MAX_SAFE_INTEGER` has lost digits and is refused. For `'raw'` its bytes, for text formats their text
   * @throws {InvalidIdError} for anything else; `null` and `undefined` too
   */
  fromDb(db: DbInput<Prefix, DbFormat, Persist>): IdValue<Prefix, Format>

  /** {@link IdType.toDb} for many. @throws {InvalidIdError} if one of them is none */
  toDbMany(ids: readonly IdValue<Prefix, Format>[]): DbList<Prefix, DbFormat, Persist>

  /** {@link IdType.fromDb} for many. @throws {InvalidIdError} if one of them is none */
  fromDbMany(dbs: DbInputs<Prefix, DbFormat, Persist>): IdValue<Prefix, Format>[]

  /**
   * Whether a value is an ID of this type in its canonical form: what `next()` could have returned. Says nothing about
   * whether it was ever minted; false for `accepts` spellings.
   */
  is(value: unknown): value is IdValue<Prefix, Format>

  /**
   * The canonical ID that a value stands for, `accepts` spellings included.
   *
   * @throws {InvalidIdError} if it is none
   *
   * @example
   * const id = userId.parse(request.params.id)
   *
   * @param options `plausible` refuses, with the reason `'implausible'`, what cannot have been made yet; see
   * {@link ReadOptions}
   */
  parse(value: unknown, options?: ReadOptions): IdValue<Prefix, Format>

  /**
   * {@link IdType.parse} that returns its {@link InvalidIdError}; what is not the value's fault (a missing key) is
   * thrown.
   *
   * @example
   * const result = userId.safeParse(input)
   * if (result.success) result.id
   * else result.error.reason
   */
  safeParse(
    value: unknown,
    options?: ReadOptions
  ): { success: true; id: IdValue<Prefix, Format> } | { success: false; error: InvalidIdError }

  /**
   * The same number in another spelling, masked as it stands, with the type's prefix.
   *
   * @throws {InvalidIdError} if `id` is no ID of this type
   * @throws {ConfigError} with `option: 'to'` for an unknown format
   *
   * @example
   * userId.format('usr_4k9TnZqJs7B', 'hex')     // 'usr_' and 16 hexadecimal digits
   */
  format<To extends IdFormat>(id: IdValue<Prefix, Format>, to: To): IdValue<Prefix, To>

  /**
   * What an ID is made of.
   *
   * @throws {InvalidIdError} if `id` is no ID of this type
   */
  inspect(id: IdValue<Prefix, Format>): IdParts<Kind, DbValue<Prefix, DbFormat, Persist>>

  /**
   * The database's values of a partition, half-open: `gte <= value < lt`, and no end where they are the last of the column.
   * Only with 64 bits, and not for `kind: 'encrypted'`.
   *
   * @param partition its number. Default: the type's `partition` if that is a number, else 0
   * @throws {ConfigError} with `option: 'partition'` where there is none of this number; with `'kind'` for encrypted types;
   * with `'dbFormat'` for `'url64'`, whose text does not sort like the number
   * @throws {TimeError} when `dbFormat` is `'signed'` and the layout has no partitions: negative numbers come first there
   */
  partitionRange(partition?: number): {
    gte: DbValue<Prefix, DbFormat, Persist>
    lt: DbValue<Prefix, DbFormat, Persist> | null
  }

  /**
   * SQL for PostgreSQL that gives a table `partition by range` of the type's column a part for each partition, named
   * `<table>_p<number>`. It may be run again. Nothing is run here.
   *
   * @param table the partitioned table's name
   * @param options `schema`: where it is; `partitions`: the numbers of the partitions, 1 to 1024 of them. Default: all of the
   * type's own `layout`
   * @throws {ConfigError} with `option: 'table'`, `'schema'`, `'partitions'` or `'partition'`; else as
   * {@link IdType.partitionRange}
   *
   * @example
   * const orderId = idType('ord_', { layout: { partition: 2, time: 41, machine: 9, sequence: 12 } })
   * await sql.unsafe(`create table orders (id bigint primary key, …) partition by range (id)`)
   * await sql.unsafe(orderId.partitionDdl('orders'))
   */
  partitionDdl(table: string, options?: { schema?: string; partitions?: readonly number[] }): string

  /**
   * [Standard Schema](https://standardschema.dev) v1: the type is a validator for tRPC, Hono, TanStack and others. A
   * valid value comes out as {@link IdType.parse} returns it.
   */
  readonly '~standard': StandardSchemaProps<IdValue<Prefix, Format>>
}

/** An ID type of `kind: 'sortable'`. */
export interface SortableIdType<
  Prefix extends string = string,
  Format extends AnyIdFormat = 'base58',
  DbFormat extends IdFormat = 'signed',
  Persist extends boolean = false
> extends IdType<Prefix, 'sortable', Format, DbFormat, Persist> {
  /**
   * The database's values between two moments, half-open: `gte <= value < lt`.
   *
   * @param range Dates or whole milliseconds since 1970; `to` is excluded; `partition`: in which, as in `partitionRange`. Moments outside the layout are taken to its
   * ends, so that "everything before now" can be asked from 1970 on
   * @throws {ConfigError} with `option` `'from'` or `'to'` when one is no moment, or `to` is earlier than `from`; with
   * `'dbFormat'` for `'url64'`, whose text does not sort like the number
   * @throws {TimeError} when `dbFormat` is `'signed'` and its numbers turn negative in between (2094 in the default
   * layout)
   *
   * @example
   * const { gte, lt } = eventId.rangeFor({ from: new Date('2026-01-01'), to: new Date('2026-02-01') })
   * sql`select … where id >= ${gte} and id < ${lt}`
   */
  rangeFor(range: { from: Date | number; to: Date | number; partition?: number }): {
    gte: DbValue<Prefix, DbFormat, Persist>
    lt: DbValue<Prefix, DbFormat, Persist>
  }
}

/** How an ID is read. */
export interface ReadOptions {
  /**
   * Whether an ID must have a timestamp at which it can have been made: not before `since` (Date or milliseconds since 1970;
   * default: the layout's epoch), not more than `skewMs` in the future (default 600 000), and a machine ID that exists. It
   * keeps most guesses away from the database, as long as the layout is young. It is neither authentication nor access
   * control.
   */
  plausible?: boolean | { since?: Date | number; skewMs?: number }
}

/**
 * What a call says of the IDs that it makes.
 *
 * A type of kind `'counter'` whose layout has no partitions has nothing to say, and does not look at it.
 */
export type MintOptions<Kind extends IdKind = IdKind> = {
  /** The partition to count in, instead of the type's `partition`. */
  partition?: number
} & (Kind extends 'counter'
  ? unknown
  : {
      /**
       * The time to count at, instead of now: a Date or milliseconds since 1970, for IDs of kind `'sortable'` (or encrypted
       * ones of that base). It must lie inside the lease, no more than five minutes ahead of its clock (a lease of a directory
       * reaches a second ahead); where a later one was given out before, the ID comes after that.
       */
      time?: Date | number
    })

/** The application's value in a format. */
export type IdValue<Prefix extends string, Format extends AnyIdFormat> = Format extends 'raw'
  ? Buffer
  : Format extends NumericFormat
    ? Prefix extends ''
      ? bigint
      : `${Prefix}${string}`
    : `${Prefix}${string}`

/** The database's value in a format. */
export type DbValue<Prefix extends string, DbFormat extends IdFormat, Persist extends boolean> = DbFormat extends 'raw'
  ? Buffer
  : DbFormat extends NumericFormat
    ? bigint
    : [Persist] extends [true]
      ? `${Prefix}${string}`
      : string

/** What `fromDb` takes: the database's value as drivers hand it over. */
export type DbInput<Prefix extends string, DbFormat extends IdFormat, Persist extends boolean> = DbFormat extends 'raw'
  ? Uint8Array
  : DbFormat extends NumericFormat
    ? bigint | string | number
    : DbValue<Prefix, DbFormat, Persist>

/** Many of the database's values, as they are returned. */
export type DbList<
  Prefix extends string,
  DbFormat extends IdFormat,
  Persist extends boolean
> = DbFormat extends 'signed'
  ? BigInt64Array
  : DbFormat extends 'unsigned'
    ? BigUint64Array
    : DbValue<Prefix, DbFormat, Persist>[]

/** Many of the database's values, as they are taken. */
export type DbInputs<Prefix extends string, DbFormat extends IdFormat, Persist extends boolean> =
  | readonly DbInput<Prefix, DbFormat, Persist>[]
  | (DbFormat extends NumericFormat ? BigInt64Array | BigUint64Array : never)

/** What an ID is made of. */
export interface IdParts<Kind extends IdKind = IdKind, Db = bigint | string | Buffer> {
  kind: Kind
  /** When it was made. */
  timestamp: Date
  /**
   * Whether `timestamp` says when it was made, by the lease's clock, which runs behind the coordinator's by one answer's
   * way at most. For counter kinds it says when the lease began, or later.
   */
  exact: boolean
  /** The machine ID whose holder made it. */
  machineId: number
  /** The count within its timestamp; of 128 bits rounded, where it is past 2^53. */
  sequence: number
  /** The partition; 0 where the layout has none. */
  partition: number
  /** The database's value. */
  db: Db
}

/** The properties of a Standard Schema v1 whose input and output are the same. */
export interface StandardSchemaProps<Value> {
  readonly version: 1
  readonly vendor: 'mintid'
  readonly validate: (
    value: unknown
  ) =>
    | { readonly value: Value; readonly issues?: undefined }
    | { readonly issues: ReadonlyArray<{ readonly message: string }> }
  readonly types?: { readonly input: Value; readonly output: Value } | undefined
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Generators                                                                                                         */
/* ------------------------------------------------------------------------------------------------------------------ */

/**
 * Makes a generator, waits for its lease, and makes it the process's default: the one that every {@link idType} without
 * a `generator` of its own uses. Call it once, in your main module.
 *
 * While it waits, types can convert already. A second `start` replaces the default: the one before serves until the new
 * one is ready, and is closed then. If it fails, the default stays what it was.
 *
 * @throws {ConfigError} for options that are wrong, or that disagree with another generator's in this process
 * @throws {AcquireTimeoutError | ExhaustedError | ConflictError | CoordinatorError | RegistryError} when no lease could be had
 * @throws {AddonError} when there is no native binary for this platform
 * @throws {ClosedError} when it was closed meanwhile, by {@link stop} or by another `start`
 * @throws the signal's reason, if it was aborted
 *
 * @example
 * const ids = await start({ coordinator: process.env.DATABASE_URL, key: process.env.MINTID_KEY })
 * ids.on('leaseLost', ({ machineId, reason }) => console.error('lost machine ID', machineId, reason))
 */
export function start(options: GeneratorOptions, ready?: ReadyOptions): Promise<IdGenerator>

/**
 * Closes the process's default generator and releases its lease. It stays the default, so that types go on converting;
 * `next()` throws {@link ClosedError}. Does nothing if there is none. Never rejects.
 */
export function stop(): Promise<void>

/**
 * One handle on a lease. Generators of one process that have the same coordinator and namespace share one lease, in all
 * Workers and all copies of this module; the last one to be closed releases it.
 *
 * A generator does not keep the process alive, except while `ready`, `connect` or `close` is pending.
 *
 * It emits the events of {@link IdGeneratorEvents}, and never `'error'`. A listener that throws does not keep the
 * others from running; what it threw surfaces as an uncaught exception afterwards. `'leaseLost'`, `'conflict'` and
 * `'warning'` go to `process.emitWarning`, once each, where nobody listens.
 *
 * The same events are published on `node:diagnostics_channel`, each as a {@link ChannelMessage} on the channel that has
 * its name after `mintid:`, for whoever watches all generators of a thread without knowing them.
 *
 * Where `@opentelemetry/api` is installed, each generator records metrics with the meter `mintid`: the counters
 * `mintid.lease.acquired`, `.renewed`, `.retries`, `.lost` and `.conflicts`, the histogram `mintid.lease.operation.duration` (seconds),
 * and the gauges `mintid.lease.held` (0 or 1) and `mintid.lease.expires_in` (seconds). Their attributes are
 * `mintid.namespace` and `mintid.coordinator` (its kind, for example `postgres`, `mysql` or `redis`; never an address), with
 * `mintid.operation`, `mintid.reason` and `error.type` where they apply.
 *
 * @example
 * await using ids = await IdGenerator.connect({ coordinator: 'file:///var/lib/mintid', key })
 * const userId = ids.type('usr_', { mask: true })
 */
export class IdGenerator extends EventEmitter {
  /**
   * Checks the options and does nothing else: loads no native code, reads no environment, takes no lease.
   *
   * @throws {ConfigError} `option` is the dotted name of what is wrong
   */
  constructor(options: GeneratorOptions)

  /**
   * Makes a generator and waits for its lease; closes it again if that fails.
   *
   * @throws as {@link start}
   */
  static connect(options: GeneratorOptions, ready?: ReadyOptions): Promise<IdGenerator>

  /**
   * Starts, and waits until a lease is held; after a loss, until there is one again. Costs next to nothing while one is
   * held: it may be the first line of a serverless handler. Each caller has its own signal and its own timeout.
   *
   * @throws {AcquireTimeoutError | ExhaustedError | ConflictError | CoordinatorError | RegistryError} when there is none
   * @throws {ConfigError | AddonError} as {@link start}
   * @throws {ClosedError} when the generator is or gets closed
   * @throws the signal's reason, as soon as it aborts
   *
   * @example
   * await ids.ready({ signal: AbortSignal.timeout(2000) })
   */
  ready(options?: ReadyOptions): Promise<void>

  /**
   * Makes an ID type that is bound to this generator; else as {@link idType}.
   *
   * @example
   * const orderId = ids.type('ord_', { kind: 'sortable' })
   */
  type<
    const Prefix extends string,
    const Kind extends IdKind = 'counter',
    const Format extends AnyIdFormat = 'base58',
    const DbFormat extends IdFormat = 'signed',
    const Mask extends boolean | string = false,
    const Persist extends boolean = false,
    const Bits extends IdBits = 64
  >(
    prefix: Prefix,
    options?: IdTypeOptions<Prefix, Kind, Format, DbFormat, Mask, Persist, Bits> & { generator?: never }
  ): IdTypeFor<Prefix, Kind, Format, DbFormatOf<DbFormat, Bits>, Persist, Bits>

  /** The machine ID that is held; null without a lease. */
  readonly machineId: number | null

  /** The lease that is held; null without one. */
  readonly lease: Lease | null

  /**
   * What this generator was told of its lease since it was made, added up. A copy: it does not change any more.
   *
   * @example
   * app.get('/debug/ids', () => ids.stats())
   */
  stats(): GeneratorStats

  /**
   * Whether IDs can be made at present, in a form to be shown: it holds no addresses, no messages of a server's, no keys.
   *
   * @example
   * app.get('/ready', (_, reply) => {
   *   const health = ids.health()
   *   reply.code(health.status === 'unavailable' ? 503 : 200).send(health)
   * })
   */
  health(): GeneratorHealth

  /**
   * Counts out a number that is used once, big-endian: 8, 12 or 16 bytes. For the nonces of a cipher, for other formats,
   * for what no ID type says. Types of the same bits and kind count in the same sequence.
   *
   * @param bits 64, 96 (what AES-GCM and ChaCha20-Poly1305 take) or 128
   * @param kind as of ID types; `'encrypted'` under the generator's cipher for the size. Default `'counter'`
   * @param options `base`: what `'encrypted'` encrypts, `'counter'` (default) or `'sortable'`
   * @throws {NotReadyError | LeaseLostError | ConflictError | ClosedError | TimeError} as `next()` of a type
   * @throws {NoKeyError} for `'encrypted'` without a key
   *
   * @example
   * const cipher = createCipheriv('chacha20-poly1305', key, ids.nonce(96), { authTagLength: 16 })
   */
  nonce<Kind extends IdKind = 'counter'>(
    bits: IdBits,
    kind?: Kind,
    options?: Kind extends 'encrypted' ? { base?: 'counter' | 'sortable' } : Record<string, never>
  ): Buffer

  /**
   * Encrypts a number, or a nonce of your own, under the generator's cipher for its size: a bijection, so what was unique
   * stays so. It hides order and time; it is no encryption of messages. Needs no lease.
   *
   * @param nonce 8, 12 or 16 bytes, big-endian; of 12 bytes under `'blowfish'` and `'des3'` the last four must be zero
   * @returns as many bytes
   * @throws {NoKeyError} without a key for that size
   * @throws {ConfigError} with `option: 'nonce'` for anything else
   *
   * @example
   * const hidden = ids.encrypt(Buffer.from('0000000000000005', 'hex'))
   * ids.decrypt(hidden)                                 // <Buffer 00 00 00 00 00 00 00 05>
   */
  encrypt(nonce: Uint8Array): Buffer

  /** The inverse of {@link IdGenerator.encrypt}; takes and throws the same. */
  decrypt(nonce: Uint8Array): Buffer

  /**
   * Gives the lease up as lost (`leaseLost` with `'relinquished'`) and takes another one. Does nothing without a lease.
   *
   * @param reason for people: why; it becomes the event's `detail`
   */
  relinquish(reason?: string): void

  /**
   * Ends this generator: `next()` throws {@link ClosedError}, pending `ready()` calls reject with it, converting goes
   * on working. The last generator of a lease releases it. May be called again; never rejects; takes 5 s at most.
   */
  close(): Promise<void>

  /** {@link IdGenerator.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>

  on<Event extends keyof IdGeneratorEvents>(event: Event, listener: Listener<Event>): this
  once<Event extends keyof IdGeneratorEvents>(event: Event, listener: Listener<Event>): this
  off<Event extends keyof IdGeneratorEvents>(event: Event, listener: Listener<Event>): this
  addListener<Event extends keyof IdGeneratorEvents>(event: Event, listener: Listener<Event>): this
  removeListener<Event extends keyof IdGeneratorEvents>(event: Event, listener: Listener<Event>): this
  prependListener<Event extends keyof IdGeneratorEvents>(event: Event, listener: Listener<Event>): this
  prependOnceListener<Event extends keyof IdGeneratorEvents>(event: Event, listener: Listener<Event>): this
  emit<Event extends keyof IdGeneratorEvents>(event: Event, payload: IdGeneratorEvents[Event]): boolean
}

type Listener<Event extends keyof IdGeneratorEvents> = (event: IdGeneratorEvents[Event]) => void

/**
 * The options of a generator: exactly one of `coordinator` and `machineId` (with or without a `guard`), the rest as in
 * {@link CommonOptions}.
 *
 * An option that is present with the value `undefined` or `''` is an error, not a default: a missing environment
 * variable must not go unnoticed. (The types allow `undefined` where an environment variable is usual.)
 */
export type GeneratorOptions = CoordinatorOptions | MachineIdOptions | GuardedOptions

/** A generator whose machine ID is leased. */
export interface CoordinatorOptions extends CommonOptions {
  /**
   * Who grants the lease. There is no default, since what is unique on one host only must be written.
   *
   * - `'postgres://user:password@host/database'`, `'postgresql://…'`: a PostgreSQL server; all processes that use this
   *   database and namespace are unique among each other. The tables are made where the role may; `npx mintid setup` makes
   *   them otherwise. The URLs of libpq, Prisma, node-postgres and postgres.js are understood: several hosts, `sslmode`,
   *   `sslrootcert`, `channel_binding`, `options`, `schema`, Unix sockets. pgbouncer in transaction mode will do; a `prisma:`
   *   URL will not: give the database's own (`process.env.DIRECT_URL`).
   * - {@link PostgresConnection}: the same as an object, in which nothing needs escaping.
   * - `'mysql://user:password@host/database'`, `'mariadb://…'`: a MySQL (8.0 or newer) or MariaDB (10.6 or newer) server; all
   *   processes that use this database and namespace are unique among each other. The tables are made where the user may;
   *   `npx mintid setup` makes them otherwise. The URLs of mysql2, Prisma, MariaDB's connectors, JDBC and Go are understood:
   *   several hosts, `ssl-mode`, `ssl-ca`, `sslaccept`, `useSSL`, `socket`. A server that takes no writes is left.
   * - {@link MySqlConnection}: the same as an object, in which nothing needs escaping.
   * - `'redis://user:password@host:6379/0'`, `'valkey://…'`: a Redis (6.2 or newer) or Valkey server; all processes that use
   *   this database and namespace are unique among each other. With TLS `'rediss://…'` and `'valkeys://…'`. Of Sentinels
   *   `'redis+sentinel://host,host/mymaster'`, of a cluster `'redis+cluster://host,host'`, of a Unix socket
   *   `'redis+unix:///run/redis.sock'`; each also with `valkey`, the first two also with `rediss` and `valkeys`. The URLs of
   *   ioredis, node-redis, redis-py and Lettuce are understood. What a Redis forgets in a restart or a failover is noticed:
   *   newcomers then wait, holders go on. Active-active databases are refused.
   * - {@link RedisConnection}: the same as an object, in which nothing needs escaping.
   * - {@link LentCoordinator}: one of these servers over connections that your program has, made by `sqlCoordinator` or
   *   `redisCoordinator` of `mintid/coordinators`.
   * - {@link CustomCoordinator}: functions of your own.
   * - `'local'`: a directory of this user's on this host (in the XDG state home). Unique among the processes that share
   *   it; inside a container, or without a home, name the directory.
   * - `'file:///dir'`: that directory, which must be absolute and not on a network file system.
   * - `'none'`: this process only converts.
   */
  coordinator:
    | 'local'
    | 'none'
    | `file:///${string}`
    | `postgres://${string}`
    | `postgresql://${string}`
    | `mysql://${string}`
    | `mariadb://${string}`
    | `redis://${string}`
    | `rediss://${string}`
    | `valkey://${string}`
    | `valkeys://${string}`
    | `redis+sentinel://${string}`
    | `rediss+sentinel://${string}`
    | `valkey+sentinel://${string}`
    | `valkeys+sentinel://${string}`
    | `redis+cluster://${string}`
    | `rediss+cluster://${string}`
    | `valkey+cluster://${string}`
    | `valkeys+cluster://${string}`
    | `redis+unix://${string}`
    | `valkey+unix://${string}`
    | (string & {})
    | PostgresConnection
    | MySqlConnection
    | RedisConnection
    | LentCoordinator
    | CustomCoordinator
    | undefined

  /** The machine IDs that may be leased, both ends included: a range for a region, or beside other software. */
  machineIds?: { from: number; to: number }

  /** How the connection to a server is encrypted. Only where the coordinator is a server. */
  tls?: TlsOptions

  /**
   * How a server's registry tells that it may have forgotten leases. Only where the coordinator is a server.
   *
   * - `'volatile'` (default): by what changes when the server crashes, is restarted, promoted or restored: in PostgreSQL
   *   its start time and a row that it throws away itself, in MySQL and MariaDB its start time, in Redis the ID of its run.
   *   Newcomers then wait until every lease that may have been forgotten has run out; holders go on.
   * - `'durable'`: by less than that, for a server that restarts often and loses nothing: in PostgreSQL, MySQL and MariaDB by
   *   what a restart leaves alone, in Redis by the hash alone. Whoever sets this takes it on themselves that nothing which
   *   the server has confirmed is ever lost, in a failover neither.
   */
  incarnation?: 'volatile' | 'durable'

  machineId?: never
  guard?: never
}

/**
 * A PostgreSQL server as an object. Every parameter that a URL may have can be given, by the name that it has there; an
 * unknown one is refused by name. Values are taken as they are: nothing is decoded.
 *
 * @example
 * await start({
 *   coordinator: { type: 'postgres', host: 'db.internal', user: 'app', password: process.env.PGPASSWORD, database: 'app' }
 * })
 */
export interface PostgresConnection {
  type: 'postgres'
  /** A name or an address, several of them with commas between, or the absolute path of a Unix socket's folder. */
  host?: string | undefined
  /** Default 5432. Several, with commas between, go with several hosts. */
  port?: number | string | undefined
  /** Needed: it is never guessed. */
  user?: string | undefined
  password?: string | undefined
  /** The database's name; `dbname` is the same. Default: the user's. */
  database?: string | undefined
  /** Where mintid's tables are. Default: what the role's `search_path` says. */
  schema?: string | undefined
  /** Whose leases are kept: `'nononcense'` shares the table of NoNoncense, the Elixir library. Default `'mintid'`. */
  registry?: 'mintid' | 'nononcense' | undefined
  /** How much encryption is asked for. */
  sslmode?: 'disable' | 'allow' | 'prefer' | 'require' | 'verify-ca' | 'verify-full' | 'no-verify' | undefined
  /** `application_name`, `connect_timeout`, `options`, `target_session_attrs`, `channel_binding`, … */
  [parameter: string]: string | number | boolean | undefined
}

/**
 * A MySQL or MariaDB server as an object. Every parameter that a URL may have can be given, by the name that it has there; an
 * unknown one is refused by name, and what other clients leave in their options (`connectionLimit`, `timezone`,
 * `waitForConnections`, …) is known and ignored. Values are taken as they are: nothing is decoded.
 *
 * @example
 * await start({
 *   coordinator: { type: 'mysql', host: 'db.internal', user: 'app', password: process.env.MYSQL_PASSWORD, database: 'app' }
 * })
 */
export interface MySqlConnection {
  /** Both mean the same: the server says which it is. */
  type: 'mysql' | 'mariadb'
  /** A name or an address, several of them with commas between. Default `localhost`. */
  host?: string | undefined
  /** Default 3306. Several, with commas between, go with several hosts. */
  port?: number | string | undefined
  /** The path of a Unix socket, instead of a host; `socket` is the same. */
  socketPath?: string | undefined
  /** Needed: it is never guessed. `username` is the same. */
  user?: string | undefined
  password?: string | undefined
  /** Needed: the database that mintid's tables are in. */
  database?: string | undefined
  /**
   * How much encryption is asked for; `sslmode` and `sslMode` are the same. Default: as much as the server offers, whoever it
   * is. Certificates belong into the generator's option `tls`.
   */
  'ssl-mode'?: 'DISABLED' | 'PREFERRED' | 'REQUIRED' | 'VERIFY_CA' | 'VERIFY_IDENTITY' | undefined
  /** `true`: chain and name of the server's certificate are verified; `false`: no encryption. */
  ssl?: boolean | undefined
  /** How long one address may take to answer, in milliseconds. Default 2000 where there is another one to try. */
  connectTimeout?: number | undefined
  /**
   * Whether a server without TLS may say with which key a password is encrypted that it does not remember
   * (`caching_sha2_password`). Default `true`.
   */
  allowPublicKeyRetrieval?: boolean | undefined
  /** Whose leases are kept: `'nononcense'` shares the table of NoNoncense, the Elixir library. Default `'mintid'`. */
  registry?: 'mintid' | 'nononcense' | undefined
  /** `ssl-ca`, `ssl-cert`, `ssl-key`, `sslaccept`, `useSSL`, … */
  [parameter: string]: string | number | boolean | undefined
}

/**
 * A Redis or Valkey as an object: one server, the Sentinels of one, or a cluster. Every parameter that a URL may have can
 * be given, by the name that it has there; an unknown one is refused by name, and what other clients leave in their
 * options (`maxRetriesPerRequest`, `lazyConnect`, …) is known and ignored. Values are taken as they are: nothing is decoded.
 *
 * @example
 * await start({ coordinator: { type: 'redis', host: 'cache.internal', password: process.env.REDIS_PASSWORD, db: 2 } })
 *
 * @example
 * const sentinels = [{ host: '10.0.0.1', port: 26379 }, 'sentinel-2.internal:26379']
 * await start({ coordinator: { type: 'valkey', sentinels, name: 'mymaster', password } })
 *
 * @example
 * await start({ coordinator: { type: 'redis', nodes: ['10.0.0.1:6379', '10.0.0.2:6379'], cluster: true, tls: true } })
 */
export interface RedisConnection {
  /** Both mean the same. */
  type: 'redis' | 'valkey'
  /** A name or an address. Default `localhost`. */
  host?: string | undefined
  /** Default 6379; of a Sentinel 26379. */
  port?: number | string | undefined
  /** The path of a Unix socket, instead of a host. */
  path?: string | undefined
  /** An ACL user. Default: the server's `default` user. `user` is the same. */
  username?: string | undefined
  /** The user's, or that of `requirepass`. */
  password?: string | undefined
  /** The number of the database; `database` is the same. A cluster usually has only 0. Default 0. */
  db?: number | string | undefined
  /** The Sentinels to ask for the master: `'host:port'`, or objects. Needs `name`. `sentinelRootNodes` is the same. */
  sentinels?: string | readonly RedisServer[] | undefined
  /** What the Sentinels call the master. `sentinelMasterId` is the same. */
  name?: string | undefined
  /** The Sentinels' own user, if they have one. */
  sentinelUsername?: string | undefined
  /** The Sentinels' own password, if they have one; that of the master is not theirs. */
  sentinelPassword?: string | undefined
  /** Whether the Sentinels speak TLS. Default: as the master does. */
  sentinelTls?: boolean | undefined
  /** Some nodes of a cluster: `'host:port'`, or objects; they know the others. Needs `cluster`. `rootNodes` is the same. */
  nodes?: string | readonly RedisServer[] | undefined
  /** Whether it is a cluster. */
  cluster?: boolean | undefined
  /**
   * How many replicas must have a lease (`WAIT`) before it is believed. A master that was cut off from its replicas then
   * grants nothing any more. Default 0.
   */
  replicas?: number | undefined
  /** Whose leases are kept: `'nononcense'` shares the hash of NoNoncense, the Elixir library. Default `'mintid'`. */
  registry?: 'mintid' | 'nononcense' | undefined
  /** Whether the connection is encrypted; certificates belong into the generator's option `tls`. Default `false`. */
  tls?: boolean | undefined
  /** How long one address may take to answer, in milliseconds. Default 2000 where there is another one to try. */
  connectTimeout?: number | undefined
  /** What `CLIENT LIST` shows; `connectionName` is the same. Default `'mintid'`. */
  clientName?: string | undefined
  /** `ssl_cert_reqs`, `ssl_ca_certs`, `ssl_certfile`, `ssl_keyfile`, `verifyPeer`, … */
  [parameter: string]: string | number | boolean | readonly RedisServer[] | undefined
}

/** One server of a list: `'host:port'`, or its parts. The port may be left out. */
export type RedisServer = string | { host: string; port?: number | string }

/**
 * Certificates and keys of a connection, as their texts in PEM: what a URL can only name files of. Where anything is given,
 * the connection is always encrypted; `sslmode=disable`, `ssl-mode=DISABLED` or `tls=false` beside it is refused.
 */
export interface TlsOptions {
  /**
   * The certificate authorities to trust; a text may hold several. Default: the operating system's.
   *
   * @example
   * tls: { ca: readFileSync('/etc/ssl/rds.pem') }
   */
  ca?: string | Uint8Array | readonly (string | Uint8Array)[]
  /** The certificate that the server is shown, with those between it and its authority. Goes with `key`. */
  cert?: string | Uint8Array
  /** The private key of `cert`, unencrypted. */
  key?: string | Uint8Array
  /** The name that the server's certificate must have. Default: the host's. */
  servername?: string
  /**
   * What is verified of the server's certificate. `true`: that an authority has signed it, and that it has the host's
   * name. `false`: nothing; the connection is encrypted, but with whom is not known. Default: what the URL says
   * (`sslmode`, `ssl_cert_reqs`, …), and as `true` where that says nothing.
   */
  rejectUnauthorized?: boolean
}

/**
 * A server over connections that your program has: what `sqlCoordinator` and `redisCoordinator` of `mintid/coordinators`
 * make. `incarnation` and `lease.onReset` are as with the server's URL; `tls` is your connection's own business.
 */
export interface LentCoordinator {
  readonly [lent]: true
}

declare const lent: unique symbol

/**
 * A coordinator of your own: who holds which machine ID, until when, is kept by three functions. They may be a class's
 * methods, and may be asynchronous.
 *
 * What keeps IDs unique is theirs to see to:
 *
 * 1. **One clock.** Every time is read from one clock, that of the store. Never the host's own, unless there is one host.
 * 2. **One step.** `acquire` finds a machine ID whose last lease has ended (`end < now`), claims it and reads `now`, all
 *    in one atomic step, so that no two callers get the same one. The one that has been free longest comes first.
 * 3. **Alive and ours.** `renew` and `release` do something only where machine ID *and* token match; `renew` only while
 *    `end >= now`. It never shortens: the new end is the greater of the old one and `now + ttlMs`.
 * 4. **Released to the last use.** `release` sets the end to the greater of `now` and `lastUsed`, and forgets the token.
 * 5. **Rows outlive their lease.** The end of each machine ID's last lease is kept for good. A store that may lose it (a
 *    cache, a restored backup) may make mintid grant an interval twice.
 *
 * They run on the event loop of the thread that made the generator. While it is blocked nothing is renewed: if that
 * lasts longer than the lease, `next()` throws {@link LeaseLostError} until another lease is taken; no ID is ever made
 * twice for it. Choose `lease.ttlMs` far above the longest time that the loop may stand still. No two generators
 * share such a lease, and no two threads: each takes a machine ID of its own. `process.exit()`, and a thread that ends,
 * call no functions any more: without `close()` the machine ID is free when its lease ends.
 *
 * A function that throws, that does not answer within `lease.requestTimeoutMs`, or that answers what it must not, is
 * called again later; `leaseRetry` says which, and what was found and expected. That is never a loss: only a renewal's
 * `null` is, or the end of the lease. What a function throws never becomes an unhandled rejection.
 *
 * A function may be called again while an earlier call has not ended. Such a call's `signal` has been aborted; what it
 * answers is dropped, and a lease that it still claims is given back with `release`.
 *
 * @example
 * // one row a machine ID: id, token uuid, until timestamptz not null default 'epoch'
 * const coordinator: CustomCoordinator = {
 *   async acquire({ machineIds, ttlMs, token }) {
 *     const { rows } = await pool.query(
 *       `update leases set token = $3, until = now() + $4 * interval '1 ms' where id = (
 *          select id from leases where id between $1 and $2 and until < now()
 *          order by until limit 1 for update skip locked)
 *        returning id, now() as now, until`,
 *       [machineIds.from, machineIds.to, token, ttlMs])
 *     return rows.length === 0 ? null : { machineId: rows[0].id, now: rows[0].now, end: rows[0].until }
 *   },
 *   async renew({ machineId, token, ttlMs }) {
 *     const { rows } = await pool.query(
 *       `update leases set until = greatest(until, now() + $3 * interval '1 ms')
 *        where id = $1 and token = $2 and until >= now() returning now() as now, until`,
 *       [machineId, token, ttlMs])
 *     return rows.length === 0 ? null : { now: rows[0].now, end: rows[0].until }
 *   },
 *   async release({ machineId, token, lastUsed }) {
 *     await pool.query(
 *       `update leases set token = null, until = greatest(now(), to_timestamp($3 / 1000.0))
 *        where id = $1 and token = $2`,
 *       [machineId, token, lastUsed])
 *   }
 * }
 */
export interface CustomCoordinator {
  /** What messages call it: 1 to 64 printable ASCII characters. Default `'custom coordinator'`. */
  readonly name?: string

  /**
   * Claims a machine ID for `ttlMs`.
   *
   * Each call is a claim of its own: where a layer below may run one twice (a client that repeats requests), have the
   * store make the token, and answer it.
   *
   * @returns the grant, or `null` where every one of the machine IDs is leased
   * @throws {ConfigError} says that trying again cannot help, so that `ready` rejects at once; anything else that is
   * thrown means "later"
   */
  acquire(request: AcquireRequest): Promise<CustomGrant | null> | CustomGrant | null

  /**
   * Prolongs a lease that is still alive. May be called twice for the same end: an answer that got lost is asked for again.
   *
   * @returns the new end, or `null` or `false` where the lease is certainly not this token's any more
   */
  renew(request: RenewRequest): Promise<CustomRenewal | null | false> | CustomRenewal | null | false

  /** Gives a lease back. One that is not this token's any more is left alone. Called once for each lease. */
  release(request: ReleaseRequest): unknown
}

/** What {@link CustomCoordinator.acquire} is called with. */
export interface AcquireRequest {
  /** The generator's `namespace`: a registry of its own. */
  namespace: string
  /** The machine IDs that may be granted, both ends included. */
  machineIds: { from: number; to: number }
  /** For how long. */
  ttlMs: number
  /** A new random UUID, in lower case, to keep as the proof of this claim. It is a secret among processes. */
  token: string
  /** Host and process, for people. */
  holder: string
  /** Bit widths and epoch. Two processes that share machine IDs must have the same. */
  layout: string
  /** A hash of the generator's `key`, from which nothing can be learnt of it; null without a key. */
  fingerprint: string | null
  /** Aborts when the answer is not waited for any more. */
  signal: AbortSignal
}

/** What {@link CustomCoordinator.renew} is called with. */
export interface RenewRequest {
  namespace: string
  machineId: number
  /** The claim's token. */
  token: string
  /** For how long from now. */
  ttlMs: number
  /** The end that was answered last, in whole milliseconds since 1970. */
  end: number
  /** Aborts when the answer is not waited for any more. */
  signal: AbortSignal
}

/** What {@link CustomCoordinator.release} is called with. */
export interface ReleaseRequest {
  namespace: string
  machineId: number
  /** The claim's token. */
  token: string
  /** The latest moment in an ID that was made under the lease, in milliseconds since 1970. */
  lastUsed: number
  /** Aborts when nobody waits any more. */
  signal: AbortSignal
}

/** A moment by the coordinator's clock: a Date, or milliseconds since 1970, whole or not. */
export type CoordinatorTime = number | bigint | Date

/** What {@link CustomCoordinator.acquire} grants. */
export interface CustomGrant {
  machineId: number
  /** When it was decided. The lease begins with the next whole millisecond. */
  now: CoordinatorTime
  /** When the lease ends unless it is renewed. */
  end: CoordinatorTime
  /** The claim's token, where it is not the one that was offered: another UUID. */
  token?: string
  /** How many of the request's machine IDs are leased now, this one included: for the warning that they run out. */
  leased?: number
}

/** What {@link CustomCoordinator.renew} grants. */
export interface CustomRenewal {
  now: CoordinatorTime
  /** When the lease ends now; never earlier than the request's `end`. */
  end: CoordinatorTime
}

/**
 * A generator whose machine ID is set by hand. Nothing checks that no other process has it too: {@link GuardedOptions}
 * does.
 */
export interface MachineIdOptions extends CommonOptions {
  machineId: MachineIdByHand

  guard?: never
  coordinator?: never
  machineIds?: never
  tls?: never
  incarnation?: never
}

/**
 * A machine ID set by hand.
 *
 * - `7`: this one.
 * - `{ env: 'POD_NAME' }`: the digits at the end of an environment variable's value (`web-7` is 7).
 * - `{ hosts: ['10.0.0.4', 'db-2'] }`: this host's place in a list of host names or addresses, sorted bytewise.
 */
export type MachineIdByHand = number | { env: string } | { hosts: readonly string[] }

/**
 * A generator whose machine ID is set by hand and leased from a registry, which grants it to one process at a time.
 *
 * The newer one loses: while another process holds the machine ID, there is the event `conflict`, `next()` throws
 * {@link ConflictError}, and `ready`, `connect` and `start` wait, and reject with it in the end. It is asked for again
 * every second or two, so it is there within two seconds of the other's `close()`. A lease lasts 60 s (or `lease.ttlMs`, if
 * that is less) and is renewed every fifth of it: after a crash the machine ID is free again within that time.
 *
 * @example
 * await start({ machineId: { env: 'POD_NAME' }, guard: process.env.DATABASE_URL, key: process.env.MINTID_KEY })
 */
export interface GuardedOptions extends CommonOptions {
  /** From 0 to the highest but one: the highest is the database's. */
  machineId: MachineIdByHand

  /** The server whose registry the machine ID is leased from, as in {@link CoordinatorOptions.coordinator}. */
  guard: Exclude<CoordinatorOptions['coordinator'], 'local' | 'none' | `file:///${string}`>

  /**
   * As in {@link CommonOptions}; `renewEveryMs` and `requestTimeoutMs` must be less than a guarded lease lasts, and
   * `acquireTimeoutMs` is 90 000 by default: longer than what a process that crashed leaves to wait for. `ttlMs` is still what
   * the whole namespace agrees on, and how long newcomers wait after a reset.
   */
  lease?: LeaseOptions & { firstTtlMs?: never }

  /** As in {@link CoordinatorOptions}. */
  tls?: TlsOptions

  /** As in {@link CoordinatorOptions}. */
  incarnation?: 'volatile' | 'durable'

  coordinator?: never
  machineIds?: never
}

/** What all generators have. */
export interface CommonOptions {
  /**
   * Keeps the leases of different systems apart in one coordinator: 1 to 64 characters of `A-Z a-z 0-9 . _ -`, neither
   * `.` nor `..`. Default `'default'`.
   */
  namespace?: string

  /** How long a lease lasts. */
  lease?: LeaseOptions

  /**
   * The base key that all cipher keys are derived from: at least 32 bytes, a string taken as its UTF-8 bytes. Needed
   * for masks and encrypted types. It must never change, since every masked ID would. `npx mintid key` makes one.
   */
  key?: string | Uint8Array | undefined

  /**
   * Further base keys by name, for types with `mask: 'name'`: a key that a column had before, or one that only some
   * services know. A name is 1 to 64 characters of `A-Z a-z 0-9 . _ -`, a key as `key`.
   */
  keys?: { [name: string]: string | Uint8Array | undefined }

  /**
   * Keys that are used as they are instead of being derived from `key`, by bits; for systems that have such keys already.
   * Their length is the cipher's: of `'speck'` 16, 18 and 32 bytes, of `'aes'` 32, of `'blowfish'` 16, of `'des3'` 24.
   * They belong to the ciphers of `ciphers`; a type with another `cipher` derives its key from `key`.
   */
  cipherKeys?: { [Bits in 64 | 96 | 128]?: string | Uint8Array | undefined }

  /**
   * The cipher of each size, for masks and encrypted types (64) and for {@link IdGenerator.encrypt}. Default
   * `{ 64: 'speck', 96: 'speck', 128: 'aes' }`.
   */
  ciphers?: { 64?: IdCipher; 96?: 'speck' | 'blowfish' | 'des3'; 128?: 'aes' | 'speck' }

  /** How many bits of an ID each part has. It must never change for a table that has IDs. */
  layout?: LayoutOptions
}

/** The timings of a lease, in milliseconds, and what holds after a reset. */
export interface LeaseOptions {
  /** How long a lease lasts unless it is renewed: 3000 to 86 400 000, equal in the whole namespace. Default 300 000. */
  ttlMs?: number
  /** The same for the first lease, so that who crashes young frees its ID soon: 3000 to `ttlMs`. Default 60 000. */
  firstTtlMs?: number
  /** How often it is renewed: at least 100, less than `ttlMs`. Default a fifth of `ttlMs`. */
  renewEveryMs?: number
  /** How long `ready`, `connect` and `start` wait for a lease: at least 1, or `Infinity`. Default 60 000. */
  acquireTimeoutMs?: number
  /**
   * How long one request to the coordinator may take: at least 100, less than `firstTtlMs`. Default 5000, or a third of
   * `firstTtlMs` if that is less.
   */
  requestTimeoutMs?: number
  /**
   * What newcomers do at a server's registry that may have forgotten leases, a new one included. Only where the
   * coordinator is a server.
   *
   * - `'wait'` (default): wait until every lease that may have been forgotten has run out: `ttlMs` and 2 s at most.
   *   `npx mintid setup --fresh` spares a new registry the wait.
   * - `'grant'`: take a lease at once. Two processes may then make the same IDs: for development only.
   */
  onReset?: 'wait' | 'grant'
}

/** Bit widths, at most 64 together, and the epoch. */
export interface LayoutOptions {
  /** The partition: 0 to 16 bits. Default 0. */
  partition?: number
  /** Milliseconds since the epoch: 32 to 48 bits. Default 42 (139 years). */
  time?: number
  /**
   * The machine ID: 0 to 31 bits. Default 9 (512 machine IDs). There are 32 768 at the most, the highest of which is the
   * database's; with 0 bits there is a single one, which only `machineId: 0` can have.
   */
  machine?: number
  /** The count: 1 to 22 bits. Default 13 (8192 IDs a millisecond). */
  sequence?: number
  /**
   * The moment that timestamps count from: a Date, a text like `2025-01-01T00:00:00Z` (a time needs its zone), or
   * milliseconds since 1970. Default 2025-01-01T00:00:00Z.
   */
  epoch?: Date | string | number
}

/** How to wait for a lease. */
export interface ReadyOptions {
  /** Ends the wait; it rejects with the signal's reason. */
  signal?: AbortSignal | undefined
  /** How long to wait in milliseconds: at least 1, or `Infinity`. Default: the generator's `lease.acquireTimeoutMs`. */
  acquireTimeoutMs?: number | undefined
}

/** A lease that is held. */
export interface Lease {
  machineId: number
  acquiredAt: Date
  /** When it ends unless it is renewed; null where it ends with the process (a directory, a machine ID set by hand). */
  expiresAt: Date | null
}

/** What a generator was told of its lease so far; see {@link IdGenerator.stats}. */
export interface GeneratorStats {
  /**
   * - `'idle'`: no lease was asked for yet, or the last answer was that none can be had.
   * - `'acquiring'`: asking for the first one.
   * - `'held'`: `next()` works.
   * - `'lost'`: lost, and asking for another one.
   * - `'conflict'`: another process holds the guarded machine ID; asking for it again.
   * - `'closed'`: closed.
   */
  state: 'idle' | 'acquiring' | 'held' | 'lost' | 'conflict' | 'closed'
  /** The machine ID that is held; null without a lease. */
  machineId: number | null
  /** The lease that is held; null without one. */
  lease: Lease | null
  /** How many `leaseAcquired` there were. */
  acquired: number
  /** How many `leaseRenewed` there were. */
  renewed: number
  /** How many `leaseRetry` there were. */
  retries: number
  /** How many `leaseLost` there were. */
  lost: number
  /** How many `leaseReleased` there were. */
  released: number
  /** How many `conflict` there were. */
  conflicts: number
  /** How many `overflow` there were. */
  overflows: number
  /** How many `warning` there were. */
  warnings: number
  /** The latest operation on the lease that succeeded. */
  lastOperation: { operation: 'acquire' | 'renew' | 'release'; at: Date; durationMs: number | null } | null
  /** Why the latest operation that failed did so; it stays when the next one succeeds. */
  lastError: MintidError | null
}

/** How a generator is; see {@link IdGenerator.health}. */
export interface GeneratorHealth {
  /**
   * - `'ok'`: a lease is held, and the latest renewal did not fail; or the generator only converts.
   * - `'degraded'`: a lease is held, but the latest renewals failed; IDs go on until it ends.
   * - `'unavailable'`: there is none; `next()` throws.
   */
  status: 'ok' | 'degraded' | 'unavailable'
  /** A sentence for people, with the codes of errors. */
  reason: string
  /** The machine ID that is held; null without a lease. */
  machineId: number | null
  /** How long the lease lasts unless it is renewed; null without one, or where it ends with the process. */
  expiresInMs: number | null
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Events                                                                                                             */
/* ------------------------------------------------------------------------------------------------------------------ */

/** The events of an {@link IdGenerator}, each with one object. */
export interface IdGeneratorEvents {
  /** A lease is held: `next()` works from here. */
  leaseAcquired: LeaseAcquiredEvent
  /** It was renewed. */
  leaseRenewed: LeaseRenewedEvent
  /** An operation failed, or its outcome is unknown; it will be tried again. */
  leaseRetry: LeaseRetryEvent
  /** The lease is gone: `next()` throws {@link LeaseLostError} until the next `leaseAcquired`. */
  leaseLost: LeaseLostEvent
  /**
   * Another process holds the guarded machine ID: `next()` throws {@link ConflictError} until the next `leaseAcquired`. Once
   * for each time that this begins; if it is after a loss, `leaseLost` came before.
   */
  conflict: ConflictEvent
  /** It was given back. */
  leaseReleased: LeaseReleasedEvent
  /**
   * A type with `overflow: 'drift'` used a millisecond up, and counts ahead of time. At most once a second for each
   * partition.
   */
  overflow: OverflowEvent
  /** Something that an operator should look at. */
  warning: WarningEvent
}

/**
 * What is published on `node:diagnostics_channel`, on `mintid:leaseAcquired` and so on.
 *
 * @example
 * import { subscribe } from 'node:diagnostics_channel'
 *
 * subscribe('mintid:leaseLost', (message) => {
 *   const { generator, event } = message as ChannelMessage<'leaseLost'>
 *   console.error('lost machine ID', event.machineId, generator.health())
 * })
 */
export interface ChannelMessage<Event extends keyof IdGeneratorEvents = keyof IdGeneratorEvents> {
  generator: IdGenerator
  event: IdGeneratorEvents[Event]
}

/**
 * Why an operation on a lease was made: for the first lease, for another one after a loss, because it was time, because
 * a connection was lost, or because the generator is closed.
 */
export type LeaseSource = 'initial' | 'reacquire' | 'scheduled' | 'reconnect' | 'shutdown'

/** What every event has. */
export interface LeaseEvent {
  /** When it happened. */
  at: Date
}

/** See {@link IdGeneratorEvents}. */
export interface LeaseAcquiredEvent extends LeaseEvent {
  machineId: number
  /** How long the operation took, in milliseconds. */
  durationMs: number
  source: LeaseSource
}

/** See {@link IdGeneratorEvents}. */
export interface LeaseRenewedEvent extends LeaseEvent {
  machineId: number
  /** How long the operation took, in milliseconds. */
  durationMs: number
  source: LeaseSource
}

/** See {@link IdGeneratorEvents}. */
export interface LeaseRetryEvent extends LeaseEvent {
  /** What is tried again: `'acquire'`, `'renew'` or `'release'`. */
  operation: string
  /** How often it was tried, this time included. */
  attempt: number
  /** When it is tried again, in milliseconds from now. */
  delayMs: number
  /** Why it failed. */
  error: MintidError
  /** How long the operation took, in milliseconds. */
  durationMs?: number
  source?: LeaseSource
}

/** See {@link IdGeneratorEvents}. */
export interface LeaseLostEvent extends LeaseEvent {
  machineId: number
  reason: LeaseLostReason
  /** What {@link IdGenerator.relinquish} was told, if it was. */
  detail?: string
}

/**
 * Why a lease was lost: its time ran out, the coordinator said so, another process holds the guarded machine ID, or
 * {@link IdGenerator.relinquish} was called.
 */
export type LeaseLostReason = 'expired' | 'rejected' | 'conflict' | 'relinquished'

/** See {@link IdGeneratorEvents}. */
export interface ConflictEvent extends LeaseEvent {
  /** The guarded machine ID; `npx mintid leases` shows who holds it, until when. */
  machineId: number
}

/** See {@link IdGeneratorEvents}. */
export interface LeaseReleasedEvent extends LeaseEvent {
  machineId: number
  /** How long the operation took, in milliseconds. */
  durationMs?: number
  source?: LeaseSource
}

/** See {@link IdGeneratorEvents}. */
export interface OverflowEvent extends LeaseEvent {
  /** The name of the space; `''` for types without. */
  space: string
  /** 0 where the layout has no partitions. */
  partition: number
}

/** See {@link IdGeneratorEvents}. */
export interface WarningEvent extends LeaseEvent {
  /**
   * A stable name.
   *
   * - `'REGISTRY_RESET'`: the registry may have forgotten leases, and grants nothing new for a while; the message says
   *   why, and until when.
   * - `'MACHINE_IDS_RUNNING_OUT'`: half of the machine IDs are leased, or four fifths.
   * - `'REGISTRY_EVICTABLE'`: the `maxmemory-policy` of this Redis lets it evict the registry, as if it had forgotten
   *   its leases; use `noeviction`, or one of `volatile-…`.
   * - `'LAYOUT_ENDING'`: the layout has less than a year left; told once a day.
   * - `'OPTIONS_REPLACED'`: another generator that shares this lease has other timings, which are in force now.
   */
  code:
    | 'REGISTRY_RESET'
    | 'MACHINE_IDS_RUNNING_OUT'
    | 'REGISTRY_EVICTABLE'
    | 'LAYOUT_ENDING'
    | 'OPTIONS_REPLACED'
    | (string & {})
  /** A sentence for people. */
  message: string
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Errors                                                                                                             */
/* ------------------------------------------------------------------------------------------------------------------ */

/**
 * What all errors of mintid are. `code` never changes its meaning in a later version; `instanceof` holds across copies
 * of this module. Messages name the option or the place, what was expected and what was found; never a key or a
 * password.
 *
 * @example
 * try {
 *   userId.next()
 * } catch (error) {
 *   if (error instanceof MintidError && error.code === 'ERR_MINTID_LEASE_LOST') …
 * }
 */
export class MintidError extends Error {
  static readonly code: string
  constructor(message: string, details?: { cause?: unknown })
  readonly code: string
}

/**
 * An option is missing, wrong, or disagrees with another generator's.
 *
 * @example
 * if (error.code === 'ERR_MINTID_CONFIG') console.error('check the option', error.option)
 */
export class ConfigError extends MintidError {
  static readonly code: 'ERR_MINTID_CONFIG'
  constructor(message: string, details?: { option?: string; cause?: unknown })
  readonly code: 'ERR_MINTID_CONFIG'
  /** The dotted name of the option or the argument, for example `lease.ttlMs`. */
  readonly option: string
}

/**
 * No native binary could be loaded on this platform. The message says what was looked for and what to do; `cause` is
 * what the loader said.
 */
export class AddonError extends MintidError {
  static readonly code: 'ERR_MINTID_ADDON'
  readonly code: 'ERR_MINTID_ADDON'
}

/** There is no lease yet, or no generator. Web frameworks answer with 503. */
export class NotReadyError extends MintidError {
  static readonly code: 'ERR_MINTID_NOT_READY'
  readonly code: 'ERR_MINTID_NOT_READY'
  readonly statusCode: 503
}

/** The lease was lost; IDs come again with the next `leaseAcquired`. Web frameworks answer with 503. */
export class LeaseLostError extends MintidError {
  static readonly code: 'ERR_MINTID_LEASE_LOST'
  constructor(message: string, details?: { machineId?: number; reason?: LeaseLostReason; cause?: unknown })
  readonly code: 'ERR_MINTID_LEASE_LOST'
  readonly statusCode: 503
  /** The machine ID that was lost. */
  readonly machineId: number
  readonly reason: LeaseLostReason
}

/** The generator was closed. */
export class ClosedError extends MintidError {
  static readonly code: 'ERR_MINTID_CLOSED'
  readonly code: 'ERR_MINTID_CLOSED'
}

/** No lease within the time that `ready`, `connect` or `start` was given; `cause` is the last attempt's error. */
export class AcquireTimeoutError extends MintidError {
  static readonly code: 'ERR_MINTID_ACQUIRE_TIMEOUT'
  constructor(message: string, details?: { attempts?: number; cause?: unknown })
  readonly code: 'ERR_MINTID_ACQUIRE_TIMEOUT'
  /** How often the coordinator was asked. */
  readonly attempts: number
}

/** Every machine ID is leased. */
export class ExhaustedError extends MintidError {
  static readonly code: 'ERR_MINTID_EXHAUSTED'
  constructor(message: string, details?: { capacity?: number; cause?: unknown })
  readonly code: 'ERR_MINTID_EXHAUSTED'
  /** How many machine IDs there are. */
  readonly capacity: number
}

/**
 * A guarded machine ID is held by another process, or was until a moment ago by one that crashed. IDs come as soon as it is
 * free. Web frameworks answer with 503.
 */
export class ConflictError extends MintidError {
  static readonly code: 'ERR_MINTID_CONFLICT'
  constructor(message: string, details?: { machineId?: number; cause?: unknown })
  readonly code: 'ERR_MINTID_CONFLICT'
  readonly statusCode: 503
  /** The machine ID that both claim. */
  readonly machineId: number
}

/**
 * The coordinator cannot be reached, does not let us in, or cannot be used (a wrong password, a missing right, a directory
 * that cannot be written).
 */
export class CoordinatorError extends MintidError {
  static readonly code: 'ERR_MINTID_COORDINATOR'
  constructor(
    message: string,
    details?: {
      coordinator?: string
      serverCode?: string
      hint?: string
      cause?: unknown
    }
  )
  readonly code: 'ERR_MINTID_COORDINATOR'
  /** Which coordinator, without credentials. */
  readonly coordinator?: string
  /**
   * Its own code for what went wrong: PostgreSQL's SQLSTATE, for example `'28P01'`, the number of MySQL and MariaDB, for
   * example `'1045'`, or the first word of what Redis said, for example `'WRONGPASS'`.
   */
  readonly serverCode?: string
  /** What to do about it. */
  readonly hint?: string
}

/**
 * What a server's registry says, by `code`:
 *
 * - `'ERR_MINTID_REGISTRY_RESET'`: it may have forgotten leases (it is new, was restored, or its server crashed), so
 *   nothing new is granted before `notBefore`, and there was no time to wait for that. Try again, or wait longer
 *   (`lease.acquireTimeoutMs`); who knows that nothing of this namespace runs any more runs `command`.
 * - `'ERR_MINTID_REGISTRY_VERSION'`: it was made by a later version of mintid.
 */
export class RegistryError extends MintidError {
  /** The code of one that is made without. */
  static readonly code: 'ERR_MINTID_REGISTRY_RESET'
  static readonly codes: readonly ['ERR_MINTID_REGISTRY_RESET', 'ERR_MINTID_REGISTRY_VERSION']
  constructor(
    message: string,
    details?: {
      code?: 'ERR_MINTID_REGISTRY_RESET' | 'ERR_MINTID_REGISTRY_VERSION'
      notBefore?: Date
      command?: string
      cause?: unknown
    }
  )
  readonly code: 'ERR_MINTID_REGISTRY_RESET' | 'ERR_MINTID_REGISTRY_VERSION'
  /** Until when nothing new is granted, by the coordinator's clock. */
  readonly notBefore?: Date
  /** What an operator who knows better can run. */
  readonly command?: string
}

/**
 * A value is not an ID of this type. Web frameworks answer with 400.
 *
 * @example
 * const result = userId.safeParse('usr_0')
 * if (!result.success) result.error.reason       // 'length'
 */
export class InvalidIdError extends MintidError {
  static readonly code: 'ERR_MINTID_INVALID_ID'
  constructor(message: string, details?: { reason?: InvalidIdReason; expected?: string; cause?: unknown })
  readonly code: 'ERR_MINTID_INVALID_ID'
  readonly statusCode: 400
  readonly reason: InvalidIdReason
  /** What an ID of this type looks like. */
  readonly expected: string
}

/** What is wrong with a value that is no ID. */
export type InvalidIdReason =
  | 'type'
  | 'prefix'
  | 'length'
  | 'character'
  | 'not canonical'
  | 'range'
  | 'unsafe number'
  | 'implausible'

/** A mask, or an encrypted kind, without a `key`. */
export class NoKeyError extends MintidError {
  static readonly code: 'ERR_MINTID_NO_KEY'
  constructor(message: string, details?: { bits?: number; cause?: unknown })
  readonly code: 'ERR_MINTID_NO_KEY'
  /** The size of the IDs whose key is missing. */
  readonly bits: number
}

/** A timestamp before the layout's epoch, past its end, or outside the lease. */
export class TimeError extends MintidError {
  static readonly code: 'ERR_MINTID_TIME'
  readonly code: 'ERR_MINTID_TIME'
}
