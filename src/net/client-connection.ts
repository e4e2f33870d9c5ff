/**
 * A client connection: reads one request after the other, writes each answer at the client's pace,
 * and closes after its timeouts.
 */
import { STATUS_CODES } from 'node:http'
import type { Socket, SocketHandler } from 'bun'
import { ClientOutput, PiecesSink } from './client-output.ts'
import { ClientRequest, type RequestSource } from './client-request.ts'
import { fieldLine, type HeadLines } from './head-writer.ts'
import { hasToken, MalformedMessage } from './message-parser.ts'
import { type Answer, toResponse, WholeAnswer } from './messages.ts'
import {
  type RequestHead,
  RequestParser,
  type RequestReceiver,
  statusOf,
} from './request-parser.ts'
import { head } from './socket-output.ts'
import { type DirectSource, HeadedStream, StreamedAnswer } from './streamed-answer.ts'

export interface ConnectionLimits {
  /** Maximum wait for the next request, or for the rest of an unread body, in milliseconds. */
  readonly idleMs: number
  /**
   * Maximum time without the client reading, in milliseconds. Longer than any pause of a source.
   */
  readonly stallMs: number
}

export interface ConnectionPorts {
  readonly limits: ConnectionLimits
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
  /** The `date` header line of an answer (RFC 9110 §6.6.1). */
  readonly dateLine: () => string
  /** True while the process has too many connections, so clients are asked to reconnect. */
  readonly isCrowded: () => boolean
  readonly handle: (request: ClientRequest) => Promise<Answer>
  readonly refuseBroken: (thrown: unknown) => Answer
  /** The answer to an invalid request, with a length and without a connection header. */
  readonly refuse: (status: number, message: string) => WholeAnswer
  readonly onOpen: (connection: ClientConnection) => void
  readonly onOver: (connection: ClientConnection) => void
}

/** Maximum time for a request head, from its first byte, in milliseconds. */
const HEAD_MS = 10_000
/**
 * When connections are scarce, a client that reads nothing for this long is closed, in
 * milliseconds.
 */
const STALLED_MS = 10_000
/** Further pipelined bytes wait in the kernel. */
const MAX_AHEAD_BYTES = 64 * 1024
/** After this many pipelined bytes the connection closes with the current answer. */
const MOST_AHEAD_BYTES = 1024 * 1024
/** A longer unread rest of a body closes the connection. */
const MAX_DROPPED_BYTES = 8 * 1024 * 1024
/** The rest of a late body would be read as the next request, so the connection closes. */
const REQUEST_TIMEOUT = 408

/**
 * `waiting` for a request; `busy` until answer and body are complete; `leaving` when no more is
 * sent; `over` when the socket is closed.
 */
type Phase = 'waiting' | 'busy' | 'leaving' | 'over'

export class ClientConnection implements RequestReceiver, RequestSource {
  readonly #ports: ConnectionPorts
  readonly #socket: Socket<ClientConnection>
  readonly #output: ClientOutput
  readonly #parser = new RequestParser(this)
  // Bound once per connection: closures per request would cost as much as a header.
  readonly #onAnswer = (answer: Answer) => this.#tryToAnswer(answer)
  readonly #onFailure = (thrown: unknown) => this.#fail(thrown)
  #phase: Phase = 'waiting'
  #request: ClientRequest | undefined
  hasSentRequest = false
  #isBegun = false
  #isAnswered = false
  #isLast = false
  #isBroken = false
  #ahead: Buffer = NOTHING
  #leftBytes = 0
  #isPaused = false
  #stream: DirectSource | undefined
  /**
   * Time at which the connection closes unless something happens; infinite while a handler works.
   */
  #dueAt: number

