/**
 * Makes Kysely's Postgres dialect behave like SQLite: the same value types, and the same text
 * comparison.
 */
import { pipeline } from 'node:stream/promises'
import {
  type DatabaseConnection,
  type DataTypeNode,
  type Driver,
  type PostgresCursor,
  PostgresDialect,
  type PostgresDialectConfig,
  PostgresDriver,
  type PostgresPool,
  type PostgresPoolClient,
  PostgresQueryCompiler,
  type PostgresQueryResult,
  type QueryCompiler,
} from 'kysely'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { ConnectionGate } from './connection-gate.ts'
import { DatabaseUnreachableError } from './database-unreachable-error.ts'
import {
  describeAddress,
  type PostgresSettings,
  toTlsOptions,
  withoutTls,
} from './postgres-address.ts'

const IDLE_IN_TRANSACTION_MS = 60_000
const IDLE_CONNECTION_MS = 30_000
/** The server itself ends slow statements, so this limit only applies to a silent server. */
const SILENCE_MS = 5_000

export class GatehousePostgresDialect extends PostgresDialect {
  readonly #config: PostgresDialectConfig

  constructor(settings: PostgresSettings) {
    const config = { pool: async () => openPool(settings) }
    super(config)
    this.#config = config
  }

  override createDriver(): Driver {
    return new CauseKeepingDriver(this.#config)
  }

  override createQueryCompiler(): QueryCompiler {
    return new BytewiseQueryCompiler()
  }
}

class CauseKeepingDriver extends PostgresDriver {
  /**
   * A failed rollback must not hide the first error. Nothing stays uncommitted: `Connection` closes
   * the connection, and Postgres then rolls back.
   */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await super.rollbackTransaction(connection).catch(() => {})
  }
}

/**
 * Orders text by its bytes, as SQLite does, whatever the database's locale. List pages then do not
 * depend on the locale, and a system with another word order damages no index.
 */
class BytewiseQueryCompiler extends PostgresQueryCompiler {
  protected override visitDataType(node: DataTypeNode): void {
    super.visitDataType(node)
    if (node.dataType === 'text' && this.parentNode?.kind === 'ColumnDefinitionNode')
      this.append(' collate "C"')
  }
}

function openPool(settings: PostgresSettings): PostgresPool {
  try {
    return new ConnectionPool(settings)
  } catch (error) {
    throw new DatabaseUnreachableError(describeAddress(settings.url), error)
  }
}

const MAX_WAITING = 500
const NONE_FREE = 'timeout exceeded when trying to connect'

/**
 * At a stricter isolation level, possibly the operator's default, Postgres refuses all but one of
 * several concurrent changes. All statements are written for this level, in which changes wait.
 */
const READ_COMMITTED = 'SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED'

/**
 * Poolers such as PgBouncer refuse startup parameters, so each connection begins with statements.
 * @param statementTimeoutMs 0 keeps the server's own limit
 */
export function beginSession(statementTimeoutMs: number): string {
  const bounds =
    statementTimeoutMs > 0
      ? [
          `SET statement_timeout = ${statementTimeoutMs}`,
          `SET idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS}`,
        ]
      : []
  return [READ_COMMITTED, ...bounds].join('; ')
}

