/**
 * Two runs on one machine would measure each other, and find each other's servers at their ports.
 * Knows nothing of either.
 */
import { PORTS } from './ports.ts'

/** Held until the process ends. @throws when another run holds it */
export function runAlone(port: number = PORTS.lock): void {
  try {
    // It does not keep the process alive.
    Bun.listen({ hostname: '127.0.0.1', port, socket: { data() {} } }).unref()
  } catch (cause) {
    throw new Error(`another benchmark or profile is running here: it has port ${port}`, { cause })
  }
}
