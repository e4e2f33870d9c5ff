/** Several nodes with manual clocks on one real store, for the tests of shared limits. */

import type { SharedScript, SharedStore } from '../cluster/shared-store.ts'
import { GatewayError } from '../core/errors.ts'
import { DEFAULT_ACCOUNT, type KeyId } from '../core/ids.ts'
import { createPlans, type PlanLimits } from '../core/plan.ts'
import type { SharingMode } from '../core/shared-stores.ts'
import type { CallAhead, Caller, Limits, Ticket } from '../gateway/ports.ts'
import { createKeyLimits } from '../snapshots/key-limits.ts'
import { SharedLimits } from './shared-limits.ts'
import type { BudgetAlert } from './usage-counter.ts'
import { spent } from './usage-limits.fixture.ts'
import { UsageLimits } from './usage-limits.ts'

export const START_MS = Date.parse('2026-11-30T23:58:00.000Z')

interface RunsScripts {
  eval(script: string, keys: number, key: string, ...args: (string | number)[]): Promise<unknown>
}

/** A node's connection to a real server, which tests can make unavailable. */
export class TestStore implements SharedStore {
  mode: SharingMode = 'shared'
  nodes: number
  questions = 0
  /** The script runs, but its answer is lost. */
  losesAnswers = false
  readonly nodeId: string
  readonly #client: RunsScripts

  constructor(client: RunsScripts, nodeId: string, nodes: number) {
    this.#client = client
    this.nodeId = nodeId
    this.nodes = nodes
  }

  async run(
    script: SharedScript,
    key: string,
    args: readonly (string | number)[],
  ): Promise<readonly unknown[]> {
    if (this.mode !== 'shared') throw new Error('away')
    this.questions += 1
    const answer = await this.#client.eval(script.lua, 1, key, ...args)
    if (this.losesAnswers) throw new Error('lost')
    if (!Array.isArray(answer)) throw new Error('no list')
    return answer
  }
}

let scenes = 0

export interface TestNode {
  readonly store: TestStore
  readonly limits: SharedLimits
  readonly usage: UsageLimits
  readonly alerts: readonly BudgetAlert[]
  admit(call?: Partial<CallAhead>, key?: string): Promise<Ticket | GatewayError>
}

/** @returns nodes with one clock and a separate key prefix in the store */
export function startNodes(client: RunsScripts, count: number, planLimits: Partial<PlanLimits>) {
  scenes += 1
  const clock = { nowMs: START_MS, now: () => clock.nowMs, elapsed: () => clock.nowMs }
  const plans = createPlans({ default: 'test', definitions: { test: planLimits } })
  const keyLimits = createKeyLimits(plans)(DEFAULT_ACCOUNT)
  const prefix = `scene${process.pid}-${scenes}`
  let made = 0
  /** @param behindMs how far the node's clock is behind the store's */
  const addNode = (behindMs = 0): TestNode => {
    const own = { now: () => clock.nowMs - behindMs, elapsed: clock.elapsed }
    made += 1
    const store = new TestStore(client, `node${made}`, count)
    const alerts: BudgetAlert[] = []
    const usage = new UsageLimits({ plans, onAlert: (alert) => alerts.push(alert) })
    const limits = new SharedLimits({ store, prefix, usage, clock: own, sharedClock: clock })
    return {
      store,
      limits,
      usage,
      alerts,
      admit: (call, key = 'key_1') =>
        attempt(
          limits,
          { accountId: DEFAULT_ACCOUNT, keyId: key as KeyId, limits: keyLimits },
          {
            gateId: 'gate',
            startedAtMs: own.now(),
            estimatedTokens: 0,
            ...call,
          },
        ),
    }
  }
  return { clock, prefix, addNode, nodes: Array.from({ length: count }, () => addNode()) }
}

/** Reserves the quota after planning, like the pipeline. */
export async function attempt(
  limits: Limits,
  caller: Caller,
  call: CallAhead,
): Promise<Ticket | GatewayError> {
  try {
    const ticket = await limits.admit(caller, call)
    const refusal = await ticket.reserveQuota()
    if (refusal === undefined) return ticket
    ticket.settle(spent({ tokens: 0 }))
    return refusal
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
}
