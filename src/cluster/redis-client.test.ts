/** The options that the client of Redis gets from the settings; nothing is connected. */
import { describe, expect, test } from 'bun:test'
import { Cluster, Redis } from 'ioredis'
import type { RedisSettings } from '../config/redis-settings.ts'
import { Secret } from '../core/secret.ts'
import { createRedisClient } from './redis-client.ts'

const settings: RedisSettings = {
  topology: 'single',
  nodes: [
    { host: 'one.test', port: 7001 },
    { host: 'two.test', port: 7002 },
  ],
  masterName: undefined,
  username: undefined,
  password: undefined,
  database: 3,
  hasTls: false,
  prefix: 'gatehouse',
  timeoutMs: 123,
  outage: { choice: 'share', graceMs: Number.POSITIVE_INFINITY },
}

/** No command waits behind others: see the function's own comment. */
const NOTHING_WAITS = { lazyConnect: true, enableOfflineQueue: false }
/** By which the server's operator finds it in the list of clients. */
const NAME = { connectionName: 'gatehouse' }

function redisOf(changes: Partial<RedisSettings>): Redis {
  const client = createRedisClient({ ...settings, ...changes }, () => {})
  if (!(client instanceof Redis)) throw new Error('no single connection')
  return client
}

describe('one server', () => {
  test('is the first in the settings, with its database', () => {
    expect(redisOf({}).options).toMatchObject({
      ...NOTHING_WAITS,
      ...{ host: 'one.test', port: 7001, db: 3, sentinels: null },
      ...{ commandTimeout: 123, autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 },
      ...{ username: null, password: null },
      ...NAME,
    })
    expect(redisOf({}).options.tls).toBeUndefined()
  })

  test('gets a user, a password and TLS if the settings have them', () => {
    const changes = { username: 'ann', password: new Secret('planted'), hasTls: true }
    expect(redisOf(changes).options).toMatchObject({
      username: 'ann',
      password: 'planted',
      tls: {},
    })
  })

  test('reports a failure, and does not end the process', () => {
    const failures: unknown[] = []
    const client = createRedisClient(settings, (error) => failures.push(error))
    const error = new Error('reset')
    client.emit('error', error)
    expect(failures).toEqual([error])
  })
})

describe('behind sentinels', () => {
  test('the client asks them for the master by its name', () => {
    expect(redisOf({ topology: 'sentinel', masterName: 'main' }).options).toMatchObject({
      ...NOTHING_WAITS,
      ...{ sentinels: settings.nodes, name: 'main', db: 3, enableTLSForSentinelMode: false },
    })
  })

  test('the client uses TLS with them too', () => {
    const { options } = redisOf({ topology: 'sentinel', masterName: 'main', hasTls: true })
    expect(options).toMatchObject({ tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true })
  })
})

describe('a cluster', () => {
  const clusterOf = (changes: Partial<RedisSettings> = {}): Cluster => {
    const client = createRedisClient({ ...settings, topology: 'cluster', ...changes }, () => {})
    if (!(client instanceof Cluster)) throw new Error('no cluster')
    return client
  }

  test('is entered by any of the nodes in the settings', () => {
    const { options } = clusterOf({ password: new Secret('planted') })
    expect(options).toMatchObject(NOTHING_WAITS)
    expect(options.redisOptions).toMatchObject({
      commandTimeout: 123,
      password: 'planted',
      ...NAME,
    })
    expect(options.redisOptions).not.toHaveProperty('tls')
  })

  test('over TLS keeps the names of its nodes, as their certificates need them', () => {
    const { options } = clusterOf({ hasTls: true })
    expect(options.redisOptions).toMatchObject({ tls: {} })
    let found: unknown
    options.dnsLookup?.('node.test', (_, address) => {
      found = address
    })
    expect(found).toBe('node.test')
  })
})
