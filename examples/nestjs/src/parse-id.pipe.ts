import { BadRequestException, type PipeTransform } from '@nestjs/common'
import type { AnyIdType } from 'mintid'

/** Turns a parameter into an ID of one type, or answers with 400: `@Param('id', new ParseIdPipe(userId)) id: UserId`. */
export class ParseIdPipe implements PipeTransform {
  constructor(private readonly type: AnyIdType) {}

  transform(value: unknown) {
    const result = this.type.safeParse(value)
    if (result.success) return result.id
    const { statusCode, code, message } = result.error
    throw new BadRequestException({ statusCode, code, message })
  }
}
