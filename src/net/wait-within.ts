/**
 * Waiting for work that others wait for too: it goes on when one of them has no time left. Knows no
 * LLM.
 */
import type { LeaveSignal } from './messages.ts'
import { UpstreamFailure } from './upstream-failure.ts'

export interface WaitLimits {
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: LeaveSignal
  /** Milliseconds. */
  readonly withinMs: number
}

/** @throws UpstreamFailure `cancelled` or `total_timeout`, and what the work itself throws */
export async function waitWithin<T>(
  work: Promise<T>,
  { signal, withinMs }: WaitLimits,
): Promise<T> {
  const over = Promise.withResolvers<never>()
  const leave = () =>
    over.reject(new UpstreamFailure('cancelled', 'The client left before the answer was complete.'))
  const timer = setTimeout(
    () =>
      over.reject(
        new UpstreamFailure('total_timeout', 'The upstream did not finish its answer in time.'),
      ),
    withinMs,
  )
  if (signal.aborted) leave()
  else signal.addEventListener('abort', leave, { once: true })
  try {
    return await Promise.race([work, over.promise])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', leave)
  }
}
