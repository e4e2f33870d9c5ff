import { expect, test } from 'bun:test'
import { sql } from 'kysely'
import { databases } from '../../../test/support/databases.ts'
import { DEFAULT_ACCOUNT } from '../../core/ids.ts'
import { openDatabase } from '../database/open-database.ts'
import { openStore } from '../open-store.ts'
import { readSums } from '../usage/read-sums.fixture.ts'
import { migrateToLatest, migrations } from './migrations.ts'

const STARTED = Date.parse('2026-01-01T10:00:00Z')

test.each(databases)(
  'calls of an earlier version are summed up, and their costs are unknown, on $name',
  async (kind) => {
    const created = await kind.create({ empty: true })
    try {
      const database = await openDatabase(created.location)
      const earlier = Object.entries(migrations).filter(([name]) => name < '0007')
      await migrateToLatest(database, Object.fromEntries(earlier))
      for (let index = 0; index < 12; index += 1) {
        await sql`INSERT INTO calls (id, account_id, key_id, gate_id, dialect, stream, target, attempts, outcome, status,
          started_at, duration_ms, input_tokens, output_tokens, cached_input_tokens, reasoning_tokens)
        VALUES (${`req_${index}`}, ${DEFAULT_ACCOUNT}, 'key_1', 'demo', 'openai-chat', 0, 'p/m', 1, 'succeeded', 200,
          ${STARTED + index * 600_000}, 9, 10, 2, 0, 0)`.execute(database)
      }
      await database.destroy()

      const store = await openStore(created.location)
      try {
        const range = { fromMs: STARTED, toMs: STARTED + 7_200_000, groupBy: 'gate' } as const
        expect(
          await readSums(store.usage, DEFAULT_ACCOUNT, { ...range, interval: 'hour' }),
        ).toMatchObject([
          { startsAt: STARTED, calls: 6, inputTokens: 60, costUnknown: 6, duration: { p50: 9 } },
          { startsAt: STARTED + 3_600_000, calls: 6 },
        ])
        const call = await store.calls.find(DEFAULT_ACCOUNT, 'req_3')
        expect(call).toMatchObject({ usage: { inputTokens: 10 } })
        expect(call).not.toHaveProperty('cost')
      } finally {
        await store.close()
      }
    } finally {
      await created.remove()
    }
  },
)
