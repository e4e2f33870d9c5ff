/** Turns a new database into one of a build from before the first release: its schema is equal. */
import type { TestDatabase } from '../../../test/support/databases.ts'
import { ADOPTED_STEPS } from './adopt-database.ts'

const LATER_COLUMNS = [
  ['api_keys', 'token'],
  ['api_keys', 'announced_end'],
  ['gates', 'aliases'],
  ['gates', 'is_catch_all'],
  ['gates', 'facts'],
  ['gates', 'codex_instructions'],
  ['gates', 'usage_headers'],
  ['gates', 'adapt'],
  ['gates', 'ignore_store'],
  ['budgets', 'message'],
  ['budgets', 'raise'],
  ['budgets', 'scope'],
  ['budgets', 'scope_id'],
  ['budgets', 'scope_name'],
  ['budgets', 'at_limit'],
  ['budgets', 'refuse_at'],
  ['gates', 'budget_headers'],
  ['gates', 'fuse'],
  ['budgets', 'fuse'],
  ['calls', 'steered_by'],
  ['calls', 'user_id'],
  ['calls', 'session_id'],
  ['calls', 'agent_id'],
  ['calls', 'parent_agent_id'],
  ['calls', 'tag_ids'],
  ['calls', 'usage_estimated'],
  ['budgets', 'time_zone'],
  ['api_keys', 'fixed_user'],
  ['api_keys', 'fixed_tags'],
  ['tags', 'members'],
] as const
const LATER_TABLES = [
  'stops',
  'ended_calls',
  'price_entries',
  'model_prices',
  'user_days',
  'tag_days',
  'call_sessions',
  'attribution',
  'caller_names',
  'erased_users',
] as const

export async function makeEarlier(
  { run, location }: Pick<TestDatabase, 'run' | 'location'>,
  steps: readonly string[] = ADOPTED_STEPS,
): Promise<void> {
  const values = (suffix: string) => steps.map((name) => `('${name}', ${suffix})`).join(', ')
  const cascade = 'path' in location ? '' : ' CASCADE'
  // What steps after the baseline have added.
  await run('DROP INDEX calls_by_user')
  await run('DROP INDEX calls_by_tags')
  for (const column of LATER_COLUMNS)
    await run(`ALTER TABLE ${column[0]} DROP COLUMN ${column[1]}${cascade}`)
  await run('DROP INDEX api_keys_by_end')
  for (const table of LATER_TABLES) await run(`DROP TABLE ${table}`)
  await run('DELETE FROM kysely_migration')
  await run(`INSERT INTO kysely_migration (name, timestamp) VALUES ${values("'2026-11-28'")}`)
  await run(`INSERT INTO schema_step_notes (name, needs) VALUES ${values('NULL')}`)
}
