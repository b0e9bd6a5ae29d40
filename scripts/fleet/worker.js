'use strict'

// One process of the fleet: leases a machine ID, mints its share, writes each ID as a line.

const { idType, start } = require('mintid')

const orderId = idType('ord_', { mask: true })
const CHUNK = 1000

async function main() {
  const { FLEET_URL: coordinator, FLEET_NAMESPACE: namespace, FLEET_KEY: key, FLEET_IDS: target } = process.env
  const ids = await start({ coordinator, namespace, key })
  process.send({ machineId: ids.machineId })
  for (let made = 0; made < Number(target); made += CHUNK) {
    await write(`${orderId.nextMany(Math.min(CHUNK, target - made)).join('\n')}\n`)
  }
  await ids.close()
  process.disconnect()
}

/** Waits until the pipe has taken the text, so that a killed process has counted little more than was received. */
function write(text) {
  return new Promise((resolve, reject) => process.stdout.write(text, (error) => (error ? reject(error) : resolve())))
}

main()
