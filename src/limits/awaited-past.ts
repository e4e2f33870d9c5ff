/** The first reading of past usage, which calls with a quota or a budget wait for. */
import { GatewayError } from '../core/errors.ts'

export interface PastReading {
  readonly quotas: Promise<void>
  readonly budgets: Promise<void>
}

export class AwaitedPast {
  /**
   * Each promise is undefined once usage is counted, and rejects with a GatewayError `unavailable`.
   */
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
      throw new GatewayError('unavailable', 'The current usage cannot be read. Try again soon.', {
        cause,
      })
    })
    // Without this handler, a failure that no call waits for would end the process.
    past.catch(() => {})
    return past
  }
}
