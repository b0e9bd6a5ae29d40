import { userId } from '../../../ids'
import { table } from '../../../table'

export async function GET(_request: Request, { params }: RouteContext<'/users/[id]'>) {
  const parsed = userId.safeParse((await params).id)
  if (!parsed.success) {
    const { code, message } = parsed.error
    return Response.json({ code, message }, { status: 400 })
  }
  const name = table.get(userId.toDb(parsed.id))
  if (name === undefined) return Response.json({ message: 'no such user' }, { status: 404 })
  return Response.json({ id: parsed.id, name })
}
