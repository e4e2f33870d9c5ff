/**
 * Limits control-plane requests per minute, by account, or by address for unknown callers. Per
 * node, because the limit protects the node's own work.
 */
import type { Stopwatch } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import { networkOf } from '../core/http.ts'
import type { AccountId } from '../core/ids.ts'
import { TokenBucket } from '../limits/token-bucket.ts'

/** The maximum number of accounts, and of addresses. The longest idle entry is dropped first. */
const MOST_REMEMBERED = 10_000

export interface RequestRatesOptions {
  readonly perAccount: number
  readonly perAddress: number
  readonly clock: Stopwatch
}

interface Counted {
  readonly accountId: AccountId
  readonly actor: { readonly type: string }
}

export class RequestRates {
  readonly #options: RequestRatesOptions
  /** In the order of their last request. */
  readonly #accounts = new Map<string, TokenBucket>()
  readonly #addresses = new Map<string, TokenBucket>()

  constructor(options: RequestRatesOptions) {
    this.#options = options
  }

  /** @throws GatewayError `rate_limited` with `retry-after` */
  take({ accountId, actor }: Counted): void {
    // Keys and users have separate limits: a busy program must not lock people out of the
    // dashboard, where they can delete its key.
    const waitMs = this.#take(
      this.#accounts,
      `${actor.type} ${accountId}`,
      this.#options.perAccount,
    )
    if (waitMs > 0)
      throw tooMany(`this account makes ${this.#options.perAccount} a minute at most`, waitMs)
  }

  /** @throws GatewayError `rate_limited` with `retry-after` */
  takeUnknown(address: string | undefined): void {
    const waitMs = this.#take(
      this.#addresses,
      networkOf(address ?? 'unknown'),
      this.#options.perAddress,
    )
    if (waitMs > 0)
      throw tooMany(
        `without a key or a session ${this.#options.perAddress} a minute are taken`,
        waitMs,
      )
  }

  /** @returns milliseconds until the next request is allowed; 0 for now */
  #take(buckets: Map<string, TokenBucket>, name: string, perMinute: number): number {
    const nowMs = this.#options.clock.elapsed()
    const bucket = buckets.get(name) ?? new TokenBucket(perMinute, nowMs)
    buckets.delete(name)
    buckets.set(name, bucket)
    for (const oldest of buckets.keys()) {
      if (buckets.size <= MOST_REMEMBERED) break
      buckets.delete(oldest)
    }
    bucket.refill(perMinute, nowMs)
    if (!bucket.holds(1)) return bucket.waitMsFor(1)
    bucket.charge(1)
    return 0
  }
}

function tooMany(why: string, waitMs: number): GatewayError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000))
  return new GatewayError(
    'rate_limited',
    `Too many requests to the control plane: ${why}. Please try again in ${seconds}s.`,
    { headers: { 'retry-after': String(seconds) } },
  )
}
