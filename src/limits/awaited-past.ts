/**
 * The use of earlier processes: its sums, and the wait until they are counted. Knows neither quotas
 * nor budgets, nor where the figures are read.
 */
import { GatewayError } from '../core/errors.ts'
import type { AccountId, KeyId } from '../core/ids.ts'
import type { Amounts } from './usage-counter.ts'

/** Usage of earlier calls that belongs together. */
export interface PastUsage extends Amounts {
  readonly accountId: AccountId
  readonly keyId: KeyId
  readonly gateId: string
  readonly countsForQuota: boolean
  /** Calls whose cost is not known. */
  readonly unpricedCalls: number
}

export interface PastSums {
  tokens: number
  microUsd: number
  unpricedCalls: number
}

export function sumOf(past: readonly PastUsage[]): PastSums {
  const sum = { tokens: 0, microUsd: 0, unpricedCalls: 0 }
  for (const usage of past) addPast(sum, usage)
  return sum
}

export function addPast(sums: PastSums, past: Readonly<PastSums>): void {
  sums.tokens += past.tokens
  sums.microUsd += past.microUsd
  sums.unpricedCalls += past.unpricedCalls
}

export function raiseTo(sums: PastSums, past: Readonly<PastSums>): void {
  sums.tokens = Math.max(sums.tokens, past.tokens)
  sums.microUsd = Math.max(sums.microUsd, past.microUsd)
  sums.unpricedCalls = Math.max(sums.unpricedCalls, past.unpricedCalls)
}

/** Reading that is under way; it rejects when it could not be read. That of budgets ends last. */
export interface PastReading {
  readonly quotas: Promise<void>
  readonly budgets: Promise<void>
}

export class AwaitedPast {
  /** Each is undefined once it is counted, and rejects with a GatewayError `unavailable`. */
  #quotas: Promise<void> | undefined
  #budgets: Promise<void> | undefined
  #isUnreadable = false

  get quotas(): Promise<void> | undefined {
    return this.#quotas
  }

  get budgets(): Promise<void> | undefined {
    return this.#budgets
  }

  await(reading: PastReading): void {
    const quotas = this.#heed(reading.quotas, () => {
      if (this.#quotas === quotas) this.#quotas = undefined
    })
    const budgets = this.#heed(reading.budgets, () => {
      this.#isUnreadable = false
      if (this.#budgets === budgets) this.#budgets = undefined
    })
    this.#quotas = quotas
    this.#budgets = budgets
  }

  state(): 'ok' | 'reading' | 'failing' {
    if (this.#budgets === undefined) return 'ok'
    return this.#isUnreadable ? 'failing' : 'reading'
  }

  #heed(reading: Promise<void>, onCounted: () => void): Promise<void> {
    const past = reading.then(onCounted, (cause: unknown) => {
      this.#isUnreadable = true
      throw new GatewayError(
        'unavailable',
        'What was used before cannot be read. Try again soon.',
        { cause },
      )
    })
    // Nobody may be waiting.
    past.catch(() => {})
    return past
  }
}
