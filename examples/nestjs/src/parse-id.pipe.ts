import { BadRequestException, type PipeTransform } from '@nestjs/common'
import type { AnyIdType, IdOf } from 'mintid'

/** Turns a parameter into an ID of one type, or answers with 400: `@Param('id', new ParseIdPipe(userId)) id: UserId`. */
export class ParseIdPipe<Type extends AnyIdType> implements PipeTransform<unknown, IdOf<Type>> {
  constructor(private readonly type: Type) {}

  transform(value: unknown) {
    const result = this.type.safeParse(value)
    if (result.success) return result.id as IdOf<Type>
    const { statusCode, code, message } = result.error
    throw new BadRequestException({ statusCode, code, message })
  }
}
