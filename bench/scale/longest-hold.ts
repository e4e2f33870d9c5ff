/** How long a piece of work takes, and for how long it holds the event loop at most. Must not know what the work is. */

export interface Held {
  readonly ms: number
  /** The longest time for which nobody else had a turn. */
  readonly loopMs: number
  /** The most processor time of one turn: on a machine with other work this says more. */
  readonly loopCpuMs: number
}

export async function measureHold(work: () => Promise<unknown>): Promise<Held> {
  let isOver = false
  let loopMs = 0
  let loopCpuMs = 0
  const startedAt = performance.now()
  let lastTurnAt = startedAt
  let lastCpuMs = readCpuMs()
  const endTurn = () => {
    const [now, cpuMs] = [performance.now(), readCpuMs()]
    loopMs = Math.max(loopMs, now - lastTurnAt)
    loopCpuMs = Math.max(loopCpuMs, cpuMs - lastCpuMs)
    lastTurnAt = now
    lastCpuMs = cpuMs
  }
  const watch = () => {
    endTurn()
    if (!isOver) setImmediate(watch)
  }
  setImmediate(watch)
  await work()
  isOver = true
  endTurn()
  return { ms: lastTurnAt - startedAt, loopMs, loopCpuMs }
}

function readCpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
