/**
 * Takes another installation's Redis over when the operator says so. Knows no limit; a server asks
 * by itself.
 */
import { Cluster, type Redis } from 'ioredis'
import type { RedisSettings } from '../config/redis-settings.ts'
import { createRedisClient, type RedisClient } from './redis-client.ts'
import { installationKey } from './redis-store.ts'

/** Of what nodes keep there, in front of which the prefix stands. */
const OWN_KEYS = ['nodes', 'changes', 'key:*', 'used:*']
const KEYS_AT_ONCE = 500
const WITHIN_MS = 10_000

/**
 * Takes a Redis for this installation's. If it was another's, it forgets what nodes have counted
 * there: it is filled again from the database.
 * @returns whose it was; undefined: nobody's, or this one's
 * @throws when it does not answer
 */
export async function takeRedis(
  settings: RedisSettings,
  installationId: string,
): Promise<string | undefined> {
  let failure: unknown
  const client = createRedisClient(settings, (error) => {
    failure = error
  })
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(failure ?? new Error('no answer')), WITHIN_MS)
  try {
    return await Promise.race([take(client, settings.prefix, installationId), late.promise])
  } catch (error) {
    // The connection's own error says more than that a command had none.
    throw failure ?? error
  } finally {
    clearTimeout(timer)
    client.disconnect()
  }
}

async function take(
  client: RedisClient,
  prefix: string,
  installationId: string,
): Promise<string | undefined> {
  await client.connect()
  const key = installationKey(prefix)
  const found = await client.get(key)
  if (found === installationId) return undefined
  if (found !== null) await forgetCounts(client, prefix)
  await client.set(key, installationId)
  return found ?? undefined
}

async function forgetCounts(client: RedisClient, prefix: string): Promise<void> {
  const servers = client instanceof Cluster ? client.nodes('master') : [client]
  for (const server of servers)
    for (const name of OWN_KEYS) await forgetMatching(server, `${prefix}:${name}`)
}

async function forgetMatching(server: Redis, pattern: string): Promise<void> {
  let cursor = '0'
  do {
    const [next, keys] = await server.scan(cursor, 'MATCH', pattern, 'COUNT', KEYS_AT_ONCE)
    // One by one: in a cluster, keys of several places are not taken in one command.
    await Promise.all(keys.map((key) => server.unlink(key)))
    cursor = next
  } while (cursor !== '0')
}
