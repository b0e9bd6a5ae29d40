'use strict'

const assert = require('node:assert/strict')

const [WORKERS, ROUNDS] = [4, 20]

/**
 * Workers that mint while the lease of their process is lost and regained. Each hears each event once and in order, and
 * none of them gets an ID between a loss that it heard of and the next lease.
 */
async function run(stage) {
  const files = Array.from({ length: WORKERS }, (_, index) => ({
    namespace: 'default',
    file: stage.file(`worker-${index}`)
  }))
  const process = stage.start({
    script: 'roles/workers.js',
    options: { machineIds: { from: 0, to: 59 } },
    input: { files, rounds: ROUNDS }
  })
  const { workers } = await process.event('done')
  stage.faultEnds()
  assert.equal(workers.length, WORKERS)
  for (const { heard, wrong } of workers) {
    assert.deepEqual(wrong, [])
    assert.deepEqual(heard, workers[0].heard)
    assert.equal(heard.length, 2 * ROUNDS)
    for (let round = 0; round < ROUNDS; round++) {
      assert.match(heard[2 * round], new RegExp(`^lost \\d+ round ${round}$`))
      assert.match(heard[2 * round + 1], /^acquired \d+$/)
    }
  }
}

module.exports = {
  workers: {
    title: `${WORKERS} Workers, the lease lost and regained ${ROUNDS} times`,
    short: ['postgres', 'directory'],
    run
  }
}
