'use strict'

/**
 * The coordinators that scenarios run on. Each class has:
 *
 * - `static title`, `static unavailable()` (why this machine cannot run it, or null), `static create(folder, shared)`
 * - `address` (host and port for the proxy in front of it; null: none), `url(port)`, `setup({ ttlMs, key })`,
 *X * - a method for each fault that can happen to it. A scenario lists those that it `needs`, and runs on the coordinators
 *   that have them.
 */
const coordinators = {
  postgres: require('./postgres.js').Postgres,
  directory: require('./directory.js').Directory
}

module.exports = { coordinators }
