import { start } from 'mintid'
import { buildApp } from './app.js'

const { PORT = '3000', MINTID_KEY, MINTID_URL = new URL('.mintid', import.meta.url).href } = process.env

async function main() {
  const ids = await start({ coordinator: MINTID_URL, key: MINTID_KEY })
  const app = buildApp({ logger: true })
  app.addHook('onClose', () => ids.close())
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => app.close())
  ids.on('leaseLost', (event) => app.log.error(event, 'machine ID lost, no new IDs until another one is leased'))
  ids.on('leaseAcquired', (event) => app.log.info(event, 'machine ID leased'))
  app.log.info({ machineId: ids.machineId }, 'machine ID leased')
  await app.listen({ port: Number(PORT) })
}

main()
