/**
 * Keeps open connections to upstreams. Each connection serves one call at a time, the most recently
 * used first, and is closed when idle or old.
 */

import { isIP } from 'node:net'
import type { Timekeeper } from '../core/clock.ts'
import { Connection, type ConnectionKeeper, type Route, type TlsSessions } from './connection.ts'
import type { HttpProxy, Proxies } from './proxies.ts'

interface ConnectionSettings {
  /**
   * In milliseconds. Well below the upstreams' own timeouts, so no request is written to a
   * connection that is closing.
   */
  readonly idleMs: number
  readonly maxIdle: number
}

const DEFAULT_CONNECTION_SETTINGS: ConnectionSettings = { idleMs: 30_000, maxIdle: 2_048 }

/**
 * Maximum number of connections being opened per upstream. The runtime cannot cancel an attempt, so
 * further calls wait for these connections.
 */
const MAX_CONNECTING = 512
/** A connection attempt of this length may never succeed, so its call gets another connection. */
const PROMISING_MS = 1_000
/**
 * Maximum time from TCP connection to readiness (proxy, TLS), in milliseconds. Otherwise a silent
 * server would count as a pending connection without end.
 */
const MAX_GREETING_MS = 30_000
/**
 * An open connection does not notice that its name has moved to other addresses, so its age is
 * limited.
 */
const MAX_AGE_MS = 10 * 60_000
/** Maximum margin by which a connection is closed before the upstream's keep-alive time. */
const MARGIN_MS = 1_000
const SWEEP_MS = 1_000
/** An upstream that closes after every answer does so within this time. */
const FLEETING_MS = 100

interface ConnectionCounts {
  opened: number
  reused: number
  failed: number
  open: number
  idle: number
}

export class ConnectionPools {
  readonly #clock: Timekeeper
  readonly #settings: ConnectionSettings
  readonly #pools = new Map<string, ConnectionPool>()
  readonly #sessions: TlsSessions = new Map()
  readonly #counts = new Map<string, ConnectionCounts>()
  #endSweeps: (() => void) | undefined

  constructor(clock: Timekeeper, settings: ConnectionSettings = DEFAULT_CONNECTION_SETTINGS) {
    this.#clock = clock
    this.#settings = settings
  }

  poolOf(route: Route, group: string): ConnectionPool {
    return this.#pools.get(route.key) ?? this.#createPool(route, group)
  }

  #createPool(route: Route, group: string): ConnectionPool {
    const pool = new ConnectionPool({
      route,
      clock: this.#clock,
      settings: this.#settings,
      sessions: this.#sessions,
      counts: this.countsOf(group),
    })
    this.#pools.set(route.key, pool)
    this.#endSweeps ??= this.#clock.every(SWEEP_MS, () => this.#sweep())
    return pool
  }

  countsOf(group: string): ConnectionCounts {
    let counts = this.#counts.get(group)
    if (counts === undefined) {
      counts = { opened: 0, reused: 0, failed: 0, open: 0, idle: 0 }
      this.#counts.set(group, counts)
    }
    return counts
  }

  counts(): ReadonlyMap<string, Readonly<ConnectionCounts>> {
    return this.#counts
  }

  /** Closes every idle connection; busy connections close when their calls end. */
  close(): void {
    for (const pool of this.#pools.values()) pool.close()
    this.#sweep()
  }

  #sweep(): void {
    const now = this.#clock.elapsed()
    for (const [key, pool] of this.#pools) {
      pool.sweep(now)
      if (pool.isEmpty) this.#pools.delete(key)
    }
    if (this.#pools.size > 0) return
    this.#endSweeps?.()
    this.#endSweeps = undefined
  }
}

interface PoolOptions {
  readonly route: Route
  readonly clock: Timekeeper
  readonly settings: ConnectionSettings
  readonly sessions: TlsSessions
  readonly counts: ConnectionCounts
}

/** Times on the clock's `elapsed` scale. */
interface Times {
  readonly openedAt: number
  idleUntil: number
  /** Reused at least once, so the upstream keeps connections open. */
  isLasting: boolean
  firstAnswerAt: number
}

type Waiter = PromiseWithResolvers<Connection>

export class ConnectionPool implements ConnectionKeeper {
  readonly #options: PoolOptions
  /** Most recently used last. */
  readonly #idle: Connection[] = []
  readonly #times = new Map<Connection, Times>()
  readonly #waiters = new Set<Waiter>()
  #connecting = 0
  #promising = 0
  /** Connections that the upstream may be closing. */
  #settling = 0
  /** The newest closed connection ended soon after its first answer, and none was reused since. */
  #isFleeting = false
  #isClosed = false

