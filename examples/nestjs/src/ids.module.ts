import { Module } from '@nestjs/common'
import { IdsService } from './ids.service.js'

@Module({ providers: [IdsService] })
export class IdsModule {}
