/**
 * Keeps the open connections to upstreams: lends each to one call at a time, the one used last
 * first, and lets it go when it is idle or old. It must not know whose call it is, nor any LLM.
 */

import { isIP } from 'node:net'
import type { Timekeeper } from '../core/clock.ts'
import { Connection, type ConnectionKeeper, type Route, type TlsSessions } from './connection.ts'
import type { HttpProxy, Proxies } from './proxies.ts'

interface ConnectionSettings {
  /**
   * How long a connection is kept without a call, in milliseconds. Well under the time after which
   * upstreams close theirs, so that no call is written into a connection that is closing.
   */
  readonly idleMs: number
  /** Idle connections kept for one upstream. */
  readonly maxIdle: number
}

const DEFAULT_CONNECTION_SETTINGS: ConnectionSettings = { idleMs: 30_000, maxIdle: 2_048 }

/**
 * Connections of one upstream on their way at once. The runtime cannot call one back, so more calls
 * wait for these.
 */
const MAX_CONNECTING = 512
/**
 * One that is on its way for longer may never arrive: whoever waits for it is given another one.
 */
const PROMISING_MS = 1_000
/**
 * One that was reached and is not ready after this long is given up: it would hold its place among
 * those on their way for as long as a server that says nothing lives. The system itself gives up
 * one that is not reached.
 */
const MAX_GREETING_MS = 30_000
/** Names lead elsewhere in time, and a connection does not notice. */
const MAX_AGE_MS = 10 * 60_000
/** How much sooner than the upstream its connection is let go, at most. */
const MARGIN_MS = 1_000
const SWEEP_MS = 1_000
/** So soon an upstream closes that does so after each answer. */
const FLEETING_MS = 100

/** Connections, for metrics: since the start, and now. */
interface ConnectionCounts {
  opened: number
  /** Calls that found an open one. */
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

  /** @param group whose connections are counted together */
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

  /** Lets every idle connection go; those in use end with their calls. */
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

/**
 * When a connection was made, and until when it may be lent again; on the clock's `elapsed` scale.
 */
interface Times {
  readonly openedAt: number
  idleUntil: number
  /** It has outlived an answer: its upstream is none that closes after each without saying so. */
  isLasting: boolean
  firstAnswerAt: number
}

type Waiter = PromiseWithResolvers<Connection>

/** The connections of one route. */
export class ConnectionPool implements ConnectionKeeper {
  readonly #options: PoolOptions
  /** The one used last at the end. */
  readonly #idle: Connection[] = []
  readonly #times = new Map<Connection, Times>()
  readonly #waiters = new Set<Waiter>()
  #connecting = 0
  /** Those of them that are likely to arrive. */
  #promising = 0
  /** Connections that may be closing. */
  #settling = 0
  /** The newest that ended did so soon after its first answer, and none has lasted since. */
  #isFleeting = false
  #isClosed = false

  constructor(options: PoolOptions) {
    this.#options = options
  }

  get isEmpty(): boolean {
    return this.#times.size === 0 && this.#connecting === 0 && this.#waiters.size === 0
  }

  /**
   * An open connection that nobody uses, at once; it comes back by itself. Undefined: there is
   * none.
   */
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
   * A new connection, or one that becomes free first.
   * @param signal aborts when nobody waits for it any more: it then serves the next one
   * @throws Error (rejects) that says why there is none
   */
  open(signal: AbortSignal): Promise<Connection> {
    const waiter: Waiter = Promise.withResolvers()
    this.#waiters.add(waiter)
    signal.addEventListener('abort', () => {
      if (this.#waiters.delete(waiter)) waiter.reject(new Error('Nobody waits for it any more.'))
    })
    this.#connectMore()
    return waiter.promise
  }

  /** A connection that nobody needed after all. */
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
   * An upstream that closes after its answer without having said so is heard of when the event loop
   * has come round, and a question that was sent until then would be lost. So the first answer of a
   * connection is waited out, and for longer where another one has ended so: tinyproxy takes a
   * millisecond to close. Calls do not wait for that.
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
      // One that was given up here says nothing of its upstream.
      if (isLost && clock.elapsed() - times.firstAnswerAt < FLEETING_MS) this.#isFleeting = true
    }
    const at = this.#idle.lastIndexOf(connection)
    if (at === -1) return
    this.#idle.splice(at, 1)
    counts.idle -= 1
  }

  /** @param now on the clock's `elapsed` scale */
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
        // It may have ended since.
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
        // The call that it was opened for may have ended: then it serves the next one.
        if (!this.#serve(connection)) this.#lend(connection)
        this.#connectMore()
      },
      (cause: unknown) => {
        callOff()
        stopPromising()
        this.#connecting -= 1
        counts.failed += 1
        const [first] = this.#waiters
        // The first of those that wait may wait for another one.
        if (first !== undefined && !isGivenUp) {
          this.#waiters.delete(first)
          first.reject(cause)
        }
        this.#connectMore()
      },
    )
  }

  /**
   * One for each that waits, those counted that are about to be there: no more than there are calls
   * at once.
   */
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

/** When the event loop has come round: whatever has come over a socket is known by then. */
function afterRound(run: () => void): void {
  setImmediate(() => setImmediate(run))
}

/** An upstream closes its end at the very time that it says: a call must not meet it there. */
function marginOf(keepAliveMs: number): number {
  return keepAliveMs - Math.min(MARGIN_MS, keepAliveMs / 2)
}

/** The facts shared by all requests to one address. */
interface UpstreamAddress {
  /** The request's target and host, as its first two lines. */
  readonly opening: string
  /** The routes that lead there, best first; never none. */
  readonly routes: readonly Route[]
}

/**
 * Addresses that are kept ready; accounts name their own, so there is no telling how many there
 * are.
 */
const MAX_KEPT = 4_096
/** For a customer's own server that says nothing: servers on Node close after five seconds. */
const GUARDED_KEEP_ALIVE_MS = 4_000

/**
 * Finds the connections that a request may take, and writes the first lines that name its upstream.
 */
export class Routes {
  readonly #proxies: Proxies
  readonly #kept = new Map<string, UpstreamAddress>()

  constructor(proxies: Proxies) {
    this.#proxies = proxies
  }

  /**
   * @param addresses that were checked and may be connected to; undefined: whatever the URL's host
   * leads to
   */
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
    // A proxy that is no tunnel needs the whole address (RFC 9112 §3.2.2).
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
