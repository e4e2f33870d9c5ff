/**
 * Calls that cost less than a millionth of a dollar are counted: 24 tokens at 0.02 dollars a million
 * are 480 billionths.
 */
import { afterEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { databases } from '../../test/support/databases.ts'
import { createTemporaryFolder } from '../../test/support/temporary-folder.ts'
import { loadSettings } from '../config/load-settings.ts'
import type { CallId } from '../core/ids.ts'
import { DEFAULT_ACCOUNT, type GateId, type KeyId } from '../core/ids.ts'
import { toUsd } from '../core/money.ts'
import { createPlans } from '../core/plan.ts'
import { createCallRecord } from '../ledger/call-record.fixture.ts'
import { costOfDeclared } from '../ledger/cost-parts.ts'
import { LineBatch } from '../ledger/journal-lines.ts'
import { PastUsage } from '../ledger/past-usage.ts'
import { decodeRecordLine, toLineContent } from '../ledger/record-line.ts'
import { BudgetRegistry } from '../limits/budget-registry.ts'
import { loadUsage } from '../limits/load-usage.ts'
import { budgetOf } from '../limits/usage-limits.fixture.ts'
import { UsageLimits } from '../limits/usage-limits.ts'
import { openStore } from '../store/open-store.ts'
import { readSums } from '../store/usage/read-sums.fixture.ts'
import { createLog } from '../telemetry/log.ts'
import { composeGatehouse } from './compose.ts'

const endings: (() => unknown)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

describe('a budget of a thousand embeddings', () => {
  function startUpstream(): string {
    const answer = JSON.stringify({
      object: 'list',
      model: 'small',
      data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
      usage: { prompt_tokens: 24, total_tokens: 24 },
    })
    const headers = { 'content-type': 'application/json' }
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => new Response(answer, { headers }),
    })
    endings.push(() => server.stop(true))
    return `http://127.0.0.1:${server.port}/v1`
  }

  test('is used up by them, and stays so after a restart', async () => {
    const folder = await createTemporaryFolder()
    endings.push(() => folder.remove())
    await Bun.write(
      join(folder.path, 'gatehouse.yaml'),
      `providers:
  - id: acme
    name: Acme AI
    baseUrl: ${startUpstream()}
    dialects: [openai-embeddings]
    prices: {small: {input: 0.02, output: 0}}
`,
    )
    const environment = { GATEHOUSE_DATA_DIR: folder.path, ACME_API_KEY: 'planted' }
    const open = async () => {
      const settings = await loadSettings(environment)
      const log = createLog('silent')
      return await composeGatehouse({ settings, log, plans: settings.plans })
    }
    let gatehouse = await open()
    endings.push(() => gatehouse.close())
    await gatehouse.gates.create(DEFAULT_ACCOUNT, {
      ...{ id: 'small' as GateId, description: '', timeoutMs: null, maxRetries: 0 },
      targets: [{ model: 'acme/small' }],
    })
    const made = await gatehouse.keys.create({ accountId: DEFAULT_ACCOUNT, name: 'test' })
    const key = made.key.reveal()
    const ask = async (path: string, body?: object) => {
      const answer = await gatehouse.handle(
        new Request(`http://gatehouse.test${path}`, {
          method: body === undefined ? 'GET' : 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        }),
      )
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
    }
    const limit = { gateId: 'small', limitUsd: 0.00048, period: 'total' }
    const { body: budget } = await ask('/v1/budgets', limit)
    const embed = () => ask('/v1/embeddings', { model: 'small', input: 'twenty-four tokens' })
    const expectUsedUp = async () => {
      const refused = await embed()
      expect(refused).toMatchObject({
        status: 429,
        body: { error: { code: 'insufficient_quota' } },
      })
      expect(JSON.stringify(refused.body)).toContain('$0.00048 in total')
      expect((await ask(`/v1/budgets/${budget['id']}`)).body).toMatchObject({
        limitUsd: 0.00048,
        used: { usd: 0.00048, tokens: 24_000, unpricedCalls: 0 },
        isExhausted: true,
      })
    }
    for (let call = 0; call < 1_000; call += 1) expect((await embed()).status).toBe(200)
    await expectUsedUp()
    await gatehouse.close()
    gatehouse = await open()
    await expectUsedUp()
    const { body: analytics } = await ask('/v1/analytics?interval=day')
    const sums = analytics['data'] as { cost: { usd: number } }[]
    expect(sums.reduce((usd, { cost }) => usd + cost.usd, 0)).toBeCloseTo(0.00048, 12)
  }, 60_000)
})

/** On Postgres a row takes several times as long. */
const ROWS = { SQLite: 20_000, Postgres: 4_000 } as const

test.each(databases)(
  'their costs add up to the billionth in rows, sums and budgets on $name, also after a restart',
  async (kind) => {
    const created = await kind.create()
    endings.push(() => created.remove())
    const rows = ROWS[kind.name]
    const usage = { inputTokens: 24, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 }
    const declared = { input: 2, output: 0, cachedInput: 2 }
    const cost = costOfDeclared('configured', declared, { usage, outcome: 'succeeded' })
    const fromMs = Date.parse('2026-11-02T00:00:00Z')
    const lines = new LineBatch()
    for (let index = 0; index < rows; index += 1)
      lines.add(
        toLineContent(
          createCallRecord({
            ...{ id: `req_${index}` as CallId, gateId: 'gate' as GateId, usage, cost },
            ...{ credential: 'platform', target: 'acme/small', keyId: 'key_1' as KeyId },
            startedAt: fromMs + (index % 60) * 3_600_000,
          }),
        ),
        DEFAULT_ACCOUNT,
      )
    // As the journal reads them back.
    const ends = [0, ...lines.ends]
    const records = lines.ends.map((end, index) => {
      const record = decodeRecordLine(lines.bytes.slice(ends[index] ?? 0, end - 1))
      if (typeof record !== 'object') throw new Error('a line is damaged')
      return record
    })
    const budget = budgetOf({
      limit: { type: 'spend', nanoUsd: 480 * rows },
      period: 'total',
      createdAt: fromMs,
    })
    const first = await openStore(created.location)
    await first.budgets.insert(budget)
    await first.calls.insertMany(records)
    await first.close()

    const store = await openStore(created.location)
    endings.push(() => store.close())
    const expectSums = async () => {
      const range = { fromMs, toMs: fromMs + 72 * 3_600_000, groupBy: null } as const
      for (const interval of ['hour', 'day', 'month', 'all'] as const) {
        const sums = await readSums(store.usage, DEFAULT_ACCOUNT, { ...range, interval })
        expect(sums.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0)).toBe(480 * rows)
      }
    }
    await expectSums()
    expect((await store.calls.find(DEFAULT_ACCOUNT, 'req_7'))?.cost?.nanoUsd).toBe(480)
    const nowMs = Date.parse('2026-11-05T00:00:00Z')
    const limits = new UsageLimits({ plans: createPlans() })
    const registry = await BudgetRegistry.load({
      budgets: store.budgets,
      usage: limits,
      clock: { now: () => nowMs },
    })
    const sums = await PastUsage.open({
      sums: store.usageSums,
      beginnings: store.budgetBeginnings,
      segments: [],
      onUnreadable: () => {},
    })
    await loadUsage(limits, registry, { sums, nowMs })
    expect(limits.budgetWindow(budget.id, nowMs)?.nanoUsd).toBe(480 * rows)
    expect(limits.quotaAt(DEFAULT_ACCOUNT, nowMs).nanoUsd).toBe(480 * rows)
    expect(toUsd(480 * rows)).toBe((0.48 * rows) / 1_000_000)
  },
  60_000,
)
