/** Waits for shared work until the work is done or the caller's time is over. */
import type { LeaveSignal } from './messages.ts'
import { UpstreamFailure } from './upstream-failure.ts'

export interface WaitLimits {
  readonly signal: LeaveSignal
  readonly withinMs: number
}

/** @throws UpstreamFailure `cancelled` or `total_timeout`, and the errors of the work itself */
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
