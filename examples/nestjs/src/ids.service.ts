import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common'
import { start, stop } from 'mintid'

const { MINTID_KEY, MINTID_URL = pathToFileURL(join(__dirname, '..', '.mintid')).href } = process.env

/** Leases a machine ID before the application listens, and gives it back after the last request. */
@Injectable()
export class IdsService implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(IdsService.name)

  async onApplicationBootstrap() {
    const ids = await start({ coordinator: MINTID_URL, key: MINTID_KEY })
    ids.on('leaseLost', ({ machineId, reason }) => this.logger.error(`machine ID ${machineId} lost: ${reason}`))
    ids.on('leaseAcquired', ({ machineId }) => this.logger.log(`machine ID ${machineId} leased again`))
    this.logger.log(`machine ID ${ids.machineId} leased`)
  }

  async onApplicationShutdown() {
    await stop()
  }
}
