/** A page of analytics over `size` days, in an account with 60 sums a day. */
import { createCallId, DEFAULT_ACCOUNT, type GateId, type KeyId } from '../../src/core/ids.ts'
import type { Store } from '../../src/store/open-store.ts'
import { measureHold } from './longest-hold.ts'
import { createProgress } from './progress.ts'
import { BOTH, ofTurns, type Scenario, TURN_BAR } from './scenario.ts'
import { createCalls, DAY_MS } from './seed-calls.ts'
import { withStore } from './with-store.ts'

const SUMS_A_DAY = 60
const CALLS_OF_A_SUM = 20
export const BEGIN_MS = Date.UTC(2025, 0, 1)

/** Complete days from `BEGIN_MS` on. */
export async function seedDays(store: Store, days: number): Promise<void> {
  const report = createProgress('days', days)
  for (let day = 0; day < days; day += 1) {
    await store.calls.insertMany(
      createCalls(SUMS_A_DAY * CALLS_OF_A_SUM, (number) => ({
        id: createCallId(),
        keyId: `key_${number % SUMS_A_DAY}` as KeyId,
        gateId: `gate_${number % 5}` as GateId,
        target: 'openai/gpt-5',
        startedAt: BEGIN_MS + day * DAY_MS + (number % SUMS_A_DAY) * 1_000,
        firstByteMs: 100 + ((number * 7_919) % 5_000),
        durationMs: 200 + ((number * 104_729) % 60_000),
      })),
    )
    report(day)
  }
}

export const scenario: Scenario = {
  title: 'analytics by days and keys, days',
  sizes: [40, 400],
  quickSizes: [10, 100],
  stores: BOTH,
  bars: { 'took a day, ms': { type: 'ratio', most: 1.5 }, ...TURN_BAR },
  async run(size, name) {
    return await withStore(name, async (store) => {
      await seedDays(store, size)
      const query = {
        fromMs: BEGIN_MS,
        toMs: BEGIN_MS + size * DAY_MS,
        interval: 'day',
        groupBy: 'key',
      } as const
      const held = await measureHold(() => store.usage.readRange(DEFAULT_ACCOUNT, query))
      return { 'took, ms': held.ms, 'took a day, ms': held.ms / size, ...ofTurns(held) }
    })
  },
}
