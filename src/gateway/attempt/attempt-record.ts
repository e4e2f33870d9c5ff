/** What is remembered of each time that an upstream was asked, and how a call is told from it. */
import type { CallAttempt, CallOutcome } from '../../core/call.ts'
import type { Stopwatch } from '../../core/clock.ts'
import type { AnswerOutcome } from '../../wire/codec.ts'

/** How an upstream is told in whose trace it works (https://www.w3.org/TR/trace-context/). */
export interface AttemptTrace {
  /** 16 hexadecimal digits. */
  readonly spanId: string
  /** `traceparent`, and `tracestate` where the caller sent one that counts. */
  readonly headers: Readonly<Record<string, string>>
}

export interface AttemptRecord {
  /** `provider/model`. */
  readonly target: string
  /** On the clock's `elapsed` scale, as is `failedAt`. */
  readonly askedAt: number
  /** Null until it has answered with one. */
  status: number | null
  /** Null unless it failed or was given up. */
  failedAt: number | null
  /** Whether the platform pays for it. */
  isPlatforms: boolean
  /** Whether the request went out: from then on the upstream may charge for it. */
  isSent: boolean
  /**
   * The gateway itself ended it, before an answer had begun and without a failure of the
   * upstream's.
   */
  isGivenUp: boolean
  /** Where the call is traced. */
  readonly trace: AttemptTrace | undefined
}

export function beginAttempt(
  clock: Stopwatch,
  target: string,
  trace?: AttemptTrace,
): AttemptRecord {
  return {
    target,
    askedAt: clock.elapsed(),
    status: null,
    failedAt: null,
    isPlatforms: false,
    isSent: false,
    isGivenUp: false,
    trace,
  }
}

/** Its upstream goes on for nobody, and may charge for what it read. */
export function giveUpAttempt(attempt: AttemptRecord): void {
  const hasRefused = attempt.status !== null && (attempt.status < 200 || attempt.status > 299)
  if (attempt.isSent && attempt.failedAt === null && !hasRefused) attempt.isGivenUp = true
}

/** @param call `begunAt` on the clock's `elapsed` scale */
export function toOutcome(
  clock: Stopwatch,
  call: { readonly begunAt: number; readonly attempts: readonly AttemptRecord[] },
): AnswerOutcome {
  const now = clock.elapsed()
  return {
    latencyMs: Math.round(now - call.begunAt),
    attempts: call.attempts.map(({ target, status, askedAt, failedAt }) => ({
      target,
      status,
      ms: Math.round((failedAt ?? now) - askedAt),
    })),
  }
}

/** What the ledger keeps of them: nothing where one attempt was enough, which is nearly always. */
export function toAttemptDetails(
  clock: Stopwatch,
  attempts: readonly AttemptRecord[],
  call: { readonly outcome: CallOutcome; readonly durationMs: number },
): readonly CallAttempt[] | undefined {
  if (attempts.length === 0 || (attempts.length === 1 && call.outcome === 'succeeded'))
    return undefined
  const now = clock.elapsed()
  const startedAt = now - call.durationMs
  return attempts.map(({ target, status, askedAt, failedAt }) => ({
    target,
    status,
    afterMs: Math.max(0, Math.round(askedAt - startedAt)),
    durationMs: Math.round((failedAt ?? now) - askedAt),
  }))
}
