/**
 * How long a piece of work takes, and for how long it holds the event loop at most. Must not know
 * what the work is.
 */
import { threadCpuMicros } from '../cpu-clock.ts'

export interface Held {
  readonly ms: number
  /** The longest time for which nobody else had a turn. */
  readonly loopMs: number
  /**
   * The most processor time that the thread had in one turn: on a machine with other work this says
   * more.
   */
  readonly loopCpuMs: number
  /** Turns that took more than two milliseconds of the processor. */
  readonly longTurns: number
}

const LONG_MS = 2
/** Turns that only look at the clock take less of the processor. */
const EMPTY_MS = 0.01
/**
 * After an empty turn the watch rests, for the work waits for others: turning on, by the million,
 * made more garbage than the work, and its collector's pauses were taken for the work's. Turns that
 * begin meanwhile count as one.
 */
const REST_MS = 1

export async function measureHold(work: () => Promise<unknown>): Promise<Held> {
  // Garbage of whatever was made before would be collected meanwhile, in turns that are not the
  // work's.
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
