'use strict'

/**
 * The coordinators that scenarios run on. Each class has:
 *
 * - `static title`, `static unavailable()` (why this machine cannot run it, or null), `static create(folder, shared, made)`
 * - `address` (host and port for the proxy in front of it; null: none), `url(port)`, `setup({ ttlMs, key })`,
 *   `fences({ forgets })`, `end()`
 * - `static short`, where not everything of the short form is played on it: the names of what is;
 *   `static startLease`: what of a lease differs where a server starts
 * - a method for each fault that can happen to it. A scenario lists those that it `needs`, and runs on the coordinators
 *   that have them.
 */
const coordinators = {
  postgres: require('./postgres.js').Postgres,
  redis: require('./redis.js').Redis,
  mysql: require('./mysql.js').Mysql,
  directory: require('./directory.js').Directory
}

module.exports = { coordinators }
