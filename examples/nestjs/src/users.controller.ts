import { Body, Controller, Get, NotFoundException, Param, Post } from '@nestjs/common'
import { type UserId, userId } from './ids.js'
import { ParseIdPipe } from './parse-id.pipe.js'

interface User {
  id: UserId
  name: string
}

@Controller('users')
export class UsersController {
  private readonly table = new Map<bigint, string>() // stands for: create table users (id bigint primary key, name text)

  @Post()
  create(@Body('name') name: string): User {
    const { id, db } = userId.nextPair()
    this.table.set(db, name)
    return { id, name }
  }

  @Get(':id')
  find(@Param('id', new ParseIdPipe(userId)) id: UserId): User {
    const name = this.table.get(userId.toDb(id))
    if (name === undefined) throw new NotFoundException()
    return { id, name }
  }
}
