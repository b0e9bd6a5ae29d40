import { subscribe } from 'node:diagnostics_channel'
import { type EventEmitter, once } from 'node:events'
import process from 'node:process'
import {
  type AcquireRequest,
  type ChannelMessage,
  type CustomCoordinator,
  type GeneratorHealth,
  type GeneratorOptions,
  type GeneratorStats,
  IdGenerator,
  type IdOf,
  type Lease,
  type MintidError,
  type MySqlConnection,
  type PostgresConnection,
  type RedisConnection,
  type ReleaseRequest,
  type RenewRequest,
  start,
  stop
} from 'mintid'
import { type Equal, expectType } from './expect.js'

export async function main(): Promise<void> {
  // What the environment gives may be undefined for the compiler; at run time it is refused.
  const ids = await start({ coordinator: process.env.MINTID_URL, key: process.env.MINTID_KEY })
  await start({ coordinator: 'local' }, { signal: AbortSignal.timeout(1000), acquireTimeoutMs: Infinity })
  await stop()
  expectType<Equal<typeof ids, IdGenerator>>()

  // Options.
  new IdGenerator({ coordinator: 'file:///var/lib/mintid', machineIds: { from: 0, to: 9 }, namespace: 'eu' })
  new IdGenerator({ machineId: 7, key: Buffer.alloc(32), lease: { ttlMs: 30_000, renewEveryMs: 5000 } })
  new IdGenerator({ machineId: { env: 'POD_NAME' }, layout: { machine: 10, sequence: 12, epoch: '2020-01-01' } })
  new IdGenerator({ machineId: { hosts: ['10.0.0.4', 'db-2'] } })
  // @ts-expect-error where IDs are unique must be written
  new IdGenerator({})
  // @ts-expect-error one of the two
  new IdGenerator({ coordinator: 'local', machineId: 7 })
  // @ts-expect-error a range of machine IDs beside one by hand
  new IdGenerator({ machineId: 7, machineIds: { from: 0, to: 9 } })
  // @ts-expect-error both ends
  new IdGenerator({ coordinator: 'local', machineIds: { from: 0 } })
  // @ts-expect-error a typing error
  new IdGenerator({ coordinator: 'local', lease: { ttl: 30_000 } })
  // @ts-expect-error a unit in the wrong place
  new IdGenerator({ coordinator: 'local', lease: { ttlMs: '30s' } })
  new IdGenerator({ coordinator: 'local', keys: { old: Buffer.alloc(32), partner: process.env.PARTNER_KEY } })
  new IdGenerator({ coordinator: 'local', cipherKeys: { 64: Buffer.alloc(16), 128: 'k' }, ciphers: { 96: 'des3' } })
  // @ts-expect-error no such size
  new IdGenerator({ coordinator: 'local', cipherKeys: { 32: Buffer.alloc(16) } })
  // @ts-expect-error a cipher that does not have the size
  new IdGenerator({ coordinator: 'local', ciphers: { 128: 'blowfish' } })
  // @ts-expect-error what stands in for native code is no public argument
  new IdGenerator({ coordinator: 'local' }, {})
  const options: GeneratorOptions = { coordinator: 'none' }

  // Functions of one's own.
  const coordinator: CustomCoordinator = {
    name: 'mine',
    async acquire({ machineIds: { from }, ttlMs, token, fingerprint, signal }) {
      signal.throwIfAborted()
      expectType<Equal<typeof fingerprint, string | null>>()
      return from > 5 ? null : { machineId: from, now: new Date(), end: BigInt(Date.now() + ttlMs), token, leased: 1 }
    },
    renew: ({ end, ttlMs }) => (ttlMs > 0 ? { now: Date.now(), end: end + ttlMs } : false),
    release: async ({ lastUsed }) => lastUsed
  }
  new IdGenerator({ coordinator, namespace: 'shop', lease: { requestTimeoutMs: 1000 } })
  new IdGenerator({
    coordinator: new (class implements CustomCoordinator {
      acquire(_: AcquireRequest) {
        return null
      }
      renew(_: RenewRequest) {
        return null
      }
      release(_: ReleaseRequest) {}
    })()
  })
  // @ts-expect-error all three
  new IdGenerator({ coordinator: { acquire: coordinator.acquire, renew: coordinator.renew } })
  // @ts-expect-error a time as text
  coordinator.acquire = () => ({ machineId: 1, now: '2026-01-01', end: 7 })

  // Servers.
  new IdGenerator({ coordinator: 'postgres://db/app', incarnation: 'durable', lease: { onReset: 'grant' } })
  new IdGenerator({ coordinator: 'POSTGRESQL://db/app', tls: { ca: Buffer.alloc(1), rejectUnauthorized: true } })
  new IdGenerator({ coordinator: 'postgres://db/app', tls: { ca: ['a', Buffer.alloc(1)], cert: 'c', key: 'k' } })
  const connection: PostgresConnection = { type: 'postgres', host: 'db', port: 5432, password: process.env.PGPASSWORD }
  new IdGenerator({ coordinator: connection })
  new IdGenerator({
    coordinator: { type: 'postgres', application_name: 'api', connect_timeout: 5, sslmode: 'require' }
  })
  new IdGenerator({ coordinator: 'rediss://cache', incarnation: 'durable', lease: { onReset: 'grant' }, tls: {} })
  new IdGenerator({ coordinator: 'valkey+sentinel://a,b:26380/mymaster?replicas=1' })
  new IdGenerator({ coordinator: 'redis+unix:///run/redis.sock' })
  const sentinels = ['a:26379', { host: 'b' }, { host: '::1', port: 26380 }] as const
  const redis: RedisConnection = { type: 'redis', sentinels, name: 'mymaster', sentinelPassword: process.env.PASSWORD }
  new IdGenerator({ coordinator: redis })
  new IdGenerator({ coordinator: { type: 'valkey', nodes: 'a,b', cluster: true, replicas: 1, connectTimeout: 500 } })
  new IdGenerator({ coordinator: { type: 'redis', path: '/run/redis.sock', db: 1, username: 'app', tls: false } })
  new IdGenerator({ coordinator: { type: 'redis', maxRetriesPerRequest: 3, ssl_cert_reqs: 'none' } })
  // @ts-expect-error certificates belong into the option tls
  new IdGenerator({ coordinator: { type: 'redis', tls: { ca: 'c' } } })
  // @ts-expect-error a server of a list without its host
  new IdGenerator({ coordinator: { type: 'redis', nodes: [{ port: 6379 }], cluster: true } })
  // @ts-expect-error no such registry
  new IdGenerator({ coordinator: { type: 'redis', registry: 'elixir' } })
  // @ts-expect-error which kind of server
  new IdGenerator({ coordinator: { host: 'db' } })
  const mysql: MySqlConnection = {
    type: 'mysql',
    host: 'db',
    user: 'app',
    password: process.env.PASSWORD,
    database: 'app'
  }
  new IdGenerator({ coordinator: mysql, tls: { ca: 'c' } })
  new IdGenerator({ coordinator: { type: 'mariadb', socketPath: '/run/mysqld/mysqld.sock', 'ssl-mode': 'REQUIRED' } })
  new IdGenerator({ coordinator: 'mariadb://app@db/app', machineIds: { from: 0, to: 9 } })
  // @ts-expect-error no such mode
  new IdGenerator({ coordinator: { type: 'mysql', 'ssl-mode': 'on' } })
  // @ts-expect-error a kind that there is not
  new IdGenerator({ coordinator: { type: 'oracle' } })
  // @ts-expect-error no such mode
  new IdGenerator({ coordinator: { type: 'postgres', sslmode: 'on' } })
  // @ts-expect-error texts, numbers, true and false
  new IdGenerator({ coordinator: { type: 'postgres', ssl: {} } })
  // @ts-expect-error a typing error
  new IdGenerator({ coordinator: 'postgres://db/app', tls: { serverName: 'db' } })
  // @ts-expect-error no such incarnation
  new IdGenerator({ coordinator: 'postgres://db/app', incarnation: 'logged' })
  // @ts-expect-error no such way
  new IdGenerator({ coordinator: 'postgres://db/app', lease: { onReset: 'skip' } })
  // @ts-expect-error a machine ID by hand has no server
  new IdGenerator({ machineId: 7, tls: {} })
  // @ts-expect-error a machine ID by hand has no registry
  new IdGenerator({ machineId: 7, incarnation: 'volatile' })

  // Machine IDs that are guarded.
  new IdGenerator({ machineId: { env: 'POD_NAME' }, guard: process.env.DATABASE_URL, key: process.env.MINTID_KEY })
  new IdGenerator({ machineId: 7, guard: connection, tls: { ca: 'a' }, incarnation: 'durable' })
  new IdGenerator({ machineId: 7, guard: 'postgres://db/app', lease: { ttlMs: 60_000, renewEveryMs: 5000 } })
  // @ts-expect-error nothing to guard
  new IdGenerator({ guard: 'postgres://db/app' })
  // @ts-expect-error one machine ID, or one of many
  new IdGenerator({ coordinator: 'postgres://db/app', guard: 'postgres://db/app' })
  // @ts-expect-error the machine ID is given
  new IdGenerator({ machineId: 7, guard: 'postgres://db/app', machineIds: { from: 0, to: 9 } })
  // @ts-expect-error the first lease is no shorter than the others
  new IdGenerator({ machineId: 7, guard: 'postgres://db/app', lease: { firstTtlMs: 3000 } })

  // Life.
  const connected: IdGenerator = await IdGenerator.connect(options, { acquireTimeoutMs: 500 })
  await connected.ready({ signal: undefined })
  // @ts-expect-error a typing error
  await connected.ready({ timeout: 500 })
  expectType<Equal<typeof connected.machineId, number | null>>()
  expectType<Equal<typeof connected.lease, Lease | null>>()
  expectType<Equal<ReturnType<typeof connected.stats>, GeneratorStats>>()
  expectType<Equal<ReturnType<typeof connected.health>, GeneratorHealth>>()
  const { state, lastError, lastOperation, renewed, conflicts } = connected.stats()
  expectType<Equal<typeof state, 'idle' | 'acquiring' | 'held' | 'lost' | 'conflict' | 'closed'>>()
  expectType<Equal<[typeof lastError, typeof renewed, typeof conflicts], [MintidError | null, number, number]>>()
  lastOperation?.at.getTime()
  const status: 200 | 503 = connected.health().status === 'unavailable' ? 503 : 200
  connected.relinquish('moving to another zone')
  await using scoped = connected

  expectType<Equal<ReturnType<typeof ids.encrypt | typeof ids.decrypt>, Buffer>>()
  ids.decrypt(ids.encrypt(new Uint8Array(12)))
  expectType<Equal<ReturnType<typeof ids.nonce>, Buffer>>()
  ids.nonce(64)
  ids.nonce(96, 'sortable')
  ids.nonce(128, 'encrypted', { base: 'sortable' })
  // @ts-expect-error no such size
  ids.nonce(256)
  // @ts-expect-error nothing is encrypted
  ids.nonce(96, 'counter', { base: 'sortable' })
  // @ts-expect-error numbers are no bytes
  ids.encrypt(5n)

  // Types of a generator.
  const orderId = ids.type('ord_', { kind: 'sortable' })
  expectType<Equal<IdOf<typeof orderId>, `ord_${string}`>>()
  orderId.rangeFor({ from: 0, to: 1 })
  // @ts-expect-error it has its generator
  ids.type('ord_', { generator: ids })
  // @ts-expect-error refused as in idType
  ids.type('ord_', { kind: 'encrypted', mask: true })

  // Events.
  ids
    .on('leaseAcquired', ({ machineId, at, durationMs, source }) => {
      expectType<Equal<[typeof machineId, typeof at, typeof durationMs], [number, Date, number]>>()
      if (source === 'reacquire') return
    })
    .once('leaseLost', ({ machineId, reason }) => {
      expectType<Equal<typeof machineId, number>>()
      expectType<Equal<typeof reason, 'expired' | 'rejected' | 'conflict' | 'relinquished'>>()
    })
    .on('conflict', ({ machineId, at }) => {
      expectType<Equal<[typeof machineId, typeof at], [number, Date]>>()
    })
    .on('overflow', ({ space, partition }) => {
      expectType<Equal<[typeof space, typeof partition], [string, number]>>()
    })
    .off('warning', ({ code, message }) => `${code} ${message}`)
  ids.on('leaseRetry', ({ error }) => expectType<Equal<typeof error.code, string>>())
  // @ts-expect-error an unknown event
  ids.on('leaseLots', () => {})
  // @ts-expect-error nothing emits 'error'
  ids.on('error', () => {})
  // @ts-expect-error a field of another event
  ids.on('conflict', ({ reason }) => reason)
  // @ts-expect-error a field of another event
  ids.on('leaseLost', ({ durationMs }) => durationMs)
  ids.emit('leaseLost', { machineId: 1, reason: 'expired', at: new Date() })
  ids.on('warning', ({ code }) => code === 'REGISTRY_RESET')
  subscribe('mintid:leaseLost', (message) => {
    const { generator, event } = message as ChannelMessage<'leaseLost'>
    expectType<Equal<[typeof generator, typeof event.machineId], [IdGenerator, number]>>()
  })
  const emitter: EventEmitter = ids
  await once(ids, 'leaseAcquired')
}
