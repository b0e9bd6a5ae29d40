import { pathToFileURL } from 'node:url'
import { start } from 'mintid'

const { MINTID_KEY, MINTID_URL = pathToFileURL('.mintid').href } = process.env

/** Leases a machine ID, which the end of the process gives back. */
export async function startIds() {
  const ids = await start({ coordinator: MINTID_URL, key: MINTID_KEY })
  console.log(`machine ID ${ids.machineId} leased`)
}
