import 'reflect-metadata'
import { Logger } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { AppModule } from './app.module.js'

async function main() {
  const app = await NestFactory.create(AppModule)
  app.enableShutdownHooks() // without it a signal ends the process before OnApplicationShutdown
  await app.listen(process.env.PORT ?? 3000)
  Logger.log(`listening at ${await app.getUrl()}`)
}

main()
