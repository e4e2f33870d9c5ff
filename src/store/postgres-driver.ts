/** Lets Kysely's Postgres dialect behave as SQLite does: the same values come back, text is compared alike. Knows no table. */
import {
  type DataTypeNode,
  type PostgresCursor,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  PostgresQueryCompiler,
  type PostgresQueryResult,
  type QueryCompiler,
} from 'kysely'
import pg from 'pg'
import { describeAddress, type PostgresSettings, toTlsOptions, withoutTls } from './postgres-address.ts'

/** The database did not take the connection. Its message holds no password; `code` is the system's or Postgres' own. */
export class DatabaseUnreachableError extends Error {
  override readonly name = 'DatabaseUnreachableError'
  readonly code: string

  constructor(where: string, cause: unknown) {
    const code = codeOf(cause)
    super(`The Postgres database at ${where} cannot be used: ${explain(code, cause)}. Check DATABASE_URL.`, {
      cause,
    })
    this.code = code
  }
}

/** A node that is stopped inside a transaction must not keep the others from their turn for longer. */
const IDLE_IN_TRANSACTION_MS = 60_000
const IDLE_CONNECTION_MS = 30_000
/** The server ends a statement that takes too long itself; only a server that is not heard of any more is given up. */
const SILENCE_MS = 5_000

/** Kysely's dialect over one database. */
export class GatehousePostgresDialect extends PostgresDialect {
  constructor(settings: PostgresSettings) {
    super({ pool: async () => openPool(settings) })
  }

  override createQueryCompiler(): QueryCompiler {
    return new BytewiseQueryCompiler()
  }
}

/**
 * Text is in the order of its bytes, as in SQLite, whatever the locale of the database: no page of a list depends on it,
 * and no index is damaged when a new system orders words in another way.
 */
class BytewiseQueryCompiler extends PostgresQueryCompiler {
  protected override visitDataType(node: DataTypeNode): void {
    super.visitDataType(node)
    if (node.dataType === 'text' && this.parentNode?.kind === 'ColumnDefinitionNode')
      this.append(' collate "C"')
  }
}

/** @throws DatabaseUnreachableError when a file that the address names cannot be read */
function openPool(settings: PostgresSettings): PostgresPool {
  try {
    return new ConnectionPool(settings)
  } catch (error) {
    throw new DatabaseUnreachableError(describeAddress(settings.url), error)
  }
}

class ConnectionPool implements PostgresPool {
  readonly #pool: pg.Pool
  readonly #where: string
  readonly #clients = new WeakMap<pg.PoolClient, Connection>()

  constructor({ url, poolSize, connectTimeoutMs, statementTimeoutMs }: PostgresSettings) {
    this.#where = describeAddress(url)
    const isBounded = statementTimeoutMs > 0
    this.#pool = new pg.Pool({
      application_name: 'gatehouse',
      connectionString: withoutTls(url),
      ssl: toTlsOptions(url),
      max: poolSize,
      connectionTimeoutMillis: connectTimeoutMs,
      idleTimeoutMillis: IDLE_CONNECTION_MS,
      keepAlive: true,
      ...(isBounded && {
        statement_timeout: statementTimeoutMs,
        query_timeout: statementTimeoutMs + SILENCE_MS,
        idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      }),
      types: { getTypeParser },
    })
    // A connection that breaks while nobody uses it is replaced by the next one that is needed.
    this.#pool.on('error', () => {})
  }

  async connect(): Promise<PostgresPoolClient> {
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw new DatabaseUnreachableError(this.#where, error)
    })
    const connection = this.#clients.get(client) ?? new Connection(client)
    this.#clients.set(client, connection)
    return connection
  }

  async end(): Promise<void> {
    await this.#pool.end()
  }
}

class Connection implements PostgresPoolClient {
  readonly #client: pg.PoolClient
  #isSilent = false

  constructor(client: pg.PoolClient) {
    this.#client = client
  }

  query<Row>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>>
  query<Row>(cursor: PostgresCursor<Row>): PostgresCursor<Row>
  query(text: unknown, parameters: readonly unknown[] = []): never {
    if (typeof text !== 'string') throw new Error('Rows are not read by cursors here.')
    return this.#run(text, parameters) as never
  }

  async #run(text: string, parameters: readonly unknown[]): Promise<pg.QueryResult> {
    if (this.#isSilent) throw new Error('The connection to Postgres was given up.')
    try {
      return await this.#client.query(text, [...parameters])
    } catch (error) {
      this.#isSilent = error instanceof Error && error.message === 'Query read timeout'
      throw error
    }
  }

  release(): void {
    // What was asked may still be answered, to whoever asks next.
    this.#client.release(this.#isSilent)
  }
}

/** What SQLite has numbers and text for: https://github.com/brianc/node-pg-types, by the ids of Postgres' types. */
const PARSERS: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  // Times and money stay far below 2^53, and so do their sums.
  [pg.types.builtins.INT8, Number],
  [pg.types.builtins.NUMERIC, Number],
  [pg.types.builtins.BOOL, (text) => (text === 't' ? 1 : 0)],
  [pg.types.builtins.TIMESTAMPTZ, (text) => new Date(text).toISOString()],
])

function getTypeParser(id: number, format?: 'text' | 'binary') {
  return (format !== 'binary' && PARSERS.get(id)) || pg.types.getTypeParser(id, format)
}

function codeOf(cause: unknown): string {
  if (typeof cause !== 'object' || cause === null) return 'unknown'
  if ('code' in cause && typeof cause.code === 'string') return cause.code
  if (cause instanceof AggregateError && cause.errors.length > 0) return codeOf(cause.errors[0])
  return cause instanceof Error && /timeout/i.test(cause.message) ? 'ETIMEDOUT' : 'unknown'
}

const EXPLANATIONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'its host is not known',
  EAI_AGAIN: 'its host is not known for now',
  ETIMEDOUT: 'no connection was made in time',
  '28P01': 'it refuses the user or the password',
  '28000': 'it lets this user not in from here',
  '3D000': 'there is no such database',
  '53300': 'it has too many connections',
  '57P03': 'it is starting or ending',
}

function explain(code: string, cause: unknown): string {
  const explanation = EXPLANATIONS[code]
  if (explanation !== undefined) return `${explanation} (${code})`
  const message = cause instanceof Error ? cause.message : String(cause)
  return code === 'unknown' ? message : `${message} (${code})`
}