class ConnectionPool implements PostgresPool {
  readonly #pool: pg.Pool
  readonly #gate = new ConnectionGate({
    maxWaiting: MAX_WAITING,
    isAway: (error) => !(error instanceof Error && error.message === NONE_FREE),
  })
  readonly #where: string
  readonly #begin: string
  readonly #clients = new WeakMap<pg.PoolClient, Connection>()

  constructor({ url, poolSize, connectTimeoutMs, statementTimeoutMs }: PostgresSettings) {
    this.#where = describeAddress(url)
    this.#begin = beginSession(statementTimeoutMs)
    this.#pool = new pg.Pool({
      application_name: 'gatehouse',
      connectionString: withoutTls(url),
      ssl: toTlsOptions(url),
      max: poolSize,
      connectionTimeoutMillis: connectTimeoutMs,
      idleTimeoutMillis: IDLE_CONNECTION_MS,
      keepAlive: true,
      ...(statementTimeoutMs > 0 && { query_timeout: statementTimeoutMs + SILENCE_MS }),
      types: { getTypeParser },
    })
    // The pool replaces an idle connection that breaks when a query needs one.
    this.#pool.on('error', () => {})
    // The pool only listens on idle connections, and an unhandled error event ends the process. A
    // connection in use reports the error with its next query.
    this.#pool.on('connect', (client) => client.on('error', () => {}))
  }

  async connect(): Promise<PostgresPoolClient> {
    const hasIdle = this.#pool.idleCount > 0
    const client = await this.#gate
      .pass(() => this.#openOrTake(), hasIdle)
      .catch((error: unknown) => {
        throw new DatabaseUnreachableError(this.#where, error)
      })
    const connection = this.#clients.get(client) ?? new Connection(client, this.#where)
    this.#clients.set(client, connection)
    return connection
  }

  async #openOrTake(): Promise<pg.PoolClient> {
    const client = await this.#pool.connect()
    if (this.#clients.has(client)) return client
    try {
      await client.query(this.#begin)
    } catch (error) {
      client.release(true)
      throw error
    }
    return client
  }

  async end(): Promise<void> {
    await this.#pool.end()
  }
}

class Connection implements PostgresPoolClient {
  readonly #client: pg.PoolClient
  readonly #where: string
  #isLost = false

  constructor(client: pg.PoolClient, where: string) {
    this.#client = client
    this.#where = where
  }

  query<Row>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>>
  query<Row>(cursor: PostgresCursor<Row>): PostgresCursor<Row>
  query(text: unknown, parameters: readonly unknown[] = []): never {
    if (typeof text !== 'string') throw new Error('Rows are not read by cursors here.')
    return this.#run(text, parameters) as never
  }

  async #run(text: string, parameters: readonly unknown[]): Promise<pg.QueryResult> {
    if (this.#isLost) throw new Error('The connection to Postgres was given up.')
    const [rows] = parameters
    try {
      if (isRowTexts(rows)) return await this.#copy(text, rows)
      return await this.#client.query(text, [...parameters])
    } catch (error) {
      const isEnded = isLast(error)
      this.#isLost = isEnded || text === ROLLBACK
      throw isEnded ? new DatabaseUnreachableError(this.#where, error) : error
    }
  }

  async #copy(text: string, rows: AsyncIterable<string>): Promise<pg.QueryResult> {
    const copy = this.#client.query(copyFrom(text))
    await pipeline(rows, copy)
    return { command: 'COPY', rowCount: copy.rowCount, rows: [], oid: 0, fields: [] }
  }

  release(): void {
    // The connection is closed if a pending answer could reach the next user, or if the server is
    // closing the connection.
    this.#client.release(this.#isLost)
  }
}

function isRowTexts(parameter: unknown): parameter is AsyncIterable<string> {
  return typeof parameter === 'object' && parameter !== null && Symbol.asyncIterator in parameter
}

const ROLLBACK = 'rollback'

/** Whether an error ends the connection: broken, silent, or closed by the server or a pooler. */
function isLast(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const isEnded =
    'code' in error &&
    /^(?:08\w{3}|57P0[1-5]|25P03|ECONNRESET|EPIPE|ETIMEDOUT)$/.test(String(error.code))
  return isEnded || BROKEN.test(error.message)
}

const BROKEN =
  /^(?:Query read timeout|Connection terminated|Client has encountered a connection error)/

/**
 * Types that are numbers and text in SQLite, by Postgres' type ids:
 * https://github.com/brianc/node-pg-types.
 */
const PARSERS: ReadonlyMap<number, (text: string) => unknown> = new Map<
  number,
  (text: string) => unknown
>([
  // Times, money and their sums stay far below 2^53, so numbers are exact.
  [pg.types.builtins.INT8, Number],
  [pg.types.builtins.NUMERIC, Number],
  [pg.types.builtins.BOOL, (text) => (text === 't' ? 1 : 0)],
  [pg.types.builtins.TIMESTAMPTZ, (text) => new Date(text).toISOString()],
])

export function getTypeParser(id: number, format?: 'text' | 'binary') {
  return (format !== 'binary' && PARSERS.get(id)) || pg.types.getTypeParser(id, format)
}
