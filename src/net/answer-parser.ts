/** Parses HTTP/1.1 responses and decides whether the connection may be reused. */
import type { FieldLines, HeaderFields } from './fields.ts'
import {
  type Framing,
  hasToken,
  MalformedMessage,
  MessageParser,
  type MessageReceiver,
  partOf,
  readFraming,
} from './message-parser.ts'

/** Interim responses allowed per answer (RFC 9110 §15.2). */
const MAX_INTERIM_ANSWERS = 16

export interface AnswerHead {
  readonly status: number
  /** Without control characters except tabs; other answers are malformed (RFC 9110 §5.5). */
  readonly headers: HeaderFields
}

export interface AnswerReceiver {
  onHead(head: AnswerHead): void
  /** The next bytes of the body, `bytes[from..to)`; never empty. */
  onPart?(bytes: Buffer, from: number, to: number): void
  onPiece?(piece: Uint8Array): void
  /** The answer is complete, and no bytes follow. */
  onEnd(): void
}

export class AnswerParser implements MessageReceiver {
  readonly #messages = new MessageParser(this, LIMITS)
  readonly #receiver: AnswerReceiver
  readonly #opensTunnel: boolean
  #interimAnswers = 0
  #isPersistent = false
  #keepAliveS: number | undefined

  /**
   * @param opensTunnel the request was a CONNECT, whose successful answer has no body (RFC 9110
   * §9.3.6)
   */
  constructor(receiver: AnswerReceiver, opensTunnel = false) {
    this.#receiver = receiver
    this.#opensTunnel = opensTunnel
  }

  expectNext(): void {
    this.#messages.expectNext()
    this.#interimAnswers = 0
    this.#isPersistent = false
    this.#keepAliveS = undefined
  }

  get isReusable(): boolean {
    return this.#messages.isDone && this.#isPersistent
  }

  /** Undefined: the upstream sent no keep-alive time. */
  get keepAliveS(): number | undefined {
    return this.#keepAliveS
  }

  push(bytes: Buffer): void {
    if (this.#messages.isDone) throw goesOn()
    this.#messages.push(bytes)
  }

  /** Call when the upstream closed the connection, which ends an answer without a length. */
  close(): void {
    this.#messages.close()
  }

  onHead(first: string, headers: FieldLines): Framing | undefined {
    const { status, isOld } = readStatusLine(first)
    const framing = readFraming(headers, isOld) ?? 'until_close'
    if (status < 200) {
      this.#passInterim(status, isOld)
      return undefined
    }
    const hasBody = status !== 204 && status !== 304 && !(this.#opensTunnel && status < 300)
    // An answer without framing ends when its connection closes.
    this.#isPersistent =
      !isOld &&
      !hasToken(headers.get('connection'), 'close') &&
      !(hasBody && framing === 'until_close')
    this.#keepAliveS = readKeepAlive(headers.get('keep-alive'))
    this.#receiver.onHead({ status, headers })
    return hasBody ? framing : 0
  }

  onPart(bytes: Buffer, from: number, to: number): void {
    if (this.#receiver.onPart !== undefined) this.#receiver.onPart(bytes, from, to)
    else this.#receiver.onPiece?.(partOf(bytes, from, to))
  }

  onEnd(left: number): void {
    // Extra bytes would be read as the answer to the next request.
    if (left > 0) throw goesOn()
    this.#receiver.onEnd()
  }

  /** Skips interim responses (1xx). No request asks for a protocol change, so 101 is malformed. */
  #passInterim(status: number, isOld: boolean): void {
    this.#interimAnswers += 1
    if (isOld) throw new MalformedMessage('HTTP/1.0 has no interim answers.')
    if (status === 101) throw new MalformedMessage('The answer switches to another protocol.')
    if (this.#interimAnswers > MAX_INTERIM_ANSWERS)
      throw new MalformedMessage('Too many interim answers precede the answer.')
  }
}

/** Providers' response heads are below 4 KB. */
const LIMITS = { maxHeadBytes: 64 * 1024, names: [], firstLine: '', skipsEmptyLines: false }

function goesOn(): MalformedMessage {
  return new MalformedMessage('The answer continues after its end.')
}

function readKeepAlive(value: string | null): number | undefined {
  const seconds = value === null ? undefined : KEEP_ALIVE_TIMEOUT.exec(value)?.[1]
  return seconds === undefined ? undefined : Number(seconds)
}

interface StatusLine {
  readonly text: string
  readonly status: number
  readonly isOld: boolean
}

/** Upstreams repeat the same status line, so a cache of one entry is enough. */
let newest: StatusLine = { text: '', status: 0, isOld: false }

function readStatusLine(text: string): StatusLine {
  if (newest.text === text) return newest
  if (!STATUS_LINE.test(text))
    throw new MalformedMessage('The first line is not an HTTP/1.1 status line.')
  const isOld = text.charCodeAt(MINOR_VERSION_AT) === ZERO
  newest = { text, status: Number(text.slice(STATUS_AT, STATUS_AT + 3)), isOld }
  return newest
}

const STATUS_LINE = /^HTTP\/1\.[01] [1-9]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?$/
const MINOR_VERSION_AT = 7
const STATUS_AT = 9
const ZERO = 0x30
const KEEP_ALIVE_TIMEOUT = /(?:^|[,\s])timeout=(\d{1,6})(?:$|[,\s])/i
