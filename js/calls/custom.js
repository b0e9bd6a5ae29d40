'use strict'

const { isDate, isObject } = require('../options/check.js')
const { Nonsense } = require('./nonsense.js')

/** The functions of a custom coordinator: an answer comes to a grant, or without one to a clear no. */
const operations = {
  acquire: {
    call(functions, { namespace, machineIds, ttlMs, token, holder, layout, fingerprint = null }, signal) {
      return functions.acquire({ namespace, machineIds, ttlMs, token, holder, layout, fingerprint, signal })
    },
    read(answer) {
      if (answer === null) return {}
      const expected = '{ machineId, now, end }, or null where every machine ID is leased'
      if (!isObject(answer)) throw Nonsense.found(answer, expected)
      const { machineId, token, now, end, leased } = answer
      return {
        granted: {
          machineId: number('machineId', machineId),
          token: tokenOf(token),
          now: moment('now', now),
          end: moment('end', end),
          leased: leased == null ? undefined : number('leased', leased)
        }
      }
    },
    secrets
  },

  renew: {
    call(functions, { namespace, machineId, token, ttlMs, end }, signal) {
      return functions.renew({ namespace, machineId, token, ttlMs, end, signal })
    },
    read(answer) {
      if (answer === null || answer === false) return {}
      const expected = "{ now, end }, or null where the lease is not that token's any more"
      if (!isObject(answer)) throw Nonsense.found(answer, expected)
      return { granted: { now: moment('now', answer.now), end: moment('end', answer.end) } }
    },
    secrets
  },

  release: {
    call(functions, { namespace, machineId, token, lastUsed }, signal) {
      return functions.release({ namespace, machineId, token, lastUsed, signal })
    },
    read: () => ({}),
    secrets
  }
}

function secrets({ token }) {
  return [token]
}

function number(name, value) {
  if (typeof value === 'number') return value
  throw Nonsense.found(value, 'an integer', name)
}

/** Milliseconds since 1970. */
function moment(name, value) {
  if (typeof value === 'number') return value
  if (typeof value === 'bigint') return Number(value)
  if (isDate(value)) return value.getTime()
  throw Nonsense.found(value, 'milliseconds since 1970 as a number or a bigint, or a Date', name)
}

/** Messages never show a token. */
function tokenOf(token) {
  if (token == null) return undefined
  if (typeof token === 'string') return token
  throw new Nonsense(`answered a token of type ${typeof token}; expected a text`)
}

module.exports = { operations }
