/**
 * A month of calls that never happened, so that pictures of the dashboard show what it looks like
 * in use: a working day's rhythm, a bad afternoon, a model that is slow. Repeatable. Goes through
 * the store's own code, before a server starts.
 */
import { join } from 'node:path'
import type { CallRecord } from '../../src/core/call.ts'
import { createCallId, DEFAULT_ACCOUNT, type GateId, type KeyId } from '../../src/core/ids.ts'
import { costOfParts } from '../../src/core/money.ts'
import type { Usage } from '../../src/core/usage.ts'
import { loadPriceTable } from '../../src/ledger/price-table.ts'
import { openStore } from '../../src/store/open-store.ts'

const HOUR_MS = 3_600_000
const DAYS = 62
const BATCH = 512
/** In a busy hour, of all gates together. */
const CALLS_IN_A_BUSY_HOUR = 90

interface Traffic {
  readonly gate: string
  /** `provider/model`, first and fallback. */
  readonly targets: readonly [string, string]
  readonly dialect: string
  /** Of all calls. */
  readonly share: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly durationMs: number
  /** The name of a key. */
  readonly key: string
}

export const TRAFFIC: readonly Traffic[] = [
  {
    gate: 'assistant',
    targets: ['openai/gpt-5-mini', 'anthropic/claude-sonnet-4-5'],
    dialect: 'openai-responses',
    share: 0.42,
    inputTokens: 3_200,
    outputTokens: 420,
    durationMs: 4_200,
    key: 'production',
  },
  {
    gate: 'codestral',
    targets: ['mistral/codestral-latest', 'mistral/codestral-latest'],
    dialect: 'mistral-fim',
    share: 0.33,
    inputTokens: 900,
    outputTokens: 60,
    durationMs: 380,
    key: 'editor plug-in',
  },
  {
    gate: 'support-bot',
    targets: ['anthropic/claude-haiku-4-5', 'gemini/gemini-2.5-flash'],
    dialect: 'openai-chat',
    share: 0.18,
    inputTokens: 1_800,
    outputTokens: 260,
    durationMs: 1_900,
    key: 'production',
  },
  {
    gate: 'research',
    targets: ['gemini/gemini-2.5-pro', 'openai/gpt-5'],
    dialect: 'anthropic-messages',
    share: 0.07,
    inputTokens: 18_000,
    outputTokens: 2_400,
    durationMs: 21_000,
    key: 'notebooks',
  },
]

/** @param keys ids by name. @returns how many calls were made up */
export async function seedHistory(
  dataFolder: string,
  keys: ReadonlyMap<string, string>,
  now: number,
): Promise<number> {
  const store = await openStore({ path: join(dataFolder, 'gatehouse.db') })
  try {
    const random = createRandom(11)
    const price = createPricing()
    const calls: CallRecord[] = []
    for (let at = now - DAYS * 24 * HOUR_MS; at < now; at += HOUR_MS) {
      const count = Math.round(
        CALLS_IN_A_BUSY_HOUR * activity(new Date(at)) * (0.7 + random() * 0.6) * growth(at, now),
      )
      for (let index = 0; index < count; index += 1) {
        const startedAt = Math.floor(at + random() * HOUR_MS)
        if (startedAt < now) calls.push(makeUp(startedAt, { keys, random, price, now }))
      }
    }
    calls.sort((left, right) => left.startedAt - right.startedAt)
    for (let from = 0; from < calls.length; from += BATCH) {
      await store.calls.insertMany(calls.slice(from, from + BATCH))
    }
    return calls.length
  } finally {
    await store.close()
  }
}

/** What is useful is used more each week. */
function growth(at: number, now: number): number {
  return 1.15 - ((now - at) / (DAYS * 24 * HOUR_MS)) * 0.5
}

/** People work on weekdays, and the office is in Europe. */
function activity(time: Date): number {
  const isWeekend = time.getUTCDay() % 6 === 0
  const hour = time.getUTCHours()
  const daylight = Math.exp(-(((hour - 12.5) / 4.2) ** 2))
  return (0.08 + daylight) * (isWeekend ? 0.25 : 1)
}

