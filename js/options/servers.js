'use strict'

/** The coordinators that are servers, which keep a registry. */
const SERVERS = ['mysql', 'postgres', 'redis']

/** What an object's `type` may be, and the coordinator that it means. */
const TYPES = new Map([
  ['postgres', 'postgres'],
  ['mysql', 'mysql'],
  ['mariadb', 'mysql'],
  ['redis', 'redis'],
  ['valkey', 'redis']
])

/** Which schemes of URLs belong to which coordinator, in lower case. */
const SCHEMES = [
  ['postgres', /^postgres(ql)?$/],
  ['mysql', /^(mysql2?|mariadb)$/],
  ['redis', /^(((redis|valkey)s?)([+-](sentinel|cluster))?|(redis|valkey)[+-](unix|socket)|unix)$/]
]

/**
 * @param {string | undefined} scheme in lower case
 * @returns {string | undefined} the coordinator that URLs of that scheme are for
 */
function serverOfScheme(scheme) {
  return SCHEMES.find(([, schemes]) => schemes.test(scheme))?.[0]
}

module.exports = { SERVERS, TYPES, serverOfScheme }
