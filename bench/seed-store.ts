/**
 * Fills a data folder with keys, gates and past calls, using the store's own code. Runs before the
 * measurements.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { hashApiKey, maskApiKey } from '../src/core/api-key.ts'
import { USUAL_GATE } from '../src/core/gate.ts'
import {
  createCallId,
  createKeyId,
  DEFAULT_ACCOUNT,
  type GateId,
  type KeyId,
} from '../src/core/ids.ts'
import { DEFAULT_ACCOUNT_CAPS } from '../src/core/plan.ts'
import { openStore, type Store } from '../src/store/open-store.ts'

const BATCH = 4096
/** More than the default limits per account. */
const MANY = 1_000_000

/** Limits for a store that is opened for seeding. */
export const MANY_THINGS = { ...DEFAULT_ACCOUNT_CAPS, keys: MANY, gates: MANY }

/** Environment for a gateway that is started on the seeded store. */
export const SEEDED_CAPS = { GATEHOUSE_MAX_KEYS: String(MANY), GATEHOUSE_MAX_GATES: String(MANY) }

/** The key with this number, spelled as in bench/keys.lua. */
export function numberedKey(number: number): string {
  return `sk-svc-${number.toString(16).padStart(64, '0')}`
}

export async function seedStore(
  dataFolder: string,
  ownKey: string,
  stored: { readonly keys?: number; readonly gates?: number; readonly calls?: number },
): Promise<void> {
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 })
  const store = await openStore({ path: join(dataFolder, 'gatehouse.db') }, { caps: MANY_THINGS })
  try {
    await putKeysAndGates(store, ownKey, stored)
    const now = Date.now()
    const keyId = createKeyId()
    for (let written = 0; written < (stored.calls ?? 0); written += BATCH) {
      await store.calls.insertMany(
        Array.from({ length: BATCH }, () => ({
          id: createCallId(),
          accountId: DEFAULT_ACCOUNT,
          keyId,
          gateId: 'bench' as GateId,
          dialect: 'openai-chat',
          stream: false,
          target: 'openai/gpt-4o',
          attempts: 1,
          outcome: 'succeeded' as const,
          status: 200,
          errorKind: null,
          startedAt: now,
          firstByteMs: 1,
          durationMs: 2,
          usage: { inputTokens: 12, outputTokens: 7, cachedInputTokens: 0, reasoningTokens: 0 },
          credential: 'platform' as const,
        })),
      )
    }
  } finally {
    await store.close()
  }
}

/** @returns the ids of the keys; the caller's own key is first */
export async function putKeysAndGates(
  store: Store,
  ownKey: string,
  stored: { readonly keys?: number; readonly gates?: number },
): Promise<readonly KeyId[]> {
  const now = Date.now()
  const keyIds: KeyId[] = []
  const numbered = Array.from({ length: stored.keys ?? 0 }, (_, index) => numberedKey(index + 1))
  // A store with keys ignores the bootstrap key, so the contender's own key is inserted too.
  for (const [number, key] of [...(numbered.length > 0 ? [ownKey] : []), ...numbered].entries()) {
    const id = createKeyId()
    keyIds.push(id)
    await store.keys.insert({
      accountId: DEFAULT_ACCOUNT,
      id,
      name: `key ${number}`,
      sha256: hashApiKey(key),
      maskedPrefix: maskApiKey(key),
      createdAt: now,
      lastUsedAt: null,
      createdBy: null,
      expiresAt: null,
      previous: null,
    })
  }
  for (let number = 1; number <= (stored.gates ?? 0); number += 1) {
    await store.gates.insert({
      accountId: DEFAULT_ACCOUNT,
      id: `gate-${number}` as GateId,
      displayName: `gate ${number}`,
      description: '',
      targets: [{ model: 'openai/gpt-4o' }],
      ...USUAL_GATE,
      timeoutMs: null,
      maxRetries: 0,
      createdAt: now,
      updatedAt: now,
    })
  }
  return keyIds
}
