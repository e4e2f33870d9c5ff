/**
 * Tells of exports that fail, once a minute at most: a collector that is down must not fill the
 * log.
 */
import type { Log } from './log.ts'

const QUIET_MS = 60_000

export type ReportExportFailure = (signal: 'traces' | 'metrics', error: Error | undefined) => void

export function createExportFailureReport(
  log: Log,
  now: () => number = () => performance.now(),
): ReportExportFailure {
  let quietUntil = Number.NEGATIVE_INFINITY
  let failures = 0
  return (signal, error) => {
    failures += 1
    if (now() < quietUntil) return
    // The message alone: an error of an HTTP client may hold the headers that it sent.
    log.warn(
      { signal, failures, reason: error?.message ?? 'unknown' },
      'telemetry could not be exported',
    )
    quietUntil = now() + QUIET_MS
    failures = 0
  }
}
