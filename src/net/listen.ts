/**
 * The server that clients connect to: HTTP/1.1 over sockets of the runtime. It must not know what
 * the paths do.
 */
import type { SocketHandler } from 'bun'
import { systemClock, type Timekeeper } from '../core/clock.ts'
import type { AddressOf } from './client-address.ts'
import {
  ClientConnection,
  type ConnectionLimits,
  type ConnectionPorts,
} from './client-connection.ts'
import { ClientRequest } from './client-request.ts'
import type { HandleRoom } from './handle-room.ts'
import { type Answer, type HttpRequest, WholeAnswer } from './messages.ts'
import { stopAccepting } from './stop-accepting.ts'
import { CalmClock } from './wait-until-calm.ts'

export interface Listener {
  /** `http://HOST:PORT` */
  readonly url: string
  /**
   * Still takes everything, and asks clients with each answer to come back on another connection.
   */
  beginDraining(): void
  /**
   * Takes no new connection, waits until open calls have ended and none follows on the connections
   * that are there, or until `timeoutMs` is over.
   * @returns whether all had ended
   */
  drain(timeoutMs: number): Promise<boolean>
  /** Cuts what is left. */
  stop(): Promise<void>
}

export type Handle = (request: HttpRequest, addressOf: AddressOf) => Promise<Answer>

export interface ListenOptions {
  readonly connections?: ConnectionLimits | undefined
  /** Absent: connections are kept however many there are. */
  readonly room?: Pick<HandleRoom, 'isCrowded' | 'mostConnections'> | undefined
  readonly clock?: Pick<Timekeeper, 'now' | 'elapsed' | 'every'>
}

const USUAL: ConnectionLimits = { idleMs: 75_000, stallMs: 360_000 }
/** How many are looked at for one that makes room for a new one. */
const MOST_LOOKED_AT = 64
/** How often connections that have waited too long are looked for, in milliseconds. */
const SWEEP_MS = 1_000
const DRAIN_POLL_MS = 20
/**
 * Nothing was asked for so long: what was sent before the last answer told its client to go has
 * arrived.
 */
const QUIET_MS = 200
/** Of a machine that is busy all the time no more is waited for. */
const MOST_QUIET_MS = 2_000

export interface Address {
  readonly host: string
  /** 0: any that is free. */
  readonly port: number
  /** Other workers listen there as well. */
  readonly isShared?: boolean
  /** By what the operator gives another port or host; absent: the options of the command. */
  readonly settings?: ListenSettings
}

/** For who explains that a server cannot listen. */
export interface ListenSettings {
  readonly port: string
  readonly host: string
}

/**
 * @throws Error with `syscall: 'listen'`, the system's `code` and the address's `settings` where it
 * cannot listen there
 */
export function listen(
  address: Address,
  handle: Handle,
  { connections: limits = USUAL, room, clock = systemClock }: ListenOptions = {},
): Listener {
  const open = new Set<ClientConnection>()
  let isDraining = false
  let lastRequestAt = 0
  let endSweeps: (() => void) | undefined
  const sweep = () => {
    const now = clock.elapsed()
    for (const connection of open) connection.sweep(now)
  }
  const mostOpen = room?.mostConnections ?? Number.POSITIVE_INFINITY
  /**
   * Lets the oldest go of those that nobody works for, one that never asked before any that did:
   * connections that ask nothing must not keep out those that would, and a client's next question
   * may be under way over one that it keeps.
   */
  const makeRoom = () => {
    const now = clock.elapsed()
    let looks = 0
    let kept: ClientConnection | undefined
    for (const connection of open) {
      if (connection.isSpare(now)) {
        if (!connection.hasAsked) {
          connection.cut()
          return
        }
        kept ??= connection
      }
      looks += 1
      if (looks === MOST_LOOKED_AT) break
      // The next look begins behind it.
      open.delete(connection)
      open.add(connection)
    }
    kept?.cut()
  }
  const ports: ConnectionPorts = {
    limits,
    now: () => clock.elapsed(),
    dateLine: createDateLines(clock),
    isCrowded: () => isDraining || room?.isCrowded === true,
    handle(request) {
      if (isDraining) lastRequestAt = performance.now()
      return handle(request, addressOf)
    },
    refuse,
    refuseBroken,
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
    // The runtime has `reusePort`, and its types do not say so.
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

/** The answer when a handler throws. What it threw is not logged here. */
function refuseBroken(): WholeAnswer {
  const message = 'The gateway failed to handle this request.'
  return toWholeAnswer(500, 'internal_error', message, 'cache-control: no-store\r\n')
}

/** Bytes that are not a request belong to no dialect. */
function refuse(status: number, message: string): WholeAnswer {
  return toWholeAnswer(status, 'invalid_request', message)
}

function toWholeAnswer(status: number, error: string, message: string, lines = ''): WholeAnswer {
  const body = Buffer.from(JSON.stringify({ error, message }))
  return new WholeAnswer(status, `content-type: application/json\r\n${lines}`, body)
}

/** The line of a second is made once. */
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
