/**
 * A connection to Redis or Valkey as the settings say: one server, behind sentinels, or a cluster.
 * Knows no key and no script.
 */
import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis'
import type { RedisSettings } from '../config/redis-settings.ts'
import { retryDelayMs } from '../core/retry-delay.ts'

export type RedisClient = Redis | Cluster

const CONNECT_TIMEOUT_MS = 2_000

/**
 * Nothing waits in it: a command without a connection fails at once, one that a connection took
 * along fails with it. It connects when `connect` is called, and again for as long as it is not
 * closed. The maker listens to its `error`.
 */
export function createRedisClient(
  settings: RedisSettings,
  onFailure: (error: unknown) => void,
): RedisClient {
  const client = settings.topology === 'cluster' ? createCluster(settings) : createRedis(settings)
  // Without a listener the process would end.
  client.on('error', (error: Error & { lastNodeError?: unknown }) =>
    onFailure(error.lastNodeError ?? error),
  )
  return client
}

function createRedis(settings: RedisSettings): Redis {
  const { topology, nodes, masterName } = settings
  const common: RedisOptions = {
    ...connectionOptions(settings),
    db: settings.database,
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: retryDelayMs,
  }
  if (topology === 'sentinel') {
    return new Redis({
      ...common,
      sentinels: [...nodes],
      name: masterName ?? '',
      sentinelRetryStrategy: retryDelayMs,
      ...(settings.hasTls ? { sentinelTLS: {}, enableTLSForSentinelMode: true } : {}),
    })
  }
  return new Redis({ ...common, ...nodes[0] })
}

function createCluster(settings: RedisSettings): Cluster {
  const { autoResubscribe: _, ...redisOptions } = connectionOptions(settings)
  const options: ClusterOptions = {
    lazyConnect: true,
    enableOfflineQueue: false,
    clusterRetryStrategy: retryDelayMs,
    maxRedirections: 4,
    retryDelayOnFailover: 50,
    retryDelayOnClusterDown: 50,
    slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
    redisOptions,
    // Certificates hold names: an address that was looked up would not match one.
    ...(settings.hasTls ? { dnsLookup: (address, callback) => callback(null, address) } : {}),
  }
  return new Cluster([...settings.nodes], options)
}

function connectionOptions(settings: RedisSettings): RedisOptions {
  return {
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: settings.timeoutMs,
    keepAlive: 10_000,
    noDelay: true,
    connectionName: 'gatehouse',
    autoResubscribe: true,
    ...(settings.username === undefined ? {} : { username: settings.username }),
    ...(settings.password === undefined ? {} : { password: settings.password.reveal() }),
    // Node's own list of authorities, and those of NODE_EXTRA_CA_CERTS.
    ...(settings.hasTls ? { tls: {} } : {}),
  }
}
