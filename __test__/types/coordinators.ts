import { IdGenerator, type LentCoordinator } from 'mintid'
import { redisCoordinator, sqlCoordinator } from 'mintid/coordinators'
import { type Equal, expectType } from './expect.js'

/** As drivers have them. */
declare const pool: { query(text: string, values: unknown[]): Promise<{ rows: Record<string, unknown>[] }> }
declare const prisma: { $queryRawUnsafe<T = unknown>(query: string, ...values: unknown[]): PromiseLike<T> }
declare const client: { eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown> }

const lent = sqlCoordinator({ dialect: 'postgres', schema: 'ids', query: (text, values) => pool.query(text, values) })
expectType<Equal<typeof lent, LentCoordinator>>()
new IdGenerator({ coordinator: lent, incarnation: 'durable', lease: { onReset: 'grant' } })
sqlCoordinator({ dialect: 'postgres', query: (text, values) => prisma.$queryRawUnsafe(text, ...values) })
const coordinator = redisCoordinator({ eval: (script, keys, args) => client.eval(script, { keys, arguments: args }) })
new IdGenerator({ coordinator, namespace: 'shop' })

sqlCoordinator({ dialect: 'mariadb', schema: 'app', query: (text) => pool.query(text, []) })

// @ts-expect-error which database
sqlCoordinator({ dialect: 'mysql', query: (text) => pool.query(text, []) })
// @ts-expect-error the dialect is not guessed
sqlCoordinator({ query: (text, values) => pool.query(text, values) })
// @ts-expect-error not one that runs at once
sqlCoordinator({ dialect: 'postgres', query: () => [] })
// @ts-expect-error nothing else is one
const other: LentCoordinator = {}
