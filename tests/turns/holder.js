'use strict'

// A process of mintid that leases a machine ID, mints for a moment, gives it back, and starts again. Prints what
// nononcense.exs prints.

const { setTimeout: pass } = require('node:timers/promises')
const { IdGenerator } = require('mintid')

const [url, namespace, leases] = process.argv.slice(2)

/** Microseconds since 1970; the clock that counts on from a start is the finer one. */
const now = () => Math.round((performance.timeOrigin + performance.now()) * 1000)

async function main() {
  for (let left = Number(leases); left > 0; left--) {
    const ids = new IdGenerator({
      coordinator: url,
      namespace,
      machineIds: { from: 0, to: 7 },
      lease: { ttlMs: 60_000, onReset: 'grant', acquireTimeoutMs: 60_000 }
    })
    await ids.ready()
    const from = now()
    const type = ids.type('', { dbFormat: 'signed' })
    type.nextManyDb(100)
    await pass(Math.random() * 20)
    const { machineId } = ids
    const until = now()
    await ids.close()
    console.log(`${machineId} ${from} ${until}`)
  }
}

main().catch((error) => {
  console.error(error)
  process.exit(1)
})
