/**
 * Calls at a steady rate, each timed from the moment it was due: a stall counts for every call that
 * waited behind it.
 */

export interface TimedCall {
  /** As `performance.now()` has it. */
  readonly dueAt: number
  readonly ms: number
}

export interface PacedCalls {
  readonly calls: readonly TimedCall[]
  readonly failed: number
  /** Resolves when the last has its answer. */
  stop(): Promise<void>
}

const TICK_MS = 1

/** @param call rejects where it failed */
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
      failed += 1 // Told with the result.
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

/** Of the calls that were due in that time; NaN: there were none. */
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

/** A quiet node's own, on a quiet machine, is a few: with more there is nothing to compare with. */
const MOST_QUIET_MS = 10

/**
 * Of two p99: beside the work it may be twice that of the quiet node, or three milliseconds above
 * it.
 */
export function judge(quietMs: number, besideMs: number): 'met' | 'NOT MET' | 'not measured' {
  if (!(quietMs <= MOST_QUIET_MS)) return 'not measured'
  return besideMs <= Math.max(2 * quietMs, quietMs + 3) ? 'met' : 'NOT MET'
}
