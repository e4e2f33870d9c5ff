/** Stores calls for measurements, with the product's own insert. */
import type { CallRecord } from '../../src/core/call.ts'
import {
  type AccountId,
  createCallId,
  DEFAULT_ACCOUNT,
  type GateId,
  type KeyId,
} from '../../src/core/ids.ts'
import type { Store } from '../../src/store/open-store.ts'
import { createProgress } from './progress.ts'
import { seedApart, seedFromArguments } from './seed-apart.ts'
import type { Place } from './with-store.ts'

export const DAY_MS = 86_400_000
export const NOW_MS = Date.parse('2026-11-21T09:30:00Z')

const KEYS = 100
const GATES = 20
const BATCH = 512

export function createCalls(
  count: number,
  changes: (
    index: number,
  ) => Omit<Partial<CallRecord>, 'accountId'> & { readonly accountId?: string },
): readonly CallRecord[] {
  return Array.from({ length: count }, (_, index) => {
    const { accountId = DEFAULT_ACCOUNT, ...own } = changes(index)
    return {
      id: createCallId(),
      accountId: accountId as AccountId,
      keyId: keyOf(index),
      gateId: gateOf(index),
      dialect: 'openai-chat',
      stream: false,
      target: `openai/model-${index % 3}`,
      attempts: 1,
      outcome: 'succeeded',
      status: 200,
      errorKind: null,
      startedAt: NOW_MS,
      firstByteMs: 20,
      durationMs: 200 + (index % 1_000),
      usage: { inputTokens: 12, outputTokens: 7, cachedInputTokens: 0, reasoningTokens: 0 },
      credential: 'platform',
      cost: { nanoUsd: 40_000, status: 'exact', source: 'bench@1' },
      ...own,
    }
  })
}

export function keyOf(index: number): KeyId {
  return `key_${index % KEYS}` as KeyId
}

export function gateOf(index: number): GateId {
  return `gate-${index % GATES}` as GateId
}

export interface CallSeed {
  readonly calls: number
  readonly days: number
  /** Default 1. */
  readonly accounts?: number
}

/** Spread evenly over the days before `NOW_MS`, in chronological order. */
export async function seedCalls(
  store: Store,
  { calls, days, accounts = 1 }: CallSeed,
): Promise<void> {
  const report = createProgress('calls', calls)
  for (let written = 0; written < calls; written += BATCH) {
    await store.calls.insertMany(
      createCalls(Math.min(BATCH, calls - written), (index) => {
        const number = written + index
        const startedAt = NOW_MS - Math.floor((1 - number / calls) * days * DAY_MS)
        const place = { keyId: keyOf(number), gateId: gateOf(number), startedAt }
        return accounts === 1
          ? place
          : { ...place, accountId: `acct_${Math.floor(written / BATCH) % accounts}` }
      }),
    )
    report(written)
  }
}

export async function seedCallsApart(
  place: Pick<Place, 'dataFolder' | 'environment'>,
  seed: CallSeed,
): Promise<void> {
  await seedApart(import.meta.path, place, seed)
}

if (import.meta.main) await seedFromArguments(seedCalls)
