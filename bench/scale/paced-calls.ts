/**
 * Calls at a constant rate, each timed from the moment when it was due, so a stall counts for every
 * call that it delays.
 */

export interface TimedCall {
  /** On the scale of `performance.now()`. */
  readonly dueAt: number
  readonly ms: number
}

export interface PacedCalls {
  readonly calls: readonly TimedCall[]
  readonly failed: number
  /** Resolves when the last call is answered. */
  stop(): Promise<void>
}

const TICK_MS = 1

/** @param call rejects when the call fails */
export function paceCalls(perSecond: number, call: () => Promise<void>): PacedCalls {
  const calls: TimedCall[] = []
  const underWay = new Set<Promise<void>>()
  const startedAt = performance.now()
  let failed = 0
  let isStopped = false
  const time = async (dueAt: number) => {
    try {
      await call()
      calls.push({ dueAt, ms: performance.now() - dueAt })
    } catch {
      failed += 1 // Reported with the result.
    }
  }
  const run = async () => {
    for (let sent = 0; !isStopped; await Bun.sleep(TICK_MS)) {
      const due = ((performance.now() - startedAt) * perSecond) / 1_000
      for (; sent < due; sent += 1) {
        const timed = time(startedAt + (sent * 1_000) / perSecond)
        underWay.add(timed)
        void timed.then(() => underWay.delete(timed))
      }
    }
    await Promise.all(underWay)
  }
  const ended = run()
  return {
    calls,
    get failed() {
      return failed
    },
    async stop() {
      isStopped = true
      await ended
    },
  }
}

/** Of the calls that were due in this time; NaN without such calls. */
export function percentile(
  calls: readonly TimedCall[],
  share: number,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): number {
  const times = calls
    .filter(({ dueAt }) => dueAt >= fromMs && dueAt < toMs)
    .map(({ ms }) => ms)
    .sort((left, right) => left - right)
  return times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN
}

/**
 * Highest p99 of an idle node that allows a comparison. On an idle machine it is a few
 * milliseconds.
 */
const MOST_QUIET_MS = 10

/** The p99 of the busy node may be twice that of the idle node, or three milliseconds above it. */
export function judge(quietMs: number, besideMs: number): 'met' | 'NOT MET' | 'not measured' {
  if (!(quietMs <= MOST_QUIET_MS)) return 'not measured'
  return besideMs <= Math.max(2 * quietMs, quietMs + 3) ? 'met' : 'NOT MET'
}
