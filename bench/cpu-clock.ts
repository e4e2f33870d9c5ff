/**
 * How much processor time a process or this thread used, as exactly as the kernel knows it. Knows
 * nothing of what it is.
 */
import { dlopen } from 'bun:ffi'

const { symbols } = dlopen('libc.so.6', {
  clock_gettime: { args: ['i32', 'ptr'], returns: 'i32' },
})

/**
 * Of the clock of a process: user and system time together, with that of threads that have ended
 * (`CPUCLOCK_SCHED`).
 */
const SCHEDULED = 2

/**
 * @returns microseconds; 0 when it has ended. /proc/<pid>/stat knows the same in steps of ten
 * milliseconds.
 */
export function cpuMicrosOf(pid: number): number {
  const time = new BigInt64Array(2)
  // The number of another process's clock, as clock_getcpuclockid(3) makes it.
  const failed = symbols.clock_gettime((~pid << 3) | SCHEDULED, time)
  const [seconds = 0n, nanoseconds = 0n] = time
  return failed === 0 ? Number(seconds) * 1e6 + Number(nanoseconds) / 1000 : 0
}

/** Of the thread that asks (`CLOCK_THREAD_CPUTIME_ID`). */
const THIS_THREAD = 3
/** Seconds and nanoseconds of eight bytes each, of which the lower halves are enough. */
const threadTime = new Int32Array(4)

/**
 * @returns microseconds, to a part of one: `process.threadCpuUsage` knows them in steps of four
 * milliseconds.
 */
export function threadCpuMicros(): number {
  // The array and not its address, which keeps nothing: the collector gave its memory to others,
  // and the time was written into what they had received.
  symbols.clock_gettime(THIS_THREAD, threadTime)
  return (threadTime[0] ?? 0) * 1e6 + (threadTime[2] ?? 0) / 1000
}
