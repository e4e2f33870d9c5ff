/**
 * Puts past calls into a data folder before a server opens it, because a hundred thousand calls
 * over HTTP would take minutes.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { CallRecord } from '../../src/core/call.ts'
import { type Cost, UNKNOWN_COST } from '../../src/core/cost.ts'
import { type CallId, DEFAULT_ACCOUNT, type GateId, type KeyId } from '../../src/core/ids.ts'
import { openStore } from '../../src/store/open-store.ts'

const DAY_MS = 86_400_000
/** Within the default retention. */
const RANGE_MS = 20 * DAY_MS
const BATCH = 2_048

export const SEEDED_GATES = ['assistant', 'search', 'summaries', 'support'] as const
export const FAILED_EVERY = 25

/** The newest call ended a minute ago; calls use the gates in turn. */
export async function seedCalls(dataFolder: string, count: number): Promise<void> {
  const endMs = Date.now() - 60_000
  await insert(dataFolder, count, (number) =>
    createCall(number, endMs - Math.floor((number * RANGE_MS) / count)),
  )
}

export interface PlannedCall {
  readonly startedAt: number
  readonly gate: string
  readonly target?: string
  readonly durationMs?: number
  readonly hasFailed?: boolean
  readonly isUnpriced?: boolean
  readonly keyId?: string
  readonly costFactor?: number
  readonly caller?: Partial<Pick<CallRecord, 'user' | 'session' | 'agent' | 'parentAgent' | 'tags'>>
  readonly inputTokens?: number
}

/** For tests whose figures depend on when, through which gate, and how it went. */
export async function seedPlannedCalls(
  dataFolder: string,
  plan: readonly PlannedCall[],
): Promise<void> {
  await insert(dataFolder, plan.length, (number) => {
    const {
      startedAt,
      gate,
      target,
      durationMs,
      hasFailed = false,
      isUnpriced = false,
      keyId,
      costFactor = 1,
      caller = {},
      inputTokens,
    } = plan[number] ?? raiseNoPlan(number)
    const call = createCall(
      hasFailed ? FAILED_EVERY - 1 + number * FAILED_EVERY : number * FAILED_EVERY,
      startedAt,
    )
    return {
      ...call,
      ...caller,
      ...(inputTokens === undefined || call.usage == null
        ? {}
        : { usage: { ...call.usage, inputTokens } }),
      gateId: gate as GateId,
      ...(keyId === undefined ? {} : { keyId: keyId as KeyId }),
      ...(costFactor === 1 ? {} : { cost: timesAsMuch(call.cost, costFactor) }),
      ...(isUnpriced ? { cost: UNKNOWN_COST } : {}),
      ...(target === undefined ? {} : { target }),
      ...(durationMs === undefined
        ? {}
        : { durationMs, firstByteMs: hasFailed ? null : durationMs }),
    }
  })
}

/** Deletes the hours of days that ended before this time. */
export async function deleteSeededHours(dataFolder: string, beforeMs: number): Promise<void> {
  const store = await openStore({ path: join(dataFolder, 'gatehouse.db') })
  try {
    await store.usage.deleteHoursBefore(beforeMs)
  } finally {
    await store.close()
  }
}

function timesAsMuch(cost: Cost | undefined, factor: number): Cost {
  const { nanoUsd = null, ...known } = cost ?? UNKNOWN_COST
  return { ...known, nanoUsd: nanoUsd === null ? null : nanoUsd * factor }
}

/**
 * Names the keys of planned calls.
 * @param texts of keys that are used afterwards, by id
 */
export async function seedKeys(
  dataFolder: string,
  names: ReadonlyMap<string, string>,
  texts: ReadonlyMap<string, string> = new Map(),
): Promise<void> {
  const store = await openStore({ path: join(dataFolder, 'gatehouse.db') })
  try {
    for (const [id, name] of names)
      await store.keys.insert({
        id: id as KeyId,
        accountId: DEFAULT_ACCOUNT,
        name,
        sha256: createHash('sha256')
          .update(texts.get(id) ?? id)
          .digest('hex'),
        maskedPrefix: 'sk-svc-0000…',
        createdAt: 1,
        createdBy: null,
        expiresAt: null,
        lastUsedAt: null,
        previous: null,
      })
  } finally {
    await store.close()
  }
}

/** Names of users and tags by the hashes of planned calls. */
export async function seedCallerNames(
  dataFolder: string,
  kind: 'user' | 'tag',
  names: ReadonlyMap<string, string>,
): Promise<void> {
  const store = await openStore({ path: join(dataFolder, 'gatehouse.db') })
  try {
    await store.callerNames.write(
      [...names].map(([hash, name]) => ({ accountId: DEFAULT_ACCOUNT, kind, hash, name })),
      Date.now(),
    )
  } finally {
    await store.close()
  }
}

function raiseNoPlan(number: number): never {
  throw new Error(`no call ${number} was planned`)
}

async function insert(
  dataFolder: string,
  count: number,
  create: (number: number) => CallRecord,
): Promise<void> {
  const store = await openStore({ path: join(dataFolder, 'gatehouse.db') })
  try {
    for (let first = 0; first < count; first += BATCH) {
      const length = Math.min(BATCH, count - first)
      await store.calls.insertMany(Array.from({ length }, (_, index) => create(first + index)))
    }
  } finally {
    await store.close()
  }
}

/**
 * Priced like an owned model that the account no longer has.
 * @param number 0 for the newest call
 */
function createCall(number: number, startedAt: number): CallRecord {
  const hasFailed = number % FAILED_EVERY === FAILED_EVERY - 1
  const durationMs = 200 + ((number * 7_919) % 9_000)
  return {
    id: `req_${(0xffff_ffff - number).toString(16).padStart(32, '0')}` as CallId,
    accountId: DEFAULT_ACCOUNT,
    keyId: 'key_of_the_past' as KeyId,
    gateId: (SEEDED_GATES[number % SEEDED_GATES.length] ?? 'assistant') as GateId,
    dialect: 'openai-chat',
    stream: number % 3 !== 0,
    target: number % 2 === 0 ? 'owned/large' : 'owned/small',
    attempts: hasFailed ? 2 : 1,
    outcome: hasFailed ? 'failed' : 'succeeded',
    status: hasFailed ? 504 : 200,
    errorKind: hasFailed ? 'upstream_timeout' : null,
    startedAt,
    firstByteMs: hasFailed ? null : Math.round(durationMs / 3),
    durationMs,
    credential: 'own',
    usage: hasFailed
      ? null
      : { inputTokens: 1_200, outputTokens: 300, cachedInputTokens: 800, reasoningTokens: 64 },
    cost: hasFailed
      ? { nanoUsd: null, status: 'unknown', source: null }
      : { nanoUsd: 4_200_000, status: 'exact', source: 'owned-model@250/25/1000' },
  }
}
