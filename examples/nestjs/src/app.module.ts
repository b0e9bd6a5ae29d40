import { Module } from '@nestjs/common'
import { IdsModule } from './ids.module.js'
import { UsersController } from './users.controller.js'

@Module({ imports: [IdsModule], controllers: [UsersController] })
export class AppModule {}
