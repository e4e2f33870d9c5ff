/**
 * A permanent Postgres connection besides the pool: receives notifications from other nodes, and
 * runs queries that must not wait behind the pool's.
 */
import pg from 'pg'
import { retryDelayMs } from '../../core/retry-delay.ts'
import { DatabaseUnreachableError } from './database-unreachable-error.ts'
import {
  describeAddress,
  type PostgresSettings,
  toTlsOptions,
  withoutTls,
} from './postgres-address.ts'
import { beginSession, getTypeParser } from './postgres-driver.ts'

export interface PostgresSessionOptions {
  readonly settings: PostgresSettings
  /** Time limit for a query, and for connecting. A slower connection is closed. */
  readonly timeoutMs: number
  readonly channel: string
  readonly onNotice: () => void
  readonly onUp: () => void
  readonly onDown: (error: unknown) => void
}

/** More queries at once indicate that answers have stopped. */
const MAX_UNDER_WAY = 200

export class PostgresSession {
  readonly #options: PostgresSessionOptions
  #client: pg.Client | undefined
  #isClosed = false
  #underWay = 0
  /** The end of the last query, because node-postgres warns of concurrent queries. */
  #turn: Promise<unknown> = Promise.resolve()
  #attempts = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(options: PostgresSessionOptions) {
    this.#options = options
  }

  async open(): Promise<void> {
    await this.#connect()
  }

  /**
   * @throws Error when there is no connection or no answer in time; the statement may have been
   * executed
   */
  async query<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    const client = this.#client
    if (client === undefined) throw new Error('Postgres is away')
    if (this.#underWay >= MAX_UNDER_WAY) throw new Error('too many questions wait for Postgres')
    this.#underWay += 1
    const answer = this.#turn.then(() => client.query<Row>(text, [...values]))
    this.#turn = answer.catch(() => {})
    try {
      return (await answer).rows
    } catch (error) {
      // The connection is dropped, because its pending answer could reach the next query.
      if (isSilence(error)) this.#drop(client, error)
      throw error
    } finally {
      this.#underWay -= 1
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    const client = this.#client
    this.#client = undefined
    await client?.end().catch(() => {})
  }

  async #connect(): Promise<void> {
    const { settings, timeoutMs, channel } = this.#options
    const client = new pg.Client({
      application_name: 'gatehouse node',
      connectionString: withoutTls(settings.url),
      ssl: toTlsOptions(settings.url),
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
      keepAlive: true,
      types: { getTypeParser },
    })
    client.on('error', (error) => this.#drop(client, error))
    client.on('end', () => this.#drop(client, new Error('the connection was closed')))
    client.on('notification', () => this.#options.onNotice())
    try {
      await client.connect()
      await client.query(`${beginSession(timeoutMs)}; LISTEN ${channel}`)
    } catch (error) {
      client.end().catch(() => {})
      throw new DatabaseUnreachableError(describeAddress(settings.url), error)
    }
    if (this.#isClosed) return void client.end().catch(() => {})
    this.#client = client
    this.#attempts = 0
    this.#options.onUp()
  }

  #drop(client: pg.Client, error: unknown): void {
    if (this.#client !== client) return
    this.#client = undefined
    client.end().catch(() => {})
    this.#options.onDown(error)
    this.#retry()
  }

  #retry(): void {
    if (this.#isClosed) return
    const again = () => this.#connect().catch(() => this.#retry())
    this.#timer = setTimeout(again, retryDelayMs(this.#attempts))
    this.#timer.unref()
    this.#attempts += 1
  }
}

function isSilence(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout'
}
