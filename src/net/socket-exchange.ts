/**
 * One exchange with an upstream over its own connection: send, wait and read, with deadlines for
 * connecting, the first byte, silence and the total.
 */

import type { AnswerHead } from './answer-parser.ts'
import type { AnswerListener, Connection, Route, WireRequest } from './connection.ts'
import type { ConnectionPool, ConnectionPools, Routes } from './connection-pools.ts'
import type { Deadline, Deadlines, DueCause, WaitingCall } from './deadlines.ts'
import type { Exchange, ExchangeRequest, TakePart, TakePiece } from './exchange.ts'
import { CommonHeaders } from './headers.ts'
import { MalformedMessage, partOf } from './message-parser.ts'
import type { LeaveSignal } from './messages.ts'
import { UpstreamFailure, type UpstreamFailureType } from './upstream-failure.ts'

export interface ExchangePorts {
  readonly deadlines: Deadlines
  readonly routes: Routes
  readonly pools: ConnectionPools
}

type Phase = 'connecting' | 'sent' | 'answering' | 'over'

interface Reader {
  readonly take: TakePart
  readonly over: PromiseWithResolvers<boolean>
}

const SILENCES: Record<Phase, UpstreamFailureType> = {
  connecting: 'connect_timeout',
  sent: 'first_byte_timeout',
  answering: 'idle_timeout',
  over: 'idle_timeout',
}

/** Unread bytes of an answer that are buffered before the upstream has to wait. */
const MAX_UNREAD_BYTES = 256 * 1024

/** The exchange is also its own deadline, so that each exchange allocates one object. */
export class SocketExchange implements Exchange, AnswerListener, Deadline {
  dueAt: number
  before: Deadline | undefined = undefined
  after: Deadline | undefined = undefined
  onLeft: (() => void) | undefined = undefined
  readonly owner: WaitingCall | undefined
  /** Undefined once the exchange may outlive the signal. */
  signal: LeaveSignal | undefined
  #outlivesByMs = 0
  readonly #ports: ExchangePorts
  readonly #timeouts: ExchangeRequest['timeouts']
  /** Released after sending: an answer may take minutes, and its request megabytes. */
  #request: ExchangeRequest | undefined
  #resolveHead: ((head: AnswerHead) => void) | undefined
  #rejectHead: ((cause: UpstreamFailure) => void) | undefined
  #phase: Phase = 'connecting'
  #connection: Connection | undefined
  #connecting: AbortController | undefined
  #pieces: Uint8Array[] = NO_PIECES
  #unreadBytes = 0
  /** End of the total time, on the deadlines' scale. */
  readonly #overAt: number
  /** Time by which the answer must be complete; may be shortened. */
  #endBy: number
  isSent = false
  #isWhole = false
  #isLeft = false
  #failure: UpstreamFailure | undefined
  #reader: Reader | undefined
  #collector: PromiseWithResolvers<Uint8Array> | undefined

  constructor(ports: ExchangePorts, request: ExchangeRequest) {
    const { deadlines } = ports
    this.#ports = ports
    this.#request = request
    this.#timeouts = request.timeouts
    const now = deadlines.now()
    this.#overAt = now + request.totalMs
    this.#endBy = this.#overAt
    this.dueAt = Math.min(now + request.timeouts.connectMs, this.#endBy)
    this.owner = request.owner
    this.signal = request.signal
    deadlines.add(this)
  }

  get isReadOut(): boolean {
    return this.#isWhole && this.#pieces.length === 0
  }

  send(): Promise<AnswerHead> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    const { promise, resolve, reject } = Promise.withResolvers<AnswerHead>()
    this.#resolveHead = resolve
    this.#rejectHead = reject
    const request = this.#request
    this.#request = undefined
    if (this.signal?.aborted === true) this.#fail('cancelled')
    else if (request !== undefined) this.#sendRequest(request)
    return promise
  }

  async read(): Promise<Uint8Array | undefined> {
    let next: Uint8Array | undefined
    await this.readWhile((piece) => {
      next = piece
      return false
    })
    return next
  }

  readWhile(take: TakePiece): Promise<boolean> {
    return this.readPartsWhile((bytes, from, to) => take(partOf(bytes, from, to)))
  }

