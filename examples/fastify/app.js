import fastify from 'fastify'
import { userId } from './ids.js'

const newUser = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string' } }
}

/** The routes. mintid's errors carry `statusCode` and `code`, so Fastify answers 400 and 503 by itself. */
export function buildApp(options) {
  const app = fastify(options)
  const users = new Map() // stands for: create table users (id bigint primary key, name text)

  app.post('/users', { schema: { body: newUser } }, async (request, reply) => {
    const { name } = request.body
    const { id, db } = userId.nextPair()
    users.set(db, { name })
    reply.code(201)
    return { id, name }
  })

  app.get('/users/:id', async (request, reply) => {
    const id = userId.parse(request.params.id)
    const user = users.get(userId.toDb(id))
    if (!user) return reply.callNotFound()
    return { id, name: user.name }
  })

  return app
}
