/**
 * Waits until the process was not delayed for a while, so other processes had processor time too.
 */

const TICK_MS = 20
/** A tick later than this counts as delayed. */
const LATE_MS = 2 * TICK_MS

/** @param mostMs resolves after this time in any case, because a machine may always be busy */
export async function waitUntilCalm(calmMs: number, mostMs: number): Promise<void> {
  const until = performance.now() + mostMs
  const calm = new CalmClock()
  while (calm.calmForMs() < calmMs && performance.now() < until) await calm.tick()
}

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
