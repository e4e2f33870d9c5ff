/**
 * The Postgres database: whether it can be used and is of a version that this build knows, and
 * which gates are in it. Writes nothing.
 */
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
import { hasTable } from '../store/database/sql-differences.ts'
import { listApplied } from '../store/migrations/migrations.ts'
import { listStepNotes } from '../store/migrations/newer-steps.ts'
import type { Schema } from '../store/schema.ts'
import { checkSteps, type ExaminedDatabase, toExamined } from './check-database.ts'
import { findingsOf, messageOf } from './finding.ts'

const { fail, ok, warn } = findingsOf('database')
const OLDEST_VERSION = 15

/** @param shared what this machine's settings say; undefined: they are wrong */
export async function checkPostgres(
  location: PostgresLocation,
  shared: SharedSettings | undefined,
): Promise<ExaminedDatabase> {
  const database = await openDatabase(location)
  try {
    await assertOwnSessions(location.postgres)
    const { findings, ...rest } = await examine(database, describeStore(location))
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

async function examine(database: Kysely<Schema>, name: string): Promise<ExaminedDatabase> {
  const findings = [...(await checkServer(database, name)), ...(await checkVersion(database))]
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

async function checkVersion(database: Kysely<Schema>): Promise<Finding[]> {
  return checkSteps(await listApplied(database), await listStepNotes(database))
}

const ofNodes = findingsOf('nodes')

/** Before it no node says anything of its settings. */
const STEP = '0037_node_settings'

/**
 * The nodes on a Postgres: whether those that are there have the settings that this machine has,
 * where all have to have the same. Writes nothing.
 */
async function checkNodes(database: Kysely<Schema>, shared: SharedSettings): Promise<Finding[]> {
  if (!(await listApplied(database)).includes(STEP)) return []
  const { rows } = await sql<SettingsRow>`
    SELECT id, incarnation, host, settings FROM nodes
    WHERE last_seen > (extract(epoch FROM clock_timestamp()) * 1000)::bigint - ${SEEN_MS}::bigint
    ORDER BY id`.execute(database)
  const nodes = settingsOfRows(rows)
  const hosts = new Map<string, Set<string>>()
  for (const { host, settings } of nodes)
    for (const { setting, here, there } of compareSharedSettings(shared, settings)) {
      const message = `${setting} is ${there} at another node and ${here} here`
      hosts.set(message, (hosts.get(message) ?? new Set()).add(host))
    }
  if (hosts.size > 0)
    return [...hosts].map(([message, where]) =>
      ofNodes.warn(
        `${message} (${[...where].join(', ')})`,
        'Give all nodes on this database the same value, and restart those that had another',
      ),
    )
  return nodes.length === 0
    ? []
    : [ofNodes.ok(`${nodes.length} on this database, with the settings that all have to share`)]
}
