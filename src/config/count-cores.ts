/**
 * How many cores this process may use. Knows the operating system, and nothing of what the cores
 * are for.
 */
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

/**
 * At least 1. A container's share of processor time counts, rounded up, where it is less than the
 * machine has.
 */
export function countCores(): number {
  return Math.max(1, Math.min(availableParallelism(), Math.ceil(coresOfQuota(readQuota()))))
}

/**
 * @param text of cgroup v2's `cpu.max`: microseconds of processor time in a period, or `max`, and
 * the period
 */
export function coresOfQuota(text: string): number {
  const [quota, period] = text.trim().split(' ').map(Number)
  return quota !== undefined && period !== undefined && quota > 0 && period > 0
    ? quota / period
    : Infinity
}

function readQuota(): string {
  try {
    return readFileSync('/sys/fs/cgroup/cpu.max', 'utf8')
  } catch {
    // Another system, or the group of all processes, which has none.
    return 'max'
  }
}
