/** The processor time of a process or of this thread, at the kernel's full precision. */
import { dlopen } from 'bun:ffi'

const { symbols } = dlopen('libc.so.6', {
  clock_gettime: { args: ['i32', 'ptr'], returns: 'i32' },
})

/**
 * The process clock that counts user and system time, including ended threads (`CPUCLOCK_SCHED`).
 */
const SCHEDULED = 2

/**
 * @returns microseconds; 0 for an ended process. /proc/<pid>/stat has steps of ten milliseconds.
 */
export function cpuMicrosOf(pid: number): number {
  const time = new BigInt64Array(2)
  // The clock id of another process, computed like clock_getcpuclockid(3).
  const failed = symbols.clock_gettime((~pid << 3) | SCHEDULED, time)
  const [seconds = 0n, nanoseconds = 0n] = time
  return failed === 0 ? Number(seconds) * 1e6 + Number(nanoseconds) / 1000 : 0
}

/** The clock of the calling thread (`CLOCK_THREAD_CPUTIME_ID`). */
const THIS_THREAD = 3
/** Seconds and nanoseconds, eight bytes each, of which the lower halves are used. */
const threadTime = new Int32Array(4)

/** @returns fractional microseconds; `process.threadCpuUsage` has steps of four milliseconds. */
export function threadCpuMicros(): number {
  // Pass the array and not its address: an address does not protect memory from the garbage
  // collector, which once reused it, so the time overwrote other data.
  symbols.clock_gettime(THIS_THREAD, threadTime)
  return (threadTime[0] ?? 0) * 1e6 + (threadTime[2] ?? 0) / 1000
}
