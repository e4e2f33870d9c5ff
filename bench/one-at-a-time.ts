/**
 * Allows one run at a time on a machine: two runs would measure each other and use the same ports.
 */
import { PORTS } from './ports.ts'

/**
 * Held until the process ends.
 * @throws Error when another run holds the lock
 */
export function runAlone(port: number = PORTS.lock): void {
  try {
    // The lock does not keep the process alive.
    Bun.listen({ hostname: '127.0.0.1', port, socket: { data() {} } }).unref()
  } catch (cause) {
    throw new Error(
      `Another benchmark or profile is running on this machine: port ${port} is in use.`,
      { cause },
    )
  }
}
