'use strict'

const assert = require('node:assert/strict')

const NAMESPACES = 25
const [ROUNDS, SHORT_ROUNDS] = [1000, 100]
const LONGEST_MS = 180_000

/**
 * Generators of one process, in many namespaces with one machine ID each, are closed while they are being renewed, and
 * the next one takes the same machine ID at once: what a release gives back must lie behind everything that was used.
 */
async function run(stage) {
  const rounds = stage.short ? SHORT_ROUNDS : ROUNDS
  const files = Array.from({ length: NAMESPACES }, (_, index) => {
    const namespace = `closing-${index}`
    return { namespace, file: stage.file(namespace) }
  })
  for (const { namespace } of files) await stage.setup(namespace)
  await stage.proxy?.delay(5)
  const options = { machineIds: { from: 3, to: 3 } }
  // So many first requests at once, each of a dozen answers, take their time.
  const lease = { renewEveryMs: 100, requestTimeoutMs: 2500 }
  const process = stage.start({
    script: 'roles/closing.js',
    options: { ...options, lease },
    input: { files, rounds: rounds / NAMESPACES, renews: stage.proxy !== undefined }
  })
  stage.faultEnds()
  const { closed, renewed, released, late } = await process.event('done', { longestMs: LONGEST_MS })
  assert.equal(closed, rounds)
  stage.note(`${closed} closed, ${renewed} renewals before, ${released} told of their release, ${late} had to run out`)
}

module.exports = { closing: { title: 'close() racing renewals', short: true, run } }
