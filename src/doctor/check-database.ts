/**
 * Checks the database, a file or Postgres: whether the server can use it, whether this build knows
 * its version, and which gates it has. Writes nothing.
 */
import { Database } from 'bun:sqlite'
import { type Kysely, sql } from 'kysely'
import { compareSharedSettings, type SharedSettings } from '../config/shared-settings.ts'
import type { Finding } from '../core/finding.ts'
import { SEEN_MS, type SettingsRow, settingsOfRows } from '../store/changes/change-feed.ts'
import {
  describeStore,
  openDatabase,
  type PostgresLocation,
} from '../store/database/open-database.ts'
import { assertOwnSessions, SharedSessionsError } from '../store/database/session-pooling.ts'
import { hasTable, POSTGRES_CLOCK_MS } from '../store/database/sql-differences.ts'
import { judgeEarlierSteps, listApplied } from '../store/migrations/adopt-database.ts'
import { migrations } from '../store/migrations/migrations.ts'
import {
  judgeNewerSteps,
  listStepNotes,
  STEP_NOTES,
  type StepNote,
} from '../store/migrations/newer-steps.ts'
import type { Schema } from '../store/schema.ts'
import type { ExaminedGate } from './check-accounts.ts'
import { checkDigests } from './check-configuration.ts'
import { statIfThere } from './check-machine.ts'
import { codeOf, findingsOf, messageOf } from './finding.ts'

const { fail, ok, warn } = findingsOf('database')
/** Checking a larger database takes too long. */
const MOST_BYTES = 4 * 1024 * 1024 * 1024
const BUSY_TIMEOUT_MS = 1_000

export interface ExaminedDatabase {
  readonly findings: readonly Finding[]
  readonly gates: readonly ExaminedGate[] | undefined
  readonly ownKeys: ReadonlySet<string>
}

export function checkDatabase(path: string): ExaminedDatabase {
  const size = statIfThere(path)?.size
  if (size === undefined) return { findings: [], gates: undefined, ownKeys: new Set() }
  let database: Database | undefined
  try {
    // Not read-only: SQLite could then not recover after a crash, and would leave files behind.
    database = new Database(path, { readwrite: true, create: false })
    database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    database.run('PRAGMA query_only = ON')
    return examine(database, path, size)
  } catch (error) {
    const isDamaged = /^SQLITE_(?:CORRUPT|NOTADB)/.test(codeOf(error))
    const finding: Finding = fail(
      `${path} ${isDamaged ? 'is damaged or no database' : 'cannot be read'} ` +
        `(${messageOf(error)})`,
      isDamaged
        ? 'Stop the server and restore a backup; keep the damaged file'
        : 'Make it readable and writable for the user that serves',
    )
    return { findings: [finding], gates: undefined, ownKeys: new Set() }
  } finally {
    database?.close()
  }
}

function examine(database: Database, path: string, size: number): ExaminedDatabase {
  const kind: Finding = ok(`SQLite, ${path}`)
  const findings = [kind, ...checkVersion(database), checkIntegrity(database, size)]
  const rowsOf = <Row>(table: string, columns: string): Row[] =>
    hasSqliteTable(database, table)
      ? database.query<Row, []>(`SELECT ${columns} FROM ${table}`).all()
      : []
  const gates = rowsOf<GateRow>('gates', 'account_id, id, targets')
  const keys = rowsOf<KeyRow>('provider_keys', 'account_id, provider, active')
  return toExamined(findings, gates, keys)
}

interface GateRow {
  readonly account_id: string
  readonly id: string
  readonly targets: string
}

interface KeyRow {
  readonly account_id: string
  readonly provider: string
  readonly active: number
}

function toExamined(
  findings: readonly Finding[],
  gates: readonly GateRow[],
  keys: readonly KeyRow[],
): ExaminedDatabase {
  return {
    findings,
    gates: gates.map(({ account_id, id, targets }) => ({
      accountId: account_id,
      id,
      targets: (JSON.parse(targets) as { model: string }[]).map(({ model }) => model),
    })),
    ownKeys: new Set(
      keys
        .filter(({ active }) => active === 1)
        .map(({ account_id, provider }) => `${account_id}/${provider}`),
    ),
  }
}

function hasSqliteTable(database: Database, name: string): boolean {
  const found = database
    .query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?")
    .get(name)
  return found !== null
}

function checkVersion(database: Database): Finding[] {
  const applied = hasSqliteTable(database, 'kysely_migration')
    ? database.query<{ name: string }, []>('SELECT name FROM kysely_migration').all()
    : []
  const notes = hasSqliteTable(database, STEP_NOTES)
    ? database.query<StepNote, []>(`SELECT name, needs FROM ${STEP_NOTES}`).all()
    : []
  return checkSteps(
    applied.map(({ name }) => name),
    notes,
  )
}