  async readPartsWhile(take: TakePart): Promise<boolean> {
    for (let piece = this.#pieces.shift(); piece !== undefined; piece = this.#pieces.shift()) {
      this.#unreadBytes -= piece.byteLength
      if (this.#unreadBytes === 0) this.#connection?.resume()
      if (!take(piece, 0, piece.byteLength)) return true
    }
    if (this.#failure !== undefined) throw this.#failure
    if (this.#isWhole) return false
    this.#waitForPiece()
    const over = Promise.withResolvers<boolean>()
    this.#reader = { take, over }
    return over.promise
  }

  readAll(): Uint8Array | Promise<Uint8Array> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    if (this.#isWhole) return this.#takeAll()
    this.#waitForPiece()
    this.#collector = Promise.withResolvers()
    this.#connection?.resume()
    return this.#collector.promise
  }

  expectEndWithin(ms: number): void {
    this.#endBy = Math.min(this.#endBy, this.#ports.deadlines.now() + ms)
    this.dueAt = this.#endBy
  }

  cancelWithin(ms: number): void {
    this.#isLeft = true
    this.expectEndWithin(ms)
  }

  outliveSignal(ms: number): void {
    this.#outlivesByMs = ms
  }

  close(): void {
    this.#fail('cancelled')
  }

  onHead(head: AnswerHead): void {
    this.#wait(this.#timeouts.firstByteMs)
    this.#resolveHead?.(head)
  }

  onPart(bytes: Buffer, from: number, to: number): void {
    this.#phase = 'answering'
    if (this.#reader !== undefined) {
      this.#give(this.#reader, bytes, from, to)
      return
    }
    const piece = partOf(bytes, from, to)
    if (this.#pieces === NO_PIECES) this.#pieces = [piece]
    else this.#pieces.push(piece)
    this.#unreadBytes += to - from
    if (this.#collector !== undefined) this.#waitForPiece()
    else if (this.#unreadBytes >= MAX_UNREAD_BYTES) this.#connection?.pause()
  }

  onEnd(): void {
    this.#isWhole = true
    // The connection may serve another call by now, and only that call may pause or resume it.
    this.#connection = undefined
    this.#finish()
    this.#reader?.over.resolve(false)
    this.#collector?.resolve(this.#takeAll())
  }

  onLost(cause: Error): void {
    this.#fail(cause instanceof MalformedMessage ? 'malformed_answer' : 'connection_lost', cause)
  }

  #give({ take, over }: Reader, bytes: Uint8Array, from: number, to: number): void {
    try {
      if (take(bytes, from, to)) {
        this.#waitForPiece()
        return
      }
      over.resolve(true)
    } catch (thrown) {
      over.reject(thrown)
    }
    this.#reader = undefined
    // A reader that is not asking for more has no silence deadline.
    this.dueAt = this.#endBy
  }

  /** Over an open connection, the request is sent in the same turn of the event loop. */
  #sendRequest(request: ExchangeRequest): void {
    const { url, addresses, group, common = NOTHING_COMMON, headers, body } = request
    const { routes, pools } = this.#ports
    const { opening, routes: ways } = routes.of(url, addresses)
    let beginning: Buffer
    let lines: string
    try {
      beginning = common.begin(opening)
      lines = common.linesAfter(headers)
    } catch (thrown) {
      this.#fail('connect_failed', thrown)
      return
    }
    for (const way of ways) {
      const pool = pools.poolOf(way, group)
      for (let open = pool.take(); open !== undefined; open = pool.take())
        if (this.#askOver(open, { beginning, lines, body })) return
    }
    this.#askLater(ways, group, { beginning, lines, body })
  }

  #askLater(ways: readonly Route[], group: string, question: WireRequest): void {
    this.#connect(
      ways.map((way) => this.#ports.pools.poolOf(way, group)),
      (connection) => this.#askOver(connection, question),
    )
  }

  #askOver(connection: Connection, question: WireRequest): boolean {
    this.#connection = connection
    if (!connection.send(question, this)) return false
    this.isSent = true
    this.#phase = 'sent'
    this.#wait(this.#timeouts.firstByteMs)
    return true
  }

  /** Tries one address after the other. A request that was sent is never sent again. */
  async #connect(
    pools: readonly ConnectionPool[],
    ask: (connection: Connection) => boolean,
  ): Promise<void> {
    const connecting = new AbortController()
    this.#connecting = connecting
    const { connectMs } = this.#timeouts
    let cause: unknown
    for (const pool of pools) {
      try {
        // A silent address must leave time for the other addresses.
        const signal =
          pools.length === 1
            ? connecting.signal
            : AbortSignal.any([connecting.signal, AbortSignal.timeout(connectMs / pools.length)])
        const connection = await pool.open(signal)
        if (this.#phase === 'over') {
          pool.giveBack(connection)
          return
        }
        if (ask(connection)) {
          // Released: an answer may take minutes, with a thousand open at once.
          this.#connecting = undefined
          return
        }
      } catch (thrown) {
        cause = thrown
      }
      if (this.#phase === 'over') return
    }
    this.#fail('connect_failed', cause)
  }

  /** A single piece is returned without a copy. */
  #takeAll(): Uint8Array {
    const pieces = this.#pieces
    this.#pieces = NO_PIECES
    this.#unreadBytes = 0
    const [only] = pieces
    return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces)
  }

  #waitForPiece(): void {
    const { firstByteMs, idleMs } = this.#timeouts
    this.#wait(this.#phase === 'sent' ? firstByteMs : idleMs)
  }

