/** A page of analytics over `size` days of an account with 60 sums a day, on SQLite. */
import { createCallId, DEFAULT_ACCOUNT, type GateId, type KeyId } from '../../src/core/ids.ts'
import { DAY_MS } from '../../src/store/usage-hours.ts'
import { measureHold } from './longest-hold.ts'
import { withStore } from './with-store.ts'

const SUMS_A_DAY = 60
const CALLS_OF_A_SUM = 20
const BEGIN_MS = Date.UTC(2025, 0, 1)

export const scenario = {
  name: 'analytics by days',
  async run(size: number) {
    return await withStore('SQLite', async (store) => {
      for (let day = 0; day < size; day += 1)
        await store.calls.insertMany(
          Array.from({ length: SUMS_A_DAY * CALLS_OF_A_SUM }, (_, number) => ({
            id: createCallId(),
            accountId: DEFAULT_ACCOUNT,
            keyId: `key_${number % SUMS_A_DAY}` as KeyId,
            gateId: `gate_${number % 5}` as GateId,
            dialect: 'openai-chat',
            stream: false,
            target: 'openai/gpt-5',
            attempts: 1,
            outcome: 'succeeded',
            status: 200,
            errorKind: null,
            startedAt: BEGIN_MS + day * DAY_MS + (number % SUMS_A_DAY) * 1_000,
            firstByteMs: 100 + ((number * 7_919) % 5_000),
            durationMs: 200 + ((number * 104_729) % 60_000),
            usage: { inputTokens: 12, outputTokens: 7, cachedInputTokens: 0, reasoningTokens: 0 },
            credential: 'platform',
          })),
        )
      const toMs = BEGIN_MS + size * DAY_MS
      await store.usage.rollUpDays(toMs)
      const query = { fromMs: BEGIN_MS, toMs, interval: 'day', groupBy: 'key' } as const
      return await measureHold(() => store.usage.read(DEFAULT_ACCOUNT, query))
    })
  },
}