  constructor(ports: ConnectionPorts, socket: Socket<ClientConnection>) {
    this.#ports = ports
    this.#socket = socket
    this.#output = new ClientOutput(socket, ports.now)
    this.#dueAt = ports.now() + ports.limits.idleMs
  }

  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress
  }

  /** True while an answer or a body is incomplete, or while the client has unread bytes. */
  get isBusy(): boolean {
    return this.#phase === 'busy' || this.#output.isWaiting
  }

  sendContinue(): void {
    this.#output.send(CONTINUE)
  }

  pause(): void {
    if (this.#isPaused) return
    this.#isPaused = true
    this.#socket.pause()
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#socket.resume()
  }

  sweep(now: number): void {
    // A client that still reads an answer is not idle.
    if (this.#output.isWaiting) {
      if (now - this.#output.takenAt >= this.#ports.limits.stallMs) this.#socket.terminate()
    } else if (now >= this.#dueAt) this.cut()
    // The socket reports a leaving client only after all bytes are read, so reading resumes.
    else if (this.#request?.isWhole === true) this.resume()
  }

  /** True when no handler works for the connection, so closing loses no work. */
  isReplaceable(now: number): boolean {
    if (this.#output.isWaiting) return now - this.#output.takenAt >= STALLED_MS
    return this.#dueAt !== Number.POSITIVE_INFINITY
  }

  closeIdle(): void {
    if (this.#phase === 'waiting') this.#leave()
  }

  /** Closes immediately. The kernel still delivers the bytes that it already has. */
  cut(): void {
    if (this.isBusy) this.#socket.terminate()
    else this.#socket.end()
  }

  onRequest(head: RequestHead): void {
    this.#request = new ClientRequest(head, this)
    this.#phase = 'busy'
    this.hasSentRequest = true
    this.#isAnswered = false
    this.#isLast = !head.isPersistent
    this.#isBegun = false
    this.#dueAt = Number.POSITIVE_INFINITY
  }

  onPiece(piece: Uint8Array): void {
    this.#request?.onPiece(piece)
  }

  onEnd(left: number): void {
    this.#leftBytes = left
    this.#request?.onEnd()
  }

  #onData(bytes: Buffer): void {
    if (this.#phase === 'over' || this.#isBroken) return
    if (this.#request?.isWhole === true) {
      if (this.#phase === 'leaving') return
      this.#ahead = Buffer.concat([this.#ahead, bytes])
      if (this.#ahead.length >= MOST_AHEAD_BYTES) this.#dropAhead()
      else if (this.#ahead.length >= MAX_AHEAD_BYTES) this.pause()
      return
    }
    this.#read(bytes)
  }

  /** Discards pipelined bytes, so the socket can be read to its end. */
  #dropAhead(): void {
    this.#isBroken = true
    this.#isLast = true
    this.#ahead = NOTHING
  }

  #read(bytes: Buffer): void {
    this.#leftBytes = 0
    try {
      this.#parser.push(bytes)
    } catch (thrown) {
      if (!(thrown instanceof MalformedMessage)) throw thrown
      this.#refuse(thrown)
    }
    const request = this.#request
    if (request !== undefined) {
      if (!this.#isBegun) this.#begin(request)
      request.waitIfUnread()
      if (request.isCopied && this.#leftBytes === 0) freeBuffer(bytes)
    }
    if (this.#isBroken) return
    if (this.#leftBytes > 0) this.#ahead = bytes.subarray(bytes.length - this.#leftBytes)
    if (this.#phase === 'busy') this.#finish()
    else if (this.#phase === 'leaving') this.#leave()
    else if (this.#parser.isInHead) this.#dueAt = Math.min(this.#dueAt, this.#ports.now() + HEAD_MS)
  }

  #begin(request: ClientRequest): void {
    this.#isBegun = true
    try {
      this.#ports.handle(request).then(this.#onAnswer, this.#onFailure)
    } catch (thrown) {
      this.#fail(thrown)
    }
  }

  /** A failure here comes before any byte of the answer, so an error can be sent. */
  #tryToAnswer(answer: Answer): void {
    try {
      this.#answer(answer)
    } catch (thrown) {
      abandon(answer)
      this.#fail(thrown)
    }
  }

  #fail(thrown: unknown): void {
    this.#answer(this.#ports.refuseBroken(thrown))
  }

  #refuse(thrown: MalformedMessage): void {
    this.#isBroken = true
    this.#isLast = true
    this.#ahead = NOTHING
    if (this.#request !== undefined) {
      // The handler is already running or has answered, so the request is notified of the error.
      this.#request.onLost(thrown)
      this.#finish()
      return
    }
    const message = `The request is malformed. ${thrown.message}`
    const { status, lines, body } = this.#ports.refuse(statusOf(thrown), message)
    this.#sendWhole({ status, lines, body })
    this.#leave()
  }

  #answer(answer: Answer): void {
    const request = this.#request
    if (this.#phase === 'over' || request === undefined) {
      abandon(answer)
      return
    }
    // A client that waits for `100 Continue` may never send its body, so the connection closes with
    // this answer.
    const isUnread = request.head.awaitsContinue && !request.isWhole
    if (isUnread || answer.status === REQUEST_TIMEOUT || this.#ports.isCrowded())
      this.#isLast = true
    if (!request.isWhole) {
      request.drop()
      if ((request.head.bodyBytes ?? 0) > MAX_DROPPED_BYTES) this.#isLast = true
    }
    const hasBody = request.method !== 'HEAD'
    if (answer instanceof WholeAnswer) {
      this.#sendWhole(answer, hasBody)
      this.#answered()
    } else if (answer instanceof HeadedStream) {
      this.#isLast ||= request.head.isOld
      this.#write(answer)
      this.#sendPieces(request, head.toString(), answer, hasBody)
    } else if (answer instanceof StreamedAnswer) this.#sendStream(request, answer, hasBody)
    else this.#sendResponse(toResponse(answer), hasBody).catch(this.#onFailure)
  }

  /** Sends the runtime's own response, buffered because these responses are short. */
  async #sendResponse(response: Response, hasBody: boolean): Promise<void> {
    let lines = ''
    let length: string | undefined
    for (const [name, value] of response.headers)
      if (name === 'content-length') length = value
      else if (name === 'connection') this.#isLast ||= hasToken(value, 'close')
      else if (!OURS.has(name)) lines += fieldLine(name, value)
    const { status } = response
    if (status < 200) throw new Error(`An answer cannot have the status ${status}.`)
    const content = response.body === null ? undefined : await response.blob()
    const body = content === undefined ? NOTHING : await content.bytes()
    if (this.#phase === 'over') return
    if (content !== undefined && content.type !== '' && !response.headers.has('content-type'))
      lines += fieldLine('content-type', content.type)
    if (hasBody || length === undefined || HAS_NO_BODY.has(status))
      this.#sendWhole({ status, lines, body }, hasBody)
    else this.#output.send(`${this.#beginning(status)}${lines}content-length: ${length}\r\n\r\n`)
    this.#answered()
  }

  #sendStream(request: ClientRequest, answer: StreamedAnswer, hasBody: boolean): void {
    this.#isLast ||= request.head.isOld
    let lines = ''
    for (const [name, value] of answer.headers)
      if (name === 'connection') this.#isLast ||= hasToken(value, 'close')
      else if (name !== 'content-length' && !OURS.has(name)) lines += fieldLine(name, value)
    this.#sendPieces(request, this.#beginning(answer.status) + lines, answer, hasBody)
  }

  #sendPieces(
    request: ClientRequest,
    head: string,
    answer: HeadedStream | StreamedAnswer,
    hasBody: boolean,
  ): void {
    if (!hasBody || HAS_NO_BODY.has(answer.status)) {
      abandon(answer)
      this.#output.send(`${head}\r\n`)
      this.#answered()
      return
    }
    const isChunked = !request.head.isOld
    const sink = new PiecesSink(this.#output, head, isChunked)
    this.#stream = answer.source
    answer.source.pull(sink).then(
      () => this.#endStream(sink, true),
      () => this.#endStream(sink, false),
    )
    sink.begin()
  }

  #endStream(sink: PiecesSink, isWhole: boolean): void {
    this.#stream = undefined
    if (this.#phase === 'over') return
    sink.begin()
    if (isWhole) sink.end()
    // The end of the body is omitted, so no client takes the answer as complete.
    else this.#isLast = true
    this.#answered()
  }

  #answered(): void {
    this.#isAnswered = true
    // Time limit for the rest of a body that is not read.
    if (this.#request?.isWhole !== true) this.#dueAt = this.#ports.now() + this.#ports.limits.idleMs
    this.#finish()
  }

  #finish(): void {
    if (this.#phase !== 'busy' || !this.#isAnswered) return
    if (this.#isLast) {
      this.#leave()
      return
    }
    if (this.#request?.isWhole !== true) return
    this.#request = undefined
    this.#phase = 'waiting'
    this.#dueAt = this.#ports.now() + this.#ports.limits.idleMs
    this.#parser.expectNext()
    this.resume()
    if (this.#ahead.length === 0) return
    const ahead = this.#ahead
    this.#ahead = NOTHING
    this.#read(ahead)
  }

  /**
   * Sends no more, but discards the client's bytes for a while: closing immediately would reset the
   * connection and lose the answer.
   */
  #leave(): void {
    if (this.#phase === 'over') return
    if (this.#phase !== 'leaving') this.#dueAt = this.#ports.now() + this.#ports.limits.idleMs
    this.#phase = 'leaving'
    // Pipelined bytes remain, so closing now would lose the answer.
    if (this.#ahead.length > 0) this.#isBroken = true
    this.#ahead = NOTHING
    this.resume()
    if (this.#output.isWaiting) return
    if (!this.#isBroken && this.#request?.isWhole !== false) this.#socket.end()
    else this.#socket.shutdown()
  }

  #onOver(): void {
    if (this.#phase === 'over') return
    this.#phase = 'over'
    this.#ports.onOver(this)
    this.#request?.onLeft(new Error('The client closed its connection.'))
    void this.#stream?.cancel()
    this.#output.close()
  }

  #sendWhole(answer: Whole, hasBody = true): void {
    const { status, body } = answer
    this.#write(answer)
    const hasLength = !HAS_NO_BODY.has(status)
    if (hasLength) head.field('content-length', String(body.byteLength))
    head.text('\r\n')
    this.#output.sendHead(head, hasBody && hasLength ? body : NOTHING)
  }

  #write({ status, lines, more }: Omit<Whole, 'body'>): void {
    head.begin(this.#beginning(status))
    head.text(lines)
    more?.writeTo(head)
  }

  #beginning(status: number): string {
    const connection = this.#isLast ? CLOSE : this.#request?.head.isOld === true ? KEEP_ALIVE : ''
    return beginningOf(status, this.#ports.dateLine(), connection)
  }

  #onDrain(): void {
    this.#output.drain()
    if (this.#output.isWaiting) return
    if (this.#phase !== 'busy') this.#dueAt = this.#ports.now() + this.#ports.limits.idleMs
    if (this.#phase === 'leaving') this.#leave()
  }

  static open(ports: ConnectionPorts, socket: Socket<ClientConnection>): void {
    const connection = new ClientConnection(ports, socket)
    socket.data = connection
    ports.onOpen(connection)
  }

  static readonly handlers: SocketHandler<ClientConnection> = {
    data: (socket, bytes) => socket.data.#onData(bytes),
    drain: (socket) => socket.data.#onDrain(),
    // A client that closes its sending side counts as gone.
    end: (socket) => socket.data.#onOver(),
    close: (socket) => socket.data.#onOver(),
    error: (socket) => {
      socket.terminate()
      socket.data.#onOver()
    },
  }
}

type Whole = Pick<WholeAnswer, 'status' | 'lines' | 'body'> & {
  readonly more?: HeadLines | undefined
}

/** Frees the memory immediately instead of at the next garbage collection. */
function freeBuffer({ buffer, byteLength }: Buffer): void {
  // If other buffers share the memory, the memory must not be freed.
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}

function abandon(answer: Answer): void {
  if (answer instanceof HeadedStream || answer instanceof StreamedAnswer)
    void answer.source.cancel()
}

/** Answers of the same second begin with the same lines, so a cache of one entry is enough. */
let newest = { status: 0, date: '', connection: '', text: '' }

function beginningOf(status: number, date: string, connection: string): string {
  if (newest.status === status && newest.date === date && newest.connection === connection)
    return newest.text
  const text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}\r\n${date}${connection}`
  newest = { status, date, connection, text }
  return text
}

const HAS_NO_BODY: ReadonlySet<number> = new Set([204, 304])
/** Headers that the connection sets itself. */
const OURS: ReadonlySet<string> = new Set(['date', 'keep-alive', 'transfer-encoding'])
const CLOSE = 'connection: close\r\n'
const KEEP_ALIVE = 'connection: keep-alive\r\n'
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
const NOTHING = Buffer.alloc(0)
