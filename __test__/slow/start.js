'use strict'

const { Peer } = require('../support/peer.js')
const { Registry } = require('../support/registry.js')

const ROUNDS = 15

const SCENES = {
  'Node alone': ({ say }) => say('up'),
  'the first ID': async ({ mintid, input, say }) => {
    await mintid.start(input)
    say(mintid.idType('usr_', { mask: true }).next())
  }
}

/** How long it takes from spawning a process to what it says first. */
async function measure(t) {
  const options = { coordinator: new Registry().coordinator, key: '0123456789abcdef0123456789abcdef' }
  const rows = []
  for (const [what, scene] of Object.entries(SCENES)) {
    const times = []
    for (let round = 0; round < ROUNDS; round++) {
      const began = performance.now()
      const peer = new Peer(t, scene, options)
      await peer.next()
      times.push((performance.now() - began) / 1000)
      await peer.end()
    }
    times.sort((a, b) => a - b)
    const seconds = (index) => times.at(index).toFixed(3)
    rows.push({
      'from spawn to': what,
      starts: ROUNDS,
      least: seconds(0),
      median: seconds(ROUNDS >> 1),
      most: seconds(-1)
    })
  }
  return { rows, duplicates: 0 }
}

module.exports = { title: 'Seconds from spawn to the first ID', measure }
