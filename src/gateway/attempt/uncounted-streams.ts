/**
 * Remembers in memory which servers refuse `stream_options`, the member that asks for a stream's
 * usage.
 */
import type { Stopwatch } from '../../core/clock.ts'
import { GatewayError } from '../../core/errors.ts'
import type { AcceptedRequest } from '../../wire/dialect.ts'
import type { Target } from '../plan/compile-target.ts'

/** After this time the member is sent again, because the server may have been replaced. */
const FORGOTTEN_AFTER_MS = 86_400_000
const MAX_REMEMBERED = 10_000

type Named = Pick<Target, 'url' | 'model'>

export class UncountedStreams {
  readonly #clock: Stopwatch
  readonly #refusedAtMs = new Map<string, number>()

  constructor(clock: Stopwatch) {
    this.#clock = clock
  }

  has(target: Named): boolean {
    if (this.#refusedAtMs.size === 0) return false
    const refusedAtMs = this.#refusedAtMs.get(keyOf(target))
    return refusedAtMs !== undefined && this.#clock.elapsed() - refusedAtMs < FORGOTTEN_AFTER_MS
  }

  note(target: Named): void {
    const key = keyOf(target)
    this.#refusedAtMs.delete(key)
    this.#refusedAtMs.set(key, this.#clock.elapsed())
    const [oldest] = this.#refusedAtMs.keys()
    if (this.#refusedAtMs.size > MAX_REMEMBERED && oldest !== undefined)
      this.#refusedAtMs.delete(oldest)
  }
}

function keyOf({ url, model }: Named): string {
  return `${url}\n${model}`
}

const REFUSING: ReadonlySet<number> = new Set([400, 422])
const NAMED = /\bstream_options\b|\binclude_usage\b/

/** True when a target refused the member and the gateway, not the caller, had added the member. */
export function refusesStreamOptions(
  thrown: unknown,
  { body, stream }: Pick<AcceptedRequest, 'body' | 'stream'>,
): thrown is GatewayError {
  if (!stream || !(thrown instanceof GatewayError)) return false
  const { kind, status, message } = thrown
  if (kind !== 'upstream_error' || !REFUSING.has(status) || !NAMED.test(message)) return false
  const member = body.get('stream_options')
  return member === undefined || body.type(member) === 'null'
}
