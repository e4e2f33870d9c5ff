import { formatDuration } from '../../format/figures.ts'
import { classNames } from '../../ui/class-names.ts'
import { nameError } from './explain-error.ts'
import type { Log } from './log-filter.ts'

export interface TimedAttempt {
  readonly target: string
  readonly status: number | null
  readonly afterMs: number
  readonly durationMs: number
  /** `ended`: the answer was no longer needed. */
  readonly state: 'answered' | 'failed' | 'ended'
  readonly reason: string | undefined
}

/**
 * A single successful attempt is not in the log's list, so the attempt is derived from the call
 * itself.
 */
export function listAttempts(log: Log): readonly TimedAttempt[] {
  if (log.attemptDetails !== null) {
    // Rows of earlier versions do not say why an attempt failed.
    const isOfBefore = log.attemptDetails.every(({ errorKind }) => errorKind == null)
    return log.attemptDetails.map(({ errorKind, errorCode, ...attempt }) => ({
      ...attempt,
      state: toState(attempt.status, errorKind, isOfBefore && log.outcome !== 'cancelled'),
      reason: errorKind == null ? undefined : toReason(errorKind, errorCode),
    }))
  }
  if (log.target === null || log.attempts === 0) return []
  const { target, status, durationMs } = log
  const state = status < 400 ? ('answered' as const) : ('failed' as const)
  return [{ target, status, afterMs: 0, durationMs, state, reason: undefined }]
}

function toState(
  status: number | null,
  errorKind: string | null | undefined,
  mayHaveFailed: boolean,
): TimedAttempt['state'] {
  if (errorKind != null || (status ?? 0) >= 400) return 'failed'
  if (status !== null) return 'answered'
  return mayHaveFailed ? 'failed' : 'ended'
}

function toReason(kind: string, code: string | null | undefined): string {
  return code == null ? nameError(kind) : `${nameError(kind)} (${nameError(code)})`
}

const LOOKS = {
  answered: ['text-ok', 'bg-ok'],
  failed: ['text-danger', 'bg-danger'],
  ended: ['text-ink-soft', 'bg-ink-faint'],
} as const satisfies Readonly<Record<TimedAttempt['state'], readonly [string, string]>>

export function scaleEnd(log: Log, attempts: readonly TimedAttempt[]): number {
  const ends = attempts.map(({ afterMs, durationMs }) => afterMs + durationMs)
  return Math.max(1, log.durationMs, log.firstByteMs ?? 0, ...ends)
}

export function CallTiming({ log }: { readonly log: Log }) {
  const attempts = listAttempts(log)
  if (attempts.length === 0) {
    return (
      <p className="text-[13px] text-ink-soft">
        No provider was asked: the call ended after {formatDuration(log.durationMs)}.
      </p>
    )
  }
  const endMs = scaleEnd(log, attempts)
  const share = (ms: number) => `${Math.min(100, (ms / endMs) * 100)}%`
  return (
    <div>
      <ol aria-label="Attempts" className="flex flex-col gap-3">
        {attempts.map((attempt, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: attempts have no other identity, and their order is fixed
          <li key={index}>
            <div className="flex items-baseline justify-between gap-3 text-[13px]">
              <span className="min-w-0 truncate text-ink" title={attempt.target}>
                {attempts.length > 1 && (
                  <span className="mr-1.5 text-ink-faint tabular-nums">{index + 1}.</span>
                )}
                {attempt.target}
              </span>
              <span className={classNames('shrink-0 text-xs font-medium', LOOKS[attempt.state][0])}>
                {attempt.status ?? (attempt.state === 'ended' ? 'given up' : 'no answer')}
              </span>
            </div>
            <Bar
              left={share(attempt.afterMs)}
              width={share(attempt.durationMs)}
              className={LOOKS[attempt.state][1]}
              mark={
                log.firstByteMs === null || index < attempts.length - 1
                  ? undefined
                  : share(log.firstByteMs)
              }
            />
            {attempt.reason !== undefined && (
              <p className="mt-1 text-xs font-medium text-danger">Failed: {attempt.reason}</p>
            )}
            <p className="mt-1 text-xs text-ink-soft tabular-nums">
              {index === 0 && attempt.afterMs === 0
                ? 'Asked at once'
                : `Asked after ${formatDuration(attempt.afterMs)}`}
              , took {formatDuration(attempt.durationMs)}
            </p>
          </li>
        ))}
      </ol>
      <div
        aria-hidden
        className="mt-2 flex justify-between border-t border-line pt-1 text-[11px] text-ink-faint tabular-nums"
      >
        <span>0</span>
        <span>{formatDuration(endMs / 2)}</span>
        <span>{formatDuration(endMs)}</span>
      </div>
      {log.firstByteMs !== null && (
        <p className="mt-2 flex items-center gap-2 text-xs text-ink-soft">
          <span aria-hidden className="h-3.5 w-0.5 bg-ink" />
          First token after {formatDuration(log.firstByteMs)}
        </p>
      )}
    </div>
  )
}

function Bar({
  left,
  width,
  className,
  mark,
}: {
  readonly left: string
  readonly width: string
  readonly className: string
  readonly mark: string | undefined
}) {
  return (
    <div aria-hidden className="relative mt-1.5 h-2.5 rounded bg-sunken">
      <div
        className={classNames('absolute inset-y-0 min-w-1 rounded', className)}
        style={{ left: `min(${left}, 100% - 0.25rem)`, width }}
      />
      {mark !== undefined && (
        <div
          className="absolute -inset-y-1 w-0.5 bg-ink ring-1 ring-surface"
          style={{ left: `min(${mark}, 100% - 0.125rem)` }}
        />
      )}
    </div>
  )
}
