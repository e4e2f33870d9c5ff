/**
 * Describes another installation's Redis in messages. A file of its own, because a start without
 * Redis must not load a client.
 */
import type { RedisSettings } from '../config/redis-settings.ts'

interface Ids {
  readonly found: string
  readonly expected: string
}

export function describeOtherRedis(
  { nodes, database, prefix }: RedisSettings,
  { found, expected }: Ids,
): string {
  const hosts = nodes.map(({ host, port }) => `${host}:${port}`).join(',')
  return (
    `Redis (${hosts}, database ${database}, prefix ${prefix}) is another installation's: found ` +
    `${found}, expected ${expected}. Name its own in REDIS_URL, or give each installation a ` +
    'GATEHOUSE_REDIS_PREFIX.'
  )
}
