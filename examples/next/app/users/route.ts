import { userId } from '../../ids'
import { table } from '../../table'

export async function POST(request: Request) {
  const { name } = await request.json()
  const { id, db } = userId.nextPair()
  table.set(db, name)
  return Response.json({ id, name }, { status: 201 })
}
