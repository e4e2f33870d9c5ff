/**
 * The database file: whether it is whole and of a version that this build knows, and which gates
 * are in it. Writes nothing.
 */
import { Database } from 'bun:sqlite'
import type { Finding } from '../core/finding.ts'
import { migrations } from '../store/migrations/migrations.ts'
import { judgeNewerSteps, STEP_NOTES, type StepNote } from '../store/migrations/newer-steps.ts'
import type { ExaminedGate } from './check-accounts.ts'
import { statIfThere } from './check-machine.ts'
import { codeOf, findingsOf, messageOf } from './finding.ts'

const { fail, ok, warn } = findingsOf('database')
/** A larger one takes longer than anybody waits for. */
const MOST_BYTES = 4 * 1024 * 1024 * 1024
const BUSY_TIMEOUT_MS = 1_000

export interface ExaminedDatabase {
  readonly findings: readonly Finding[]
  /** Undefined: they could not be read. */
  readonly gates: readonly ExaminedGate[] | undefined
  /** `account/provider` of every key of an account's own that is active. */
  readonly ownKeys: ReadonlySet<string>
}

/** @param path of a file that need not be there; one that a server uses is no hindrance */
export function checkDatabase(path: string): ExaminedDatabase {
  const size = statIfThere(path)?.size
  if (size === undefined) return { findings: [], gates: undefined, ownKeys: new Set() }
  let database: Database | undefined
  try {
    // Not read-only: then SQLite could not clear away what a crash has left, and would leave files
    // of its own behind.
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
    hasTable(database, table)
      ? database.query<Row, []>(`SELECT ${columns} FROM ${table}`).all()
      : []
  const gates = rowsOf<GateRow>('gates', 'account_id, id, targets')
  const keys = rowsOf<KeyRow>('provider_keys', 'account_id, provider, active')
  return toExamined(findings, gates, keys)
}

interface GateRow {
  readonly account_id: string
  readonly id: string
  /** JSON. */
  readonly targets: string
}

interface KeyRow {
  readonly account_id: string
  readonly provider: string
  readonly active: number
}

/** The facts of either kind of database, as the other checks want them. */
export function toExamined(
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

function hasTable(database: Database, name: string): boolean {
  const found = database
    .query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?")
    .get(name)
  return found !== null
}

function checkVersion(database: Database): Finding[] {
  const applied = hasTable(database, 'kysely_migration')
    ? database.query<{ name: string }, []>('SELECT name FROM kysely_migration').all()
    : []
  const notes = hasTable(database, STEP_NOTES)
    ? database.query<StepNote, []>(`SELECT name, needs FROM ${STEP_NOTES}`).all()
    : []
  return checkSteps(
    applied.map(({ name }) => name),
    notes,
  )
}

/** A database that a later version has changed. */
export function checkSteps(applied: readonly string[], notes: readonly StepNote[]): Finding[] {
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
