/** Turns a new database into one of a build from before the first release: its schema is equal. */
import type { TestDatabase } from '../../../test/support/databases.ts'
import { ADOPTED_STEPS } from './adopt-database.ts'

export async function makeEarlier(
  { run }: Pick<TestDatabase, 'run'>,
  steps: readonly string[] = ADOPTED_STEPS,
): Promise<void> {
  const values = (suffix: string) => steps.map((name) => `('${name}', ${suffix})`).join(', ')
  await run('DELETE FROM kysely_migration')
  await run(`INSERT INTO kysely_migration (name, timestamp) VALUES ${values("'2026-11-28'")}`)
  await run(`INSERT INTO schema_step_notes (name, needs) VALUES ${values('NULL')}`)
}
