/**
 * Connects a server to its signals: SIGTERM and SIGINT end the server, SIGHUP reloads its
 * configuration, all others are ignored.
 */
import { isatty } from 'node:tty'

export interface SignalOrders {
  readonly end: (signal: NodeJS.Signals) => void
  readonly reload: () => void
}

const STANDARD_INPUT = 0
let orders: SignalOrders | undefined
let wasReloadAsked = false

/**
 * Keeps SIGHUP, SIGUSR1 and SIGUSR2 from ending the process, even during the start; an early SIGHUP
 * is handled after the start.
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
