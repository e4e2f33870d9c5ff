/**
 * Waits for a stretch of time in which this process always had its turn, so that others on the
 * machine had theirs. Must not know what they were to do in it.
 */

const TICK_MS = 20
/** A tick that is later than this was held up. */
const LATE_MS = 2 * TICK_MS

/** @param mostMs after so long it resolves in any case: a machine may be busy for ever */
export async function waitUntilCalm(calmMs: number, mostMs: number): Promise<void> {
  const until = performance.now() + mostMs
  const calm = new CalmClock()
  while (calm.calmForMs() < calmMs && performance.now() < until) await calm.tick()
}

/** How long nothing has held this process up. */
export class CalmClock {
  #since = performance.now()

  calmForMs(): number {
    return performance.now() - this.#since
  }

  async tick(): Promise<void> {
    const before = performance.now()
    await Bun.sleep(TICK_MS)
    if (performance.now() - before > LATE_MS) this.#since = performance.now()
  }
}
