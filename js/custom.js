'use strict'

// A custom coordinator: the user's own functions, as native code calls them. Whatever these do, what comes of it is data.

const { isDate, isObject, shown } = require('./options/check.js')

/** What the functions are called with, beside the signal. */
const REQUESTS = {
  acquire: ({ namespace, machineIds, ttlMs, token, holder, layout, fingerprint = null }) => ({
    namespace,
    machineIds,
    ttlMs,
    token,
    holder,
    layout,
    fingerprint
  }),
  renew: ({ namespace, machineId, token, ttlMs, end }) => ({ namespace, machineId, token, ttlMs, end }),
  release: ({ namespace, machineId, token, lastUsed }) => ({ namespace, machineId, token, lastUsed })
}

/** What their answers come to: a grant, or without one a clear no. */
const ANSWERS = {
  acquire(answer) {
    if (answer === null) return {}
    if (!isObject(answer)) throw answered(answer, '{ machineId, now, end }, or null where every machine ID is leased')
    const { machineId, token = undefined, now, end, leased = undefined } = answer
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

  renew(answer) {
    if (answer === null || answer === false) return {}
    if (!isObject(answer)) throw answered(answer, "{ now, end }, or null where the lease is not that token's any more")
    return { granted: { now: moment('now', answer.now), end: moment('end', answer.end) } }
  },

  release: () => ({})
}

/**
 * What native code asks for a custom coordinator. Belongs to the thread that made it.
 *
 * @param {import('../index.js').CustomCoordinator} coordinator
 * @returns {(request: object, answer: (call: number, answer: object) => void) => void} never throws
 */
function requestsTo(coordinator) {
  const running = new Map()
  return ({ call, operation, ...request }, answer) => {
    if (operation === 'abandon') {
      running.get(call)?.abort(new DOMException('mintid waits for this answer no longer', 'AbortError'))
      running.delete(call)
      return
    }
    const controller = new AbortController()
    running.set(call, controller)
    ask(coordinator, operation, request, controller.signal).then((said) => {
      if (running.delete(call)) answer(call, said)
      else if (operation === 'acquire' && said.granted) decline(coordinator, request, said.granted)
    })
  }
}

/** Never rejects. */
async function ask(coordinator, operation, request, signal) {
  try {
    const answer = await coordinator[operation]({ ...REQUESTS[operation](request), signal })
    return ANSWERS[operation](answer)
  } catch (error) {
    return { trouble: error instanceof Nonsense ? { what: error.what, isFinal: false } : thrown(error, request.token) }
  }
}

/** A lease that was granted when nobody waited for it any more is given back: it was never used. */
function decline(coordinator, { namespace, token: offered }, { machineId, token = offered, now }) {
  const { signal } = new AbortController()
  return ask(coordinator, 'release', { namespace, machineId, token, lastUsed: Math.floor(now) }, signal)
}

/** An answer that is none. */
class Nonsense {
  constructor(what) {
    this.what = what
  }
}

function answered(found, expected) {
  return new Nonsense(`answered ${shown(found)}; expected ${expected}`)
}

function number(name, value) {
  if (typeof value === 'number') return value
  throw answeredWith(name, value, 'an integer')
}

/** Milliseconds since 1970. */
function moment(name, value) {
  if (typeof value === 'number') return value
  if (typeof value === 'bigint') return Number(value)
  if (isDate(value)) return value.getTime()
  throw answeredWith(name, value, 'milliseconds since 1970 as a number or a bigint, or a Date')
}

/** Messages never show a token. */
function tokenOf(token) {
  if (token == null) return undefined
  if (typeof token === 'string') return token
  throw new Nonsense(`answered a token of type ${typeof token}; expected a text`)
}

function answeredWith(name, found, expected) {
  return new Nonsense(`answered ${name} ${shown(found)}; expected ${expected}`)
}

/** What was thrown, as far as it can be shown. */
function thrown(error, token) {
  try {
    const text = described(error).replaceAll(token, '…')
    const isFinal = error?.code === 'ERR_MINTID_CONFIG'
    return { what: `threw ${text}`, code: codeOf(error), hint: placeOf(error), isFinal }
  } catch {
    return { what: 'threw something that cannot be shown', isFinal: false }
  }
}

const LONGEST_DESCRIBED = 300

/** An error's name and message in one line. It may hold a URL, and that a password. */
function described(error) {
  if (typeof error?.message !== 'string') return shown(error)
  const name = typeof error.name === 'string' ? error.name : 'Error'
  const text = error.message === '' ? name : `${name}: ${error.message}`
  const line = text.replace(/:\/\/\S*@/g, '://…@').replace(/\p{Cc}+/gu, ' ')
  return line.length > LONGEST_DESCRIBED ? `${line.slice(0, LONGEST_DESCRIBED)}…` : line
}

function codeOf(error) {
  const code = error?.code ?? ''
  return /^[\w.-]{1,64}$/.test(code) ? String(code) : undefined
}

/** The first frame that is the user's own. */
function placeOf(error) {
  const frames = String(error?.stack)
    .split('\n')
    .map((line) => line.trim())
  const calls = frames.filter((line) => line.startsWith('at '))
  const place = calls.find((line) => !/node_modules|node:/.test(line)) ?? calls[0]
  return place && `thrown ${place.slice(0, LONGEST_DESCRIBED)}`
}

module.exports = { requestsTo }
