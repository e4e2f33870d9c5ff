import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import type { Secret } from '../../core/secret.ts'
import { POSTGRES_TLS_PARAMETERS } from '../../core/shared-stores.ts'

export interface PostgresSettings {
  readonly url: Secret
  readonly poolSize: number
  readonly connectTimeoutMs: number
  /** Time limit of one statement; 0 means no limit. */
  readonly statementTimeoutMs: number
}

/** node-postgres would treat `require` as `verify-full`, and warn at every start. */
export function withoutTls(url: Secret): string {
  const bare = new URL(url.reveal())
  for (const name of POSTGRES_TLS_PARAMETERS) bare.searchParams.delete(name)
  return bare.href
}

export function toTlsOptions(url: Secret): ConnectionOptions | false {
  const { searchParams, hostname } = new URL(url.reveal())
  const mode = searchParams.get('sslmode') ?? 'disable'
  if (mode === 'disable') return false
  const read = (name: string) => {
    const path = searchParams.get(name)
    return path === null ? undefined : readFileSync(path, 'utf8')
  }
  const ca = read('sslrootcert')
  const files = { ca, cert: read('sslcert'), key: read('sslkey') }
  const options: ConnectionOptions = { ...files, host: hostname.replace(/^\[(.+)\]$/, '$1') }
  if (mode === 'verify-full') return options
  if (ca === undefined) return { ...options, rejectUnauthorized: false }
  return { ...options, checkServerIdentity: () => undefined }
}

export function describeAddress(url: Secret): string {
  const { hostname, port, pathname, searchParams } = new URL(url.reveal())
  return `${searchParams.get('host') ?? hostname}:${port || '5432'}${pathname}`
}
