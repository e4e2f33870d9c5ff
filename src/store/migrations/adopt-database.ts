/**
 * Adopts databases of the last build before the first release: their schema equals the baseline, so
 * only the list of migrations is rewritten (docs/decisions/0106).
 */
import type { Kysely, Transaction } from 'kysely'
import { hasTable, lockName } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import { STEP_NOTES } from './newer-steps.ts'

export const BASELINE = '0001_baseline'

/** An adopted database has exactly these migrations. */
export const ADOPTED_STEPS: readonly string[] = [
  ...['0001_first_tables', '0002_gate_routing', '0003_gate_defaults', '0004_owned_models'],
  ...['0005_provider_keys', '0006_limits_and_webhooks', '0007_usage', '0008_users'],
  ...['0009_audit_log', '0010_budget_beginnings', '0011_change_feed', '0012_unpriced_budgets'],
  ...['0014_deleted_keys', '0015_sign_in_tries', '0016_key_lifetimes', '0017_installation'],
  ...['0019_refusals', '0021_account_indexes', '0022_owned_model_probes'],
  ...['0023_owned_model_fim', '0024_owned_model_credential', '0026_due_days'],
  ...['0028_change_counter', '0029_usage_months', '0030_sent_gate_ids', '0031_refused_hours'],
  ...['0032_usage_batches', '0033_tags', '0034_calls_in_order', '0035_folded_hours'],
  ...['0036_delivery_accounts', '0037_node_settings', '0040_nano_usd', '0041_refusal_codes'],
  ...['0042_refusing_limits', '0043_deleted_key_names', '0044_usage_sums'],
]

/** Enough names to recognise a database. */
const MOST_NAMES = 5

export type FoundSteps =
  | { readonly state: 'new' | 'current' }
  | {
      readonly state: 'adoptable' | 'refused'
      readonly problem: string
      readonly remedy: string
    }

export function judgeEarlierSteps(applied: readonly string[]): FoundSteps {
  if (applied.length === 0) return { state: 'new' }
  if (applied.includes(BASELINE)) return { state: 'current' }
  const missing = ADOPTED_STEPS.filter((name) => !applied.includes(name))
  const unknown = applied.filter((name) => !ADOPTED_STEPS.includes(name)).sort()
  if (unknown.length > 0)
    return {
      state: 'refused',
      problem: `The database has migrations that this version does not know: ${listNames(unknown)}.`,
      remedy: 'Start the version that wrote it, restore a backup, or use another database.',
    }
  const problem = 'A build from before the first release wrote the database'
  if (missing.length > 0)
    return {
      state: 'refused',
      problem: `${problem}, and it lacks the migrations ${listNames(missing)}.`,
      remedy:
        `Make a backup, start the last build that has ${ADOPTED_STEPS.at(-1)} once, ` +
        'stop it, then run `gatehouse store adopt` of this version.',
    }
  return {
    state: 'adoptable',
    problem: `${problem}.`,
    remedy:
      'Make a backup, stop the server, run `gatehouse store adopt`, then start this version again.',
  }
}

function listNames(names: readonly string[]): string {
  const rest = names.length - MOST_NAMES
  const listed = names.slice(0, MOST_NAMES).join(', ')
  return rest > 0 ? `${listed} and ${rest} more` : listed
}

interface StepsSchema {
  readonly kysely_migration: { readonly name: string; readonly timestamp: string }
  readonly [STEP_NOTES]: { readonly name: string }
}

export async function findSteps(database: Kysely<Schema>): Promise<FoundSteps> {
  return judgeEarlierSteps(await listApplied(database))
}

export async function listApplied(database: Kysely<Schema>): Promise<string[]> {
  if (!(await hasTable(database, 'kysely_migration'))) return []
  const rows = await (database as unknown as Kysely<StepsSchema>)
    .selectFrom('kysely_migration')
    .select('name')
    .execute()
  return rows.map(({ name }) => name)
}

/**
 * Runs in one transaction, so a killed process leaves the database unchanged or adopted.
 * @returns the earlier state of the database, which changes only if it was `adoptable`
 */
export async function adoptDatabase(database: Kysely<Schema>): Promise<FoundSteps> {
  return await database.transaction().execute(async (transaction) => {
    await lockName(transaction, 'adopt')
    const found = await findSteps(transaction)
    if (found.state === 'adoptable')
      await rewriteSteps(transaction as unknown as Transaction<StepsSchema>)
    return found
  })
}

/** The baseline gets no note, so older builds refuse to start. */
async function rewriteSteps(transaction: Transaction<StepsSchema>): Promise<void> {
  await transaction.deleteFrom('kysely_migration').execute()
  await transaction.deleteFrom(STEP_NOTES).execute()
  const timestamp = new Date().toISOString()
  await transaction.insertInto('kysely_migration').values({ name: BASELINE, timestamp }).execute()
}
