/**
 * `mintid/coordinators`: PostgreSQL and Redis as coordinators over connections that your program has.
 *
 * @packageDocumentation
 */

import type { LentCoordinator } from '../index.js'

/**
 * Leases from a PostgreSQL, MySQL or MariaDB database through a function that runs one statement: the registry, the protocol
 * and the tables are those of a `postgres:` or `mysql:` URL, and both kinds of processes can share them. For where the URL is
 * not to be had, or where one more connection is too many; else prefer the URL, whose connection does not depend on the
 * event loop.
 *
 * Each call may come over another connection of a pool. It must be committed when its promise resolves: never pass the
 * client of a transaction. Statements go to the primary.
 *
 * What is said of the event loop at `CustomCoordinator` holds here, too: while it is blocked nothing is renewed; no
 * two generators share such a lease; without `close()` the machine ID is free when its lease ends.
 *
 * @throws {ConfigError} `option` names what is wrong
 *
 * @example
 * import { sqlCoordinator } from 'mintid/coordinators'
 *
 * // node-postgres (a Pool, never a Client inside of a transaction)
 * sqlCoordinator({ dialect: 'postgres', query: (text, values) => pool.query(text, values) })
 * // postgres.js
 * sqlCoordinator({ dialect: 'postgres', query: (text, values) => sql.unsafe(text, values) })
 * // Prisma
 * sqlCoordinator({ dialect: 'postgres', query: (text, values) => prisma.$queryRawUnsafe(text, ...values) })
 * // mysql2 (with promises)
 * sqlCoordinator({ dialect: 'mysql', schema: 'app', query: (text) => pool.query(text) })
 * // MariaDB Connector
 * sqlCoordinator({ dialect: 'mariadb', schema: 'app', query: (text) => pool.query(text) })
 *
 * await start({ coordinator: sqlCoordinator({ … }), key: process.env.MINTID_KEY })
 */
export function sqlCoordinator(options: SqlCoordinatorOptions): LentCoordinator

/** The options of {@link sqlCoordinator}. */
export type SqlCoordinatorOptions = PostgresCoordinatorOptions | MySqlCoordinatorOptions

/** A PostgreSQL. */
export interface PostgresCoordinatorOptions {
  dialect: 'postgres'

  /**
   * Runs one statement, and resolves to its rows: an array of objects, or an object that has one called `rows`.
   *
   * @param text with `$1`, `$2` … where the parameters go
   * @param parameters texts, or null
   */
  query(text: string, parameters: (string | null)[]): PromiseLike<unknown>

  /** Where mintid's tables are. Default `'public'`, whatever the search path is. */
  schema?: string
}

/** A MySQL or MariaDB, whatever the time zone of its sessions. */
export interface MySqlCoordinatorOptions {
  dialect: 'mysql' | 'mariadb'

  /**
   * Runs one statement, and resolves to its rows, an array of objects, with or without a list of columns behind it; or to
   * what its driver says of a statement that has none.
   *
   * @param text complete: there are no parameters
   */
  query(text: string): PromiseLike<unknown>

  /** The database with mintid's tables. */
  schema: string
}

/**
 * Leases from a Redis or Valkey server through a function that runs one script: the registry and the protocol are those of
 * a `redis:` URL, and both kinds of processes can share them.
 *
 * Over such a connection nobody can wait until what was written is on the server's disk or at its replicas. So a restart
 * always counts as one that forgot leases: newcomers then wait for `ttlMs`, holders go on. Where processes with a URL have
 * the same registry and an append-only file, the first process without one waits for five seconds before it leases.
 *
 * What is said of the event loop at `CustomCoordinator` holds here, too.
 *
 * @throws {ConfigError} `option` names what is wrong
 *
 * @example
 * import { redisCoordinator } from 'mintid/coordinators'
 *
 * // ioredis
 * redisCoordinator({ eval: (script, keys, args) => redis.eval(script, keys.length, ...keys, ...args) })
 * // node-redis
 * redisCoordinator({ eval: (script, keys, args) => client.eval(script, { keys, arguments: args }) })
 */
export function redisCoordinator(options: RedisCoordinatorOptions): LentCoordinator

/** The options of {@link redisCoordinator}. */
export interface RedisCoordinatorOptions {
  /**
   * Runs one script on the master, and resolves to its reply: an array, or null.
   *
   * @param script in Lua
   * @param keys the keys that it uses. A client that puts a prefix before them leases from another registry than one without
   * @param args its arguments
   */
  eval(script: string, keys: string[], args: string[]): PromiseLike<unknown>
}
