/** The HTTP/1.1 server for clients, over the runtime's sockets. */
import type { SocketHandler } from 'bun'
import { systemClock, type Timekeeper } from '../core/clock.ts'
import { createCallId } from '../core/ids.ts'
import type { AddressOf } from './client-address.ts'
import {
  ClientConnection,
  type ConnectionLimits,
  type ConnectionPorts,
} from './client-connection.ts'
import { ClientRequest } from './client-request.ts'
import type { DescriptorMonitor } from './descriptor-monitor.ts'
import { type Answer, type HttpRequest, WholeAnswer } from './messages.ts'
import { stopAccepting } from './stop-accepting.ts'
import { CalmClock } from './wait-until-calm.ts'

export interface Listener {
  /** `http://HOST:PORT` */
  readonly url: string
  /** Still accepts everything, and asks clients with each answer to reconnect. */
  beginDraining(): void
  /**
   * Accepts no new connections, and waits until open calls have ended and connections are quiet.
   * @returns true when all calls ended
   */
  drain(timeoutMs: number): Promise<boolean>
  stop(): Promise<void>
}

export type Handle = (request: HttpRequest, addressOf: AddressOf) => Promise<Answer>

export interface ListenOptions {
  readonly connections?: ConnectionLimits | undefined
  readonly descriptors?: Pick<DescriptorMonitor, 'isCrowded' | 'mostConnections'> | undefined
  readonly clock?: Pick<Timekeeper, 'now' | 'elapsed' | 'every'>
  /** Reports a handler's error. The client gets the request id. */
  readonly onBroken?: (thrown: unknown, requestId: string) => void
}

const USUAL: ConnectionLimits = { idleMs: 75_000, stallMs: 360_000 }
/** Maximum number of connections to examine for one that can be closed. */
const MOST_EXAMINED = 64
const SWEEP_MS = 1_000
const DRAIN_POLL_MS = 20
/**
 * After this time without a request, requests that were sent before the last `connection: close`
 * answer have arrived.
 */
const QUIET_MS = 200
/** The longest wait for quiet, because some machines are always busy. */
const MOST_QUIET_MS = 2_000

export interface Address {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** True when other workers listen on the same port. */
  readonly isShared?: boolean
  /** How the operator sets another port or host; defaults to the command's options. */
  readonly settings?: ListenSettings
}

export interface ListenSettings {
  readonly port: string
  readonly host: string
}

/**
 * @throws Error with `syscall: 'listen'`, the system's `code` and the address's `settings` when it
 * cannot listen
 */
export function listen(
  address: Address,
  handle: Handle,
  { connections: limits = USUAL, descriptors, clock = systemClock, onBroken }: ListenOptions = {},
): Listener {
  const open = new Set<ClientConnection>()
  let isDraining = false
  let lastRequestAt = 0
  let endSweeps: (() => void) | undefined
  const sweep = () => {
    const now = clock.elapsed()
    for (const connection of open) connection.sweep(now)
  }
  const mostOpen = descriptors?.mostConnections ?? Number.POSITIVE_INFINITY
  /**
   * Closes the oldest connection without a request in progress, so silent connections cannot block
   * new connections. Prefers connections that never sent a request: on the others, a request may be
   * on its way.
   */
  const makeRoom = () => {
    const now = clock.elapsed()
    let looks = 0
    let kept: ClientConnection | undefined
    for (const connection of open) {
      if (connection.isReplaceable(now)) {
        if (!connection.hasSentRequest) {
          connection.cut()
          return
        }
        kept ??= connection
      }
      looks += 1
      if (looks === MOST_EXAMINED) break
      // The next search starts after this connection.
      open.delete(connection)
      open.add(connection)
    }
    kept?.cut()
  }
  const ports: ConnectionPorts = {
    limits,
    now: () => clock.elapsed(),
    dateLine: createDateLines(clock),
    isCrowded: () => isDraining || descriptors?.isCrowded === true,
    handle(request) {
      if (isDraining) lastRequestAt = performance.now()
      return handle(request, addressOf)
    },
    refuse,
    refuseBroken(thrown) {
      const requestId = createCallId()
      onBroken?.(thrown, requestId)
      const lines = `cache-control: no-store\r\nx-request-id: ${requestId}\r\n`
      const message = 'The gateway failed to handle this request.'
      return toWholeAnswer(500, 'internal_error', message, lines)
    },
    onOpen(connection) {
      if (open.size >= mostOpen) makeRoom()
      open.add(connection)
      endSweeps ??= clock.every(SWEEP_MS, sweep)
    },
    onOver(connection) {
      open.delete(connection)
      if (open.size > 0) return
      endSweeps?.()
      endSweeps = undefined
    },
  }
  const server = startListening(address, {
    ...ClientConnection.handlers,
    open: (socket) => ClientConnection.open(ports, socket),
  })
  const isBusy = () => open.values().some((connection) => connection.isBusy)
  return {
    url: `http://${address.host.includes(':') ? `[${address.host}]` : address.host}:${server.port}`,
    beginDraining() {
      isDraining = true
    },
    async drain(timeoutMs) {
      isDraining = true
      const until = performance.now() + timeoutMs
      if (await stopAccepting(server.port)) {
        lastRequestAt = performance.now()
        const calm = new CalmClock()
        const isQuiet = () => {
          const quietMs = performance.now() - lastRequestAt
          const isCalm = Math.min(quietMs, calm.calmForMs()) >= Math.min(QUIET_MS, timeoutMs)
          return !isBusy() && (isCalm || quietMs >= MOST_QUIET_MS)
        }
        while (!isQuiet() && performance.now() < until) await calm.tick()
      }
      server.stop()
      for (const connection of open) connection.closeIdle()
      while (isBusy() && performance.now() < until) await Bun.sleep(DRAIN_POLL_MS)
      return !isBusy()
    },
    async stop() {
      server.stop()
      for (const connection of open) connection.cut()
    },
  }
}

function startListening(
  { host, port, isShared, settings }: Address,
  socket: SocketHandler<ClientConnection>,
) {
  try {
    // The runtime supports `reusePort`, but its types lack it.
    const shared = { reusePort: isShared === true }
    return Bun.listen<ClientConnection>({ hostname: host, port, ...shared, socket })
  } catch (thrown) {
    const message = `It cannot listen on port ${port} of ${host}`
    const { code = 'EADDRNOTAVAIL' } = thrown as { readonly code?: string }
    throw Object.assign(new Error(message, { cause: thrown }), {
      code,
      syscall: 'listen',
      settings,
    })
  }
}

const addressOf: AddressOf = (request) =>
  request instanceof ClientRequest ? request.remoteAddress : undefined

/** Invalid requests belong to no dialect, so the body is plain. */
function refuse(status: number, message: string): WholeAnswer {
  return toWholeAnswer(status, 'invalid_request', message)
}

function toWholeAnswer(status: number, error: string, message: string, lines = ''): WholeAnswer {
  const body = Buffer.from(JSON.stringify({ error, message }))
  return new WholeAnswer(status, `content-type: application/json\r\n${lines}`, body)
}

function createDateLines(clock: Pick<Timekeeper, 'now'>): () => string {
  let second = 0
  let line = ''
  return () => {
    const now = Math.floor(clock.now() / 1000)
    if (now !== second) {
      second = now
      line = `date: ${new Date(now * 1000).toUTCString()}\r\n`
    }
    return line
  }
}
