/**
 * An account in use: hundreds of keys, dozens of gates, calls over a hundred days with errors,
 * refusals and fallbacks among them. Goes through the store's own code, and must not know what is
 * looked at.
 */
import type { CallRecord } from '../../src/core/call.ts'
import type { ErrorKind } from '../../src/core/errors.ts'
import type { GateId, KeyId } from '../../src/core/ids.ts'
import type { StoreLocation } from '../../src/store/database/open-database.ts'
import { openStore } from '../../src/store/open-store.ts'
import { createProgress } from '../scale/progress.ts'
import { createCalls } from '../scale/seed-calls.ts'
import { MANY_THINGS, putKeysAndGates } from '../seed-store.ts'

export const KEYS = 300
export const GATES = 40
export const DAYS = 100
const TARGETS = ['openai/gpt-4o', 'anthropic/claude-sonnet-4-5', 'mistral/mistral-large-latest']
const MODELS = 12
const DAY_MS = 86_400_000
const BATCH = 2_048

/** Every so many calls, beside those that succeed. */
const FAILURES: readonly (readonly [every: number, status: number, errorKind: ErrorKind])[] = [
  [37, 502, 'upstream_error'],
  [53, 504, 'upstream_timeout'],
  [211, 429, 'rate_limited'],
]
const FALLS_BACK_EVERY = 29

/** @returns ids by which pages are asked for what is there */
export async function fillStore(
  location: StoreLocation,
  ownKey: string,
  calls: number,
): Promise<{ readonly keyId: KeyId; readonly callId: string }> {
  const store = await openStore(location, { caps: MANY_THINGS })
  try {
    const keyIds = await putKeysAndGates(store, ownKey, { keys: KEYS, gates: GATES })
    const now = Date.now()
    const tell = createProgress('calls', calls)
    let callId = ''
    for (let written = 0; written < calls; written += BATCH) {
      const batch = createCalls(Math.min(BATCH, calls - written), (index) => {
        const number = written + index
        const startedAt = now - Math.floor((1 - number / calls) * DAYS * DAY_MS)
        return { ...describeCall(number, keyIds), startedAt }
      })
      await store.calls.insertMany(batch)
      callId = batch.at(-1)?.id ?? callId
      tell(written)
    }
    // As a node does by itself, some minutes after its start.
    await store.usage.rollUpDays(now)
    return { keyId: keyIds[1] as KeyId, callId }
  } finally {
    await store.close()
  }
}

/** A key belongs to one application, which calls one gate; a gate has a target and its fallback. */
function describeCall(number: number, keyIds: readonly KeyId[]): Partial<CallRecord> {
  const mixed = mix(number)
  // Few gates and keys have most of the calls, as people's have.
  const gate = skew(mixed, GATES)
  const keysOfGate = Math.floor(keyIds.length / GATES)
  const key = gate * keysOfGate + skew(mix(mixed), keysOfGate)
  const [, status, errorKind] = FAILURES.find(([every]) => number % every === 0) ?? [0, 200, null]
  const durationMs = 80 + (mixed % 9_000)
  const isRefused = status === 429
  const hasFailed = status !== 200
  const fallsBack = !isRefused && number % FALLS_BACK_EVERY === 0
  const first = `${TARGETS[gate % TARGETS.length]}-${gate % MODELS}`
  const target = fallsBack ? `${TARGETS[(gate + 1) % TARGETS.length]}-${gate % MODELS}` : first
  return {
    gateId: `gate-${1 + gate}` as GateId,
    keyId: keyIds[key] as KeyId,
    stream: number % 3 !== 0,
    target: isRefused ? null : target,
    attempts: isRefused ? 0 : fallsBack ? 2 : 1,
    outcome: hasFailed ? 'failed' : number % 101 === 0 ? 'cancelled' : 'succeeded',
    status,
    errorKind,
    firstByteMs: hasFailed ? null : Math.round(durationMs / 4),
    durationMs,
    usage: hasFailed
      ? null
      : {
          inputTokens: 200 + (mixed % 4_000),
          outputTokens: 20 + (mixed % 700),
          cachedInputTokens: mixed % 150,
          reasoningTokens: 0,
        },
    cost: hasFailed
      ? { nanoUsd: null, status: 'unknown', source: null }
      : { nanoUsd: 1_000 * (100 + (mixed % 9_000)), status: 'exact', source: 'bench@1' },
    credential: gate % 5 === 0 ? 'own' : 'platform',
    ...(isRefused ? { refusals: 1 } : {}),
    ...(fallsBack
      ? {
          attemptDetails: [
            { target: first, status: 503, afterMs: 2, durationMs: 30 },
            { target, status, afterMs: 35, durationMs: durationMs - 35 },
          ],
        }
      : {}),
  }
}

/** From 0 to `count` - 1, low ones more often. */
function skew(mixed: number, count: number): number {
  return Math.floor(((mixed % 1_000) / 1_000) ** 2 * count)
}

/** The same for the same number, and near nothing of its neighbour's. */
function mix(number: number): number {
  let mixed = Math.imul(number ^ (number >>> 16), 0x45d9f3b)
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
