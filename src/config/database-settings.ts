/**
 * The settings of a Postgres store. No message repeats the address, because it contains a password.
 */
import type { Secret } from '../core/secret.ts'
import { POSTGRES_TLS_PARAMETERS } from '../core/shared-stores.ts'
import { readGiven, readSetting } from './read-setting.ts'
import { type Environment, SettingsError } from './setting-type.ts'

export interface DatabaseSettings {
  /** `postgres://user:password@host:port/database?sslmode=…` */
  readonly url: Secret
  readonly poolSize: number
  readonly connectTimeoutMs: number
  /** Time limit of one statement; migrations have none. */
  readonly statementTimeoutMs: number
}

/** The modes of libpq with a definite result; `prefer` and `allow` do not guarantee encryption. */
const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full']

/**
 * @returns undefined when the store is a file in the data folder
 * @throws SettingsError naming the error
 */
export function readDatabaseSettings(environment: Environment): DatabaseSettings | undefined {
  const limits = {
    poolSize: readSetting(environment, 'GATEHOUSE_DATABASE_POOL_SIZE'),
    connectTimeoutMs: readSetting(environment, 'GATEHOUSE_DATABASE_CONNECT_TIMEOUT_MS'),
    statementTimeoutMs: readSetting(environment, 'GATEHOUSE_DATABASE_STATEMENT_TIMEOUT_MS'),
  }
  const address = readGiven(environment, 'DATABASE_URL')
  if (address === undefined) return undefined
  checkAddress(address.reveal())
  return { url: address, ...limits }
}

function checkAddress(text: string): void {
  const url = URL.parse(text)
  if (url === null || !/^postgres(?:ql)?:$/.test(url.protocol))
    throw new SettingsError(
      'DATABASE_URL must be the address of a Postgres database: ' +
        'postgres://user:password@host:5432/database. ' +
        'In a user or a password, characters such as @ / ? # % have to be percent-encoded.',
    )
  // Without a name libpq would use a database named like the user, which is never intended.
  if (url.pathname.length < 2)
    throw new SettingsError('DATABASE_URL must name the database, after the host.')
  const odd = [...url.searchParams.keys()].find(
    (name) => name.startsWith('ssl') && !POSTGRES_TLS_PARAMETERS.some((known) => known === name),
  )
  if (odd !== undefined)
    throw new SettingsError(
      `DATABASE_URL must say by ${POSTGRES_TLS_PARAMETERS.join(', ')} how it is encrypted, not by ${odd}.`,
    )
  const mode = url.searchParams.get('sslmode')
  if (mode !== null && !SSL_MODES.includes(mode))
    throw new SettingsError(
      `The sslmode of DATABASE_URL must be one of ${SSL_MODES.join(', ')}: whether the ` +
        'connection is encrypted must not depend on the server.',
    )
  if (mode === 'verify-ca' && url.searchParams.get('sslrootcert') === null)
    throw new SettingsError(
      'DATABASE_URL has sslmode=verify-ca and no sslrootcert: without one, any certificate ' +
        'would be accepted. Name the file, or use verify-full.',
    )
}
