/**
 * Lets calls go before the runtime's compilers where both want the same core. Knows nothing of what
 * is served.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

/** The name that its threads have. */
const COMPILER = 'JITWorker'
const THREADS = '/proc/self/task'
/**
 * They get a quarter of a core that calls want too: a call that comes is served at once, and a busy
 * node becomes fast in its first seconds all the same. At 19 it did not (docs/decisions/0006).
 */
const NICER_BY = 5

/** To be repeated, for threads may come later. On Linux alone: others give threads no niceness. */
export function yieldCompilers(): void {
  if (process.platform !== 'linux') return
  const niceness = Math.min(19, getPriority() + NICER_BY)
  for (const thread of readdirSync(THREADS)) {
    try {
      const name = readFileSync(`${THREADS}/${thread}/comm`, 'utf8')
      if (name.startsWith(COMPILER)) setPriority(Number(thread), niceness)
    } catch {
      // It has ended meanwhile, or the system forbids it: calls are served as before.
    }
  }
}