  #wait(ms: number): void {
    this.dueAt = Math.min(this.#ports.deadlines.now() + ms, this.#endBy)
  }

  onDue(cause: DueCause, reason?: Error): void {
    if (cause === 'cancelled' && this.#outlivesByMs > 0) {
      this.signal = undefined
      this.cancelWithin(this.#outlivesByMs)
      this.#ports.deadlines.add(this)
      return
    }
    if (cause !== 'due') this.#fail(cause, reason)
    else if (this.#isLeft) this.#fail('cancelled')
    else {
      const isOver = this.#ports.deadlines.now() >= this.#overAt
      this.#fail(isOver ? 'total_timeout' : SILENCES[this.#phase])
    }
  }

  /** Only the first failure counts, and a failure after the complete answer does not. */
  #fail(type: UpstreamFailureType, cause?: unknown): void {
    if (this.#phase === 'over') return
    const failure = new UpstreamFailure(type, messageOf(type, cause), { cause })
    this.#failure = failure
    this.#finish()
    // Pieces that arrived before an upstream broke off can still be read.
    if (!LEAVES_ITS_PIECES.has(type)) this.#pieces = NO_PIECES
    this.#connecting?.abort()
    this.#connection?.drop()
    this.#rejectHead?.(failure)
    this.#reader?.over.reject(failure)
    this.#collector?.reject(failure)
  }

  #finish(): void {
    this.#phase = 'over'
    this.#ports.deadlines.remove(this)
  }
}

/**
 * Shared empty list: most complete answers are one piece, and streams are read immediately. Never
 * modified.
 */
const NO_PIECES: Uint8Array[] = []
const NOTHING_COMMON = new CommonHeaders({})

const LEAVES_ITS_PIECES: ReadonlySet<UpstreamFailureType> = new Set([
  'connection_lost',
  'malformed_answer',
])

/** Includes the reason of an invalid answer, for the upstream's operator. */
function messageOf(type: UpstreamFailureType, cause: unknown): string {
  const what = FAILURE_MESSAGES[type]
  return cause instanceof MalformedMessage ? `${what} ${cause.message}` : what
}

const FAILURE_MESSAGES: Record<UpstreamFailureType, string> = {
  connect_failed: 'The connection to the upstream failed.',
  connect_timeout: 'The upstream did not accept a connection in time.',
  first_byte_timeout: 'The upstream did not start its answer in time.',
  idle_timeout: 'The upstream stopped sending in the middle of its answer.',
  total_timeout: 'The upstream did not finish its answer in time.',
  connection_lost: 'The upstream closed the connection before its answer was complete.',
  malformed_answer: 'The upstream sent an invalid HTTP/1.1 answer.',
  shutdown: 'The gateway is shutting down and stopped waiting for the upstream.',
  revoked: 'The caller is no longer authorized.',
  cancelled: 'The client left before the answer was complete.',
}
