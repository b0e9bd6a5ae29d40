'use strict'

// Functions of the user's, as native code calls them. Whatever they do, what comes of it is data.

const { Nonsense } = require('./nonsense.js')
const { thrown } = require('./thrown.js')

/**
 * What native code asks for one coordinator. Belongs to the thread that made it.
 *
 * @param {string} coordinator its kind: 'custom', or what its functions lend a connection to
 * @param {object} functions
 * @returns {(request: object, answer: (call: number, answer: object) => void) => void} never throws
 */
function callsTo(coordinator, functions) {
  // Each with `call`, which calls a function, and `read`, which turns its answer into data or throws a Nonsense.
  const { operations } = coordinator === 'custom' ? require('./custom.js') : require('./lent.js')
  const running = new Map()
  return ({ call, operation, ...request }, answer) => {
    if (operation === 'abandon') {
      running.get(call)?.abort(new DOMException('mintid waits for this answer no longer', 'AbortError'))
      running.delete(call)
      return
    }
    const controller = new AbortController()
    running.set(call, controller)
    ask(functions, operations[operation], request, controller.signal).then((said) => {
      if (running.delete(call)) answer(call, said)
      else if (said.granted)
        ask(functions, operations.release, unused(request, said.granted), new AbortController().signal)
    })
  }
}

/** Never rejects. */
async function ask(functions, { call, read, secrets, wordsOf }, request, signal) {
  try {
    return read(await call(functions, request, signal))
  } catch (error) {
    if (error instanceof Nonsense) return { trouble: { what: error.what, isFinal: false } }
    return { trouble: thrown(error, secrets(request), wordsOf) }
  }
}

/** A lease that was granted when nobody waited for it any more is given back: it was never used. */
function unused({ namespace, token: offered }, { machineId, token = offered, now }) {
  return { namespace, machineId, token, lastUsed: Math.floor(now) }
}

module.exports = { callsTo }