  constructor(options: PoolOptions) {
    this.#options = options
  }

  get isEmpty(): boolean {
    return this.#times.size === 0 && this.#connecting === 0 && this.#waiters.size === 0
  }

  /** The connection returns to the pool after its call. Undefined: no connection is idle. */
  take(): Connection | undefined {
    const now = this.#options.clock.elapsed()
    for (;;) {
      const connection = this.#idle.pop()
      if (connection === undefined) return undefined
      this.#options.counts.idle -= 1
      const times = this.#times.get(connection)
      if (times !== undefined && times.idleUntil > now) {
        this.#options.counts.reused += 1
        return connection
      }
      connection.close()
    }
  }

  /**
   * Opens a connection, or waits for another connection that becomes free first.
   * @param signal aborts when the call ends; the connection then serves another call
   * @throws Error (rejects) with the reason
   */
  open(signal: AbortSignal): Promise<Connection> {
    const waiter: Waiter = Promise.withResolvers()
    this.#waiters.add(waiter)
    signal.addEventListener('abort', () => {
      if (this.#waiters.delete(waiter))
        waiter.reject(new Error('The call no longer needs a connection.'))
    })
    this.#connectMore()
    return waiter.promise
  }

  giveBack(connection: Connection): void {
    if (!connection.isOver) this.#lend(connection)
  }

  onFree(connection: Connection, keepAliveMs: number | undefined): void {
    const now = this.#options.clock.elapsed()
    const times = this.#times.get(connection)
    if (times === undefined || this.#isClosed || now - times.openedAt > MAX_AGE_MS) {
      connection.close()
      return
    }
    times.idleUntil = now + this.#keptMs(keepAliveMs)
    if (times.isLasting) this.#lend(connection)
    else this.#settle(connection, times, now)
  }

  /**
   * Some upstreams close after an answer without announcing the close, and a request sent before
   * the close arrives would be lost. So a connection waits for a round of the event loop after its
   * first answer, and longer if another connection was lost this way (tinyproxy takes a
   * millisecond).
   */
  #settle(connection: Connection, times: Times, now: number): void {
    times.isLasting = true
    times.firstAnswerAt = now
    if (this.#isFleeting) {
      this.#options.clock.after(FLEETING_MS, () =>
        afterRound(() => {
          if (connection.isOver) return
          this.#isFleeting = false
          this.#lend(connection)
        }),
      )
      return
    }
    this.#settling += 1
    afterRound(() => {
      this.#settling -= 1
      if (!connection.isOver) this.#lend(connection)
      this.#connectMore()
    })
  }

  #keptMs(keepAliveMs: number | undefined): number {
    const { settings, route } = this.#options
    return Math.min(settings.idleMs, marginOf(keepAliveMs ?? route.assumedKeepAliveMs))
  }

  #lend(connection: Connection): void {
    const { settings, counts } = this.#options
    if (this.#serve(connection)) {
      counts.reused += 1
      return
    }
    if (this.#isClosed || this.#idle.length >= settings.maxIdle) {
      connection.close()
      return
    }
    this.#idle.push(connection)
    counts.idle += 1
  }

  onOver(connection: Connection, isLost: boolean): void {
    const { clock, counts } = this.#options
    const times = this.#times.get(connection)
    if (times !== undefined) {
      this.#times.delete(connection)
      counts.open -= 1
      // A connection that the gateway closed does not show how its upstream behaves.
      if (isLost && clock.elapsed() - times.firstAnswerAt < FLEETING_MS) this.#isFleeting = true
    }
    const at = this.#idle.lastIndexOf(connection)
    if (at === -1) return
    this.#idle.splice(at, 1)
    counts.idle -= 1
  }

  sweep(now: number): void {
    for (const connection of [...this.#idle])
      if ((this.#times.get(connection)?.idleUntil ?? 0) <= now) connection.close()
  }

  close(): void {
    this.#isClosed = true
    for (const connection of [...this.#idle]) connection.close()
  }

  #connect(): void {
    const { route, sessions, counts, clock } = this.#options
    this.#connecting += 1
    this.#promising += 1
    let isPromising = true
    const stopPromising = () => {
      if (isPromising) this.#promising -= 1
      isPromising = false
    }
    let isGivenUp = false
    const giveUp = () => {
      if (connection.isReached) {
        isGivenUp = true
        connection.drop()
      } else callOff = clock.after(MAX_GREETING_MS, giveUp)
    }
    let callOff = clock.after(PROMISING_MS, () => {
      callOff = clock.after(MAX_GREETING_MS, giveUp)
      stopPromising()
      this.#connectMore()
    })
    const connection = Connection.open({ route, sessions, keeper: this })
    connection.whenReady().then(
      () => {
        callOff()
        stopPromising()
        this.#connecting -= 1
        counts.opened += 1
        // The connection may have ended since it became ready, so a waiting call may need another
        // connection.
        if (connection.isOver) {
          this.#connectMore()
          return
        }
        counts.open += 1
        const now = clock.elapsed()
        this.#times.set(connection, {
          openedAt: now,
          idleUntil: now + this.#keptMs(undefined),
          isLasting: false,
          firstAnswerAt: Number.NEGATIVE_INFINITY,
        })
        // The connection's own call may have ended, so the next call is served.
        if (!this.#serve(connection)) this.#lend(connection)
        this.#connectMore()
      },
      (cause: unknown) => {
        callOff()
        stopPromising()
        this.#connecting -= 1
        counts.failed += 1
        const [first] = this.#waiters
        // An attempt that was given up rejects no call: the first call can use another connection.
        if (first !== undefined && !isGivenUp) {
          this.#waiters.delete(first)
          first.reject(cause)
        }
        this.#connectMore()
      },
    )
  }

  /** Opens one connection per waiting call, minus those that are likely to be ready soon. */
  #connectMore(): void {
    while (
      this.#promising + this.#settling < this.#waiters.size &&
      this.#connecting < MAX_CONNECTING
    )
      this.#connect()
  }

  #serve(connection: Connection): boolean {
    if (this.#waiters.size === 0) return false
    const [first] = this.#waiters
    if (first === undefined) return false
    this.#waiters.delete(first)
    first.resolve(connection)
    return true
  }
}

/** After a round of the event loop, all bytes that a socket had are known. */
function afterRound(run: () => void): void {
  setImmediate(() => setImmediate(run))
}

/** A call must not be sent at the moment when the upstream closes, so a margin remains. */
function marginOf(keepAliveMs: number): number {
  return keepAliveMs - Math.min(MARGIN_MS, keepAliveMs / 2)
}

interface UpstreamAddress {
  /** The request line's target and the host, as the first two lines. */
  readonly opening: string
  readonly routes: readonly Route[]
}

/** Accounts add addresses without limit, so the cache is bounded. */
const MAX_KEPT = 4_096
/**
 * Keep-alive time assumed for a customer's server that sends none: Node closes after five seconds.
 */
const GUARDED_KEEP_ALIVE_MS = 4_000

export class Routes {
  readonly #proxies: Proxies
  readonly #kept = new Map<string, UpstreamAddress>()

  constructor(proxies: Proxies) {
    this.#proxies = proxies
  }

  /** @param addresses checked addresses; undefined: any address of the URL's host */
  of(url: string, addresses: readonly string[] | undefined): UpstreamAddress {
    const key = addresses === undefined ? url : `${url} ${addresses.join(' ')}`
    const kept = this.#kept.get(key)
    if (kept !== undefined) return kept
    const made = this.#make(new URL(url), addresses)
    if (this.#kept.size >= MAX_KEPT) this.#kept.clear()
    this.#kept.set(key, made)
    return made
  }

  #make(url: URL, addresses: readonly string[] | undefined): UpstreamAddress {
    const { protocol, hostname, host, pathname, search } = url
    const isSecure = protocol === 'https:'
    const port = url.port === '' ? (isSecure ? 443 : 80) : Number(url.port)
    const proxy = this.#proxies.find({ protocol, hostname, port })
    const bare = hostname.replace(/^\[|\]$/g, '')
    const serverName = isSecure ? bare : undefined
    const routes = (addresses ?? [bare]).map((address) => {
      const assumedKeepAliveMs =
        addresses === undefined ? Number.POSITIVE_INFINITY : GUARDED_KEEP_ALIVE_MS
      const key = `${isSecure} ${address} ${port} ${serverName} ${assumedKeepAliveMs}`
      return { key, address, port, serverName, proxy, assumedKeepAliveMs }
    })
    // A proxy without a tunnel needs the absolute URL (RFC 9112 §3.2.2).
    const target =
      proxy === undefined || isSecure
        ? ''
        : `http://${authorityOf(routes[0]?.address ?? bare, port)}`
    const permission = isSecure || proxy === undefined ? '' : permissionOf(proxy)
    return {
      opening: `POST ${target}${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\n${permission}`,
      routes,
    }
  }
}

function permissionOf({ authorization }: HttpProxy): string {
  return authorization === undefined ? '' : `proxy-authorization: ${authorization}\r\n`
}

function authorityOf(address: string, port: number): string {
  return `${isIP(address) === 6 ? `[${address}]` : address}:${port}`
}
