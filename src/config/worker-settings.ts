import type { Settings } from './settings.ts'

export interface Objection {
  readonly reason: string
  readonly cure: string
}

export function objectionToWorkers(
  { workers, database, redis }: Pick<Settings, 'workers' | 'database' | 'redis'>,
  platform: NodeJS.Platform = process.platform,
): Objection | undefined {
  if (workers === 1) return undefined
  const what = `GATEHOUSE_WORKERS (--workers) asks for ${workers} processes, but`
  if (platform !== 'linux')
    return {
      reason:
        `${what} this system does not spread connections over processes that share a port ` +
        '(SO_REUSEPORT), as Linux does',
      cure: 'Use one, and several nodes behind a load balancer',
    }
  const missing = [
    ...(database === undefined ? ['DATABASE_URL (Postgres) for a shared store'] : []),
    ...(redis === undefined ? ['REDIS_URL (Redis or Valkey) for shared limits'] : []),
  ]
  if (missing.length === 0) return undefined
  return {
    reason: `${what} each is a separate node`,
    cure: `Set ${missing.join(' and ')}; or use one`,
  }
}
