/**
 * Binds a server to its signals: SIGTERM and SIGINT end it, SIGHUP has it read its configuration
 * again, and no other one does anything. It must not know how a server ends, nor what it reads.
 */
import { isatty } from 'node:tty'

export interface SignalOrders {
  /** At SIGTERM, SIGINT, and at SIGHUP where the terminal that it was started from is closed. */
  readonly end: (signal: NodeJS.Signals) => void
  readonly reload: () => void
}

const STANDARD_INPUT = 0
let orders: SignalOrders | undefined
let wasReloadAsked = false

/**
 * From now on no SIGHUP, SIGUSR1 or SIGUSR2 ends the process, not even while it starts: a SIGHUP
 * that comes before there are orders is obeyed with them.
 */
export function hearSignals(): void {
  const startedFromTerminal = isatty(STANDARD_INPUT)
  process.on('SIGUSR1', () => {})
  process.on('SIGUSR2', () => {})
  process.on('SIGHUP', () => {
    if (startedFromTerminal) {
      if (orders === undefined) process.exit(1)
      orders.end('SIGHUP')
    } else if (orders === undefined) wasReloadAsked = true
    else orders.reload()
  })
}

export function obeySignals(given: SignalOrders): void {
  orders = given
  process.on('SIGTERM', given.end)
  process.on('SIGINT', given.end)
  if (wasReloadAsked) given.reload()
}
