import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis'
import type { RedisSettings } from '../config/redis-settings.ts'
import { retryDelayMs } from '../core/retry-delay.ts'

export type RedisClient = Redis | Cluster

const CONNECT_TIMEOUT_MS = 2_000

/**
 * A command without a connection fails immediately, and a lost connection fails its commands.
 * Reconnects until closed. The creator listens to the `error` event.
 */
export function createRedisClient(
  settings: RedisSettings,
  onFailure: (error: unknown) => void,
): RedisClient {
  const client = settings.topology === 'cluster' ? createCluster(settings) : createRedis(settings)
  // An `error` event without a listener would end the process.
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
    // Certificates contain names, so a resolved address would not match.
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
    // Node's own list of authorities, and the authorities of NODE_EXTRA_CA_CERTS.
    ...(settings.hasTls ? { tls: {} } : {}),
  }
}