function checkSteps(applied: readonly string[], notes: readonly StepNote[]): Finding[] {
  const found = judgeEarlierSteps(applied)
  if ('remedy' in found) return [fail(found.problem, found.remedy)]
  const { tolerated, refused } = judgeNewerSteps(applied, notes, migrations)
  if (refused.length > 0)
    return [
      fail(
        `a newer version of Gatehouse has written it (${refused.join(', ')})`,
        'Start that version, or restore a backup made before the upgrade',
      ),
    ]
  if (tolerated.length === 0) return []
  return [
    warn(
      `a newer version of Gatehouse has changed it (${tolerated.join(', ')}), ` +
        'and this one can serve it',
      'Finish the upgrade: this version knows nothing of what the newer one added',
    ),
  ]
}

function checkIntegrity(database: Database, size: number): Finding {
  if (size > MOST_BYTES) return ok('it is too large to be checked here; it can be opened')
  const [first] = database.query<{ quick_check: string }, []>('PRAGMA quick_check(1)').all()
  if (first?.quick_check === 'ok') return ok('it is whole')
  return fail(
    `it is damaged: ${first?.quick_check.replaceAll(/\s+/g, ' ')}`,
    'Stop the server and restore a backup; keep the damaged file',
  )
}

const OLDEST_VERSION = 15

export async function checkPostgres(
  location: PostgresLocation,
  shared: SharedSettings | undefined,
): Promise<ExaminedDatabase> {
  const database = await openDatabase(location)
  try {
    await assertOwnSessions(location.postgres)
    const { findings, ...rest } = await examinePostgres(database, describeStore(location))
    const nodes = shared === undefined ? [] : await checkNodes(database, shared)
    return { ...rest, findings: [...findings, ...nodes] }
  } catch (error) {
    const finding: Finding = fail(
      messageOf(error),
      error instanceof SharedSessionsError
        ? 'Set pool_mode = session in PgBouncer, or let DATABASE_URL name Postgres itself'
        : 'Start Postgres, or correct DATABASE_URL: address, user, password, sslmode',
    )
    return { findings: [finding], gates: undefined, ownKeys: new Set() }
  } finally {
    await database.destroy()
  }
}

async function examinePostgres(database: Kysely<Schema>, name: string): Promise<ExaminedDatabase> {
  const steps = checkSteps(await listApplied(database), await listStepNotes(database))
  const findings = [...(await checkServer(database, name)), ...steps]
  const gates = (await hasTable(database, 'gates'))
    ? await database.selectFrom('gates').select(['account_id', 'id', 'targets']).execute()
    : []
  const keys = (await hasTable(database, 'provider_keys'))
    ? await database
        .selectFrom('provider_keys')
        .select(['account_id', 'provider', 'active'])
        .execute()
    : []
  return toExamined(findings, gates, keys)
}

async function checkServer(database: Kysely<Schema>, name: string): Promise<Finding[]> {
  const { rows } = await sql<{ version: string; encoding: string; encrypted: number | null }>`
    SELECT current_setting('server_version') AS version, current_setting('server_encoding') AS encoding,
      (SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()) AS encrypted
  `.execute(database)
  const { version = '', encoding = '', encrypted = null } = rows[0] ?? {}
  const findings: Finding[] = []
  if (Number.parseInt(version, 10) < OLDEST_VERSION)
    findings.push(
      warn(
        `Postgres ${version} is older than what is tested`,
        `Use Postgres ${OLDEST_VERSION} or newer`,
      ),
    )
  if (encoding !== 'UTF8')
    findings.push(
      fail(
        `the database is encoded as ${encoding}, which has not every character`,
        "Make another: CREATE DATABASE gatehouse ENCODING 'UTF8' TEMPLATE template0",
      ),
    )
  const connection = encrypted === 1 ? 'encrypted' : 'not encrypted'
  findings.push(ok(`${name} (version ${version}, ${connection})`))
  return findings
}

const ofNodes = findingsOf('nodes')

async function checkNodes(database: Kysely<Schema>, shared: SharedSettings): Promise<Finding[]> {
  if (!(await hasTable(database, 'nodes'))) return []
  const { rows } = await sql<SettingsRow>`
    SELECT id, incarnation, host, settings FROM nodes
    WHERE last_seen > ${sql.raw(POSTGRES_CLOCK_MS)} - ${SEEN_MS}::bigint
    ORDER BY id`.execute(database)
  const nodes = settingsOfRows(rows)
  const hosts = new Map<string, Set<string>>()
  for (const { host, settings } of nodes)
    for (const { setting, here, there } of compareSharedSettings(shared, settings)) {
      const message = `${setting} is ${there} at another node and ${here} here`
      hosts.set(message, (hosts.get(message) ?? new Set()).add(host))
    }
  const differences = [...hosts].map(([message, where]) =>
    ofNodes.warn(
      `${message} (${[...where].join(', ')})`,
      'Give all nodes on this database the same value, and restart those that had another',
    ),
  )
  const found = [...differences, ...checkDigests(nodes)]
  if (found.length > 0) return found
  return nodes.length === 0
    ? []
    : [ofNodes.ok(`${nodes.length} on this database, with the settings that all have to share`)]
}
