/**
 * A key under a plan, with a manual clock, for the tests of limits. Must not be imported outside
 * tests.
 */
import type { Budget } from '../core/budget.ts'
import type { Cost } from '../core/cost.ts'
import { GatewayError } from '../core/errors.ts'
import { DEFAULT_ACCOUNT, type GateId, type KeyId } from '../core/ids.ts'
import type { MaybePromise } from '../core/maybe-promise.ts'
import { createPlans, type PlanLimits } from '../core/plan.ts'
import type { CallAhead, Caller, Spent, Ticket } from '../gateway/ports.ts'
import { createKeyLimits } from '../snapshots/key-limits.ts'
import { MemoryLimits } from './memory-limits.ts'
import type { BudgetAlert } from './usage-counter.ts'
import { UsageLimits } from './usage-limits.ts'

const START_MS = Date.parse('2026-11-30T23:58:00.000Z')
const KEY = 'key_1' as KeyId
const GATE = 'gate' as GateId

export function start(limits: Partial<PlanLimits>, nowMs = START_MS) {
  const plans = createPlans({ default: 'test', definitions: { test: limits } })
  const clock = { nowMs, now: () => clock.nowMs, elapsed: () => clock.nowMs }
  const alerts: BudgetAlert[] = []
  const usage = new UsageLimits({ plans, onAlert: (alert) => alerts.push(alert) })
  const memory = new MemoryLimits(clock, usage)
  const caller: Caller = {
    accountId: DEFAULT_ACCOUNT,
    keyId: KEY,
    limits: createKeyLimits(plans)(DEFAULT_ACCOUNT),
  }
  /** Reserves the quota after planning, like the pipeline. */
  const admit = (call: Partial<CallAhead> = {}, keyId = KEY): Ticket | GatewayError => {
    try {
      const admitting = memory.admit(
        { ...caller, keyId },
        {
          gateId: GATE,
          startedAtMs: clock.nowMs,
          estimatedTokens: 10,
          ...call,
        },
      )
      const ticket = atOnce(admitting)
      const refusal = atOnce(ticket.reserveQuota())
      if (refusal === undefined) return ticket
      ticket.settle(spent({ tokens: 0, endedAtMs: clock.nowMs }))
      return refusal
    } catch (error) {
      if (error instanceof GatewayError) return error
      throw error
    }
  }
  return {
    clock,
    caller,
    usage,
    admit,
    alerts,
    quota: () => usage.quotaOf(DEFAULT_ACCOUNT, clock.nowMs).window,
  }
}

/** The value itself, because limits in memory return no promises. */
export function atOnce<Value>(value: MaybePromise<Value>): Value {
  if (value instanceof Promise) throw new Error('in memory nothing has to be waited for')
  return value
}

export function spent(given: Partial<Spent> & { readonly nanoUsd?: number | null }): Spent {
  const { nanoUsd = null, ...rest } = given
  const cost: Cost = { nanoUsd, status: nanoUsd === null ? 'unknown' : 'exact', source: null }
  return { tokens: 0, cost, countsForQuota: true, endedAtMs: START_MS, ...rest }
}

export function isTicket(result: Ticket | GatewayError): result is Ticket {
  return !(result instanceof GatewayError)
}

export function admitted(result: Ticket | GatewayError): Ticket {
  if (result instanceof GatewayError) throw result
  return result
}

export function budgetOf(changes: Partial<Budget> = {}): Budget {
  return {
    accountId: DEFAULT_ACCOUNT,
    id: 'bud_1',
    name: 'a budget',
    scope: { type: 'gate', gateId: GATE },
    limit: { type: 'tokens', tokens: 100 },
    period: 'day',
    unpriced: 'allow',
    alertAt: [0.5, 0.8, 1],
    createdAt: START_MS - 1000,
    updatedAt: START_MS - 1000,
    ...changes,
  }
}

const PARTS = 60_000n

/**
 * A model of tokens per minute as the guide documents them, in whole numbers. Shares no code with
 * the product.
 */
export class ModelOfTokens {
  readonly #perMinute: bigint
  parts: bigint

  constructor(perMinute: number) {
    this.#perMinute = BigInt(perMinute)
    this.parts = this.#perMinute * PARTS
  }

  wait(ms: number): void {
    this.#set(this.parts + BigInt(ms) * this.#perMinute)
  }

  /** @returns the number of taken tokens; undefined: the call is refused */
  admit(size: number, running: number): number | undefined {
    const wanted = BigInt(size) > this.#perMinute ? this.#perMinute : BigInt(size)
    const needed = wanted > 1n ? wanted : 1n
    const room = this.parts + this.#perMinute * PARTS
    const isLent =
      this.parts < 0n &&
      running === 0 &&
      // Doubled, because half a limit may not be a whole number.
      2n * room >= (2n * needed < this.#perMinute ? 2n * needed : this.#perMinute) * PARTS
    if (this.parts < needed * PARTS && !isLent) return undefined
    const whole = room / PARTS
    const taken = this.parts < 0n && whole < wanted ? whole : wanted
    this.#set(this.parts - taken * PARTS)
    return Number(taken)
  }

  correct(extra: number): void {
    this.#set(this.parts - BigInt(extra) * PARTS)
  }

  #set(parts: bigint): void {
    const full = this.#perMinute * PARTS
    this.parts = parts > full ? full : parts < -full ? -full : parts
  }
}
