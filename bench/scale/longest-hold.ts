/**
 * Measures how long a piece of work takes, and the longest time for which it blocks the event loop.
 */
import { threadCpuMicros } from '../cpu-clock.ts'

export interface Held {
  readonly ms: number
  /** The longest time without a turn for other work, in milliseconds. */
  readonly loopMs: number
  /**
   * The thread's highest processor time in one turn, in milliseconds: more reliable on a machine
   * with other work.
   */
  readonly loopCpuMs: number
  /** Turns with more than two milliseconds of processor time. */
  readonly longTurns: number
}

const LONG_MS = 2
/** Processor time below which a turn only checked the clock, in milliseconds. */
const EMPTY_MS = 0.01
/**
 * After an empty turn the watch pauses, because the work waits for something else. Without the
 * pause, millions of turns made more garbage than the work, and the collector's pauses counted as
 * the work's. Turns that begin during the pause count as one.
 */
const REST_MS = 1

export async function measureHold(work: () => Promise<unknown>): Promise<Held> {
  // Otherwise earlier garbage would be collected during the measurement.
  Bun.gc(true)
  let isOver = false
  let [loopMs, loopCpuMs, longTurns] = [0, 0, 0]
  const startedAt = performance.now()
  let lastTurnAt = startedAt
  let lastCpuMs = readCpuMs()
  let restMs = 0
  const endTurn = () => {
    const [now, cpuMs] = [performance.now(), readCpuMs()]
    const tookMs = cpuMs - lastCpuMs
    loopMs = Math.max(loopMs, now - lastTurnAt - restMs)
    loopCpuMs = Math.max(loopCpuMs, tookMs)
    if (tookMs > LONG_MS) longTurns += 1
    restMs = tookMs < EMPTY_MS ? REST_MS : 0
    lastTurnAt = now
    lastCpuMs = cpuMs
  }
  const watch = () => {
    endTurn()
    if (isOver) return
    if (restMs > 0) setTimeout(watch, restMs)
    else setImmediate(watch)
  }
  setImmediate(watch)
  await work()
  isOver = true
  endTurn()
  return { ms: lastTurnAt - startedAt, loopMs, loopCpuMs, longTurns }
}

function readCpuMs(): number {
  return threadCpuMicros() / 1000
}