interface Making {
  readonly keys: ReadonlyMap<string, string>
  readonly random: () => number
  readonly price: (target: string, usage: Usage) => CallRecord['cost']
  readonly now: number
}

function makeUp(startedAt: number, { keys, random, price, now }: Making): CallRecord {
  const traffic = pickTraffic(random())
  const daysAgo = (now - startedAt) / (24 * HOUR_MS)
  // The bad afternoon: six days ago the first target of one gate failed for some hours.
  const isBad = traffic.gate === 'assistant' && daysAgo > 5.9 && daysAgo < 6.1
  const fellBack = random() < (isBad ? 0.7 : 0.012)
  const hasFailed = random() < (isBad ? 0.12 : 0.006)
  const isCancelled = !hasFailed && random() < 0.01
  const target = fellBack ? traffic.targets[1] : traffic.targets[0]
  const size = 0.4 + random() ** 2 * 2.4
  const durationMs =
    Math.round(traffic.durationMs * size * (0.7 + random() * 0.6)) + (fellBack ? 900 : 0)
  const usage: Usage = {
    inputTokens: Math.round(traffic.inputTokens * (0.5 + random())),
    outputTokens: Math.round(traffic.outputTokens * size),
    cachedInputTokens: random() < 0.5 ? Math.round(traffic.inputTokens * 0.4) : 0,
    reasoningTokens: traffic.gate === 'research' ? Math.round(traffic.outputTokens * 0.5) : 0,
  }
  const cost = hasFailed ? undefined : price(target, usage)
  const attempt = { afterMs: 2, durationMs: 850, status: 503 }
  return {
    id: createCallId(),
    accountId: DEFAULT_ACCOUNT,
    keyId: (keys.get(traffic.key) ?? '') as KeyId,
    gateId: traffic.gate as GateId,
    dialect: traffic.dialect,
    stream: traffic.gate !== 'codestral',
    target,
    attempts: fellBack ? 2 : 1,
    outcome: hasFailed ? 'failed' : isCancelled ? 'cancelled' : 'succeeded',
    status: hasFailed ? 502 : 200,
    errorKind: hasFailed ? 'upstream_error' : null,
    startedAt,
    firstByteMs: hasFailed ? null : Math.round(durationMs * 0.18),
    durationMs,
    credential: traffic.gate === 'research' ? 'own' : 'platform',
    usage: hasFailed ? null : usage,
    cost: cost ?? { nanoUsd: null, status: 'unknown', source: null },
    ...(fellBack
      ? {
          attemptDetails: [
            { target: traffic.targets[0], ...attempt },
            { target, status: hasFailed ? 502 : 200, afterMs: 860, durationMs: durationMs - 860 },
          ],
        }
      : {}),
  }
}

function pickTraffic(share: number): Traffic {
  let left = share
  for (const traffic of TRAFFIC) {
    left -= traffic.share
    if (left <= 0) return traffic
  }
  return TRAFFIC[0] as Traffic
}

/** As the gateway prices, roughly: three rates are enough for pictures. */
export function createPricing(): Making['price'] {
  const table = loadPriceTable()
  return (target, usage) => {
    const [provider = '', model = ''] = target.split('/')
    const name = provider === 'gemini' ? 'google' : provider
    const prices = table.find(name, model, Date.now())?.prices
    const rate = (value: unknown): number =>
      typeof value === 'number'
        ? value
        : rate((value as { readonly base?: number } | undefined)?.base ?? 0)
    const nanoUsd = costOfParts([
      {
        count: usage.inputTokens - usage.cachedInputTokens,
        usdPerMillion: rate(prices?.input_mtok),
      },
      { count: usage.cachedInputTokens, usdPerMillion: rate(prices?.cache_read_mtok) },
      { count: usage.outputTokens, usdPerMillion: rate(prices?.output_mtok) },
    ])
    return { nanoUsd, status: 'exact', source: table.source }
  }
}

export function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}
