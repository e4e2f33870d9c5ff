/**
 * A node's memory for the counters of 50,000 users under a default budget, alone and with a shared
 * store: node_modules/.bin/bun bench/scale/budget-heads.ts
 */
import { heapStats } from 'bun:jsc'
import type { SharedStore } from '../../src/cluster/shared-store.ts'
import { systemClock } from '../../src/core/clock.ts'
import { DEFAULT_ACCOUNT, type KeyId } from '../../src/core/ids.ts'
import { createPlans } from '../../src/core/plan.ts'
import type { Limits } from '../../src/gateway/ports.ts'
import { MemoryLimits } from '../../src/limits/memory-limits.ts'
import { SharedLimits } from '../../src/limits/shared-limits.ts'
import { UsageLimits } from '../../src/limits/usage-limits.ts'
import { createKeyLimits } from '../../src/snapshots/key-limits.ts'

const HEADS = 50_000
const LIMIT_NANO_USD = 100_000_000_000
const plans = createPlans()

/** Grants every request, in the form of the script's answer. */
const store: SharedStore = {
  mode: 'shared',
  nodes: 3,
  nodeId: 'node',
  async run(_script, _key, args) {
    const [tokens, nanoUsd] = [Number(args[7]), Number(args[8])]
    const needed = [Number(args[15]) + Number(args[17]), Number(args[16]) + Number(args[18])]
    return ['birth', tokens, nanoUsd, 0, 0, 0, ...needed].map(String)
  },
}

async function measure(name: string, toLimits: (usage: UsageLimits) => Limits): Promise<void> {
  const usage = new UsageLimits({ plans })
  const now = Date.now()
  usage.putBudget({
    ...{ accountId: DEFAULT_ACCOUNT, id: 'bud_each', name: 'each', period: 'month' },
    ...{ scope: { type: 'each-user' }, limit: { type: 'spend', nanoUsd: LIMIT_NANO_USD } },
    ...{ unpriced: 'allow', alertAt: [0.5, 0.8, 1], createdAt: now - 1_000, updatedAt: now },
  })
  usage.readHeadsWith(async (heads) =>
    heads.map(() => ({ tokens: 1_000, nanoUsd: 1_000, unpricedCalls: 0 })),
  )
  const limits = toLimits(usage)
  const caller = {
    accountId: DEFAULT_ACCOUNT,
    keyId: 'key_1' as KeyId,
    limits: createKeyLimits(plans)(DEFAULT_ACCOUNT),
  }
  const before = heapBytes()
  for (let head = 0; head < HEADS; head += 1) {
    const dimensions = { gateId: 'gate', user: `end:${head.toString(16).padStart(16, '0')}` }
    await limits.whenReady(caller, dimensions, now)
    const call = { ...dimensions, startedAtMs: now, estimatedTokens: 500, leastNanoUsd: 1_000 }
    const ticket = await limits.admit(caller, call)
    const cost = { nanoUsd: 900, status: 'exact', source: null } as const
    const endedAtMs = systemClock.elapsed()
    ticket.settle({ tokens: 400, cost, countsForQuota: false, endedAtMs })
  }
  const bytes = heapBytes() - before
  console.log(
    `${name}: ${HEADS} heads, ${(bytes / 1_000_000).toFixed(1)} MB, ` +
      `${Math.round(bytes / HEADS)} bytes each`,
  )
}

function heapBytes(): number {
  Bun.gc(true)
  const { heapSize, extraMemorySize } = heapStats()
  return heapSize + extraMemorySize
}

await measure('in memory', (usage) => new MemoryLimits(systemClock, usage))
await measure('shared', (usage) => new SharedLimits({ store, prefix: 'gatehouse', usage }))
