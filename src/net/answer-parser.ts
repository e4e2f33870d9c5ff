/**
 * The answers of HTTP/1.1 that a connection's bytes hold: their status, and whether the connection
 * may be used again. Knows no sockets and no LLM.
 */
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

/** An upstream may say that it is still at work (RFC 9110 §15.2), and not for ever. */
const MAX_INTERIM_ANSWERS = 16

export interface AnswerHead {
  readonly status: number
  /** Without control characters, tabs apart: an answer with others is none (RFC 9110 §5.5). */
  readonly headers: HeaderFields
}

/** Hears of one answer, in this order. It may throw away what it hears, and must not throw. */
export interface AnswerReceiver {
  onHead(head: AnswerHead): void
  /** The next bytes of its body, which are those from `from` to `to`; never none. */
  onPart?(bytes: Buffer, from: number, to: number): void
  /** The same, where there is no `onPart`. */
  onPiece?(piece: Uint8Array): void
  /** The answer is whole, and nothing came after it. */
  onEnd(): void
}

/** For one answer after the other, `expectNext` between them. */
export class AnswerParser implements MessageReceiver {
  readonly #messages = new MessageParser(this, LIMITS)
  readonly #receiver: AnswerReceiver
  readonly #opensTunnel: boolean
  #interimAnswers = 0
  #isPersistent = false
  #keepAliveS: number | undefined

  /**
   * @param opensTunnel the question was a CONNECT: an answer of success has no body (RFC 9110
   * §9.3.6)
   */
  constructor(receiver: AnswerReceiver, opensTunnel = false) {
    this.#receiver = receiver
    this.#opensTunnel = opensTunnel
  }

  /** To be called when the answer was whole: nothing of it is left for the next one. */
  expectNext(): void {
    this.#messages.expectNext()
    this.#interimAnswers = 0
    this.#isPersistent = false
    this.#keepAliveS = undefined
  }

  /** The answer is whole and the upstream keeps the connection open: it may be used again. */
  get isReusable(): boolean {
    return this.#messages.isDone && this.#isPersistent
  }

  /**
   * For how long the upstream says that it keeps an idle connection, in seconds; undefined: it does
   * not say.
   */
  get keepAliveS(): number | undefined {
    return this.#keepAliveS
  }

  /**
   * @param bytes written over, and handed on. @throws MalformedMessage
   */
  push(bytes: Buffer): void {
    if (this.#messages.isDone) throw goesOn()
    this.#messages.push(bytes)
  }

  /** The upstream closed the connection, which is the end of an answer that has no other. */
  close(): void {
    this.#messages.close()
  }

  /** For `MessageParser` alone, as is what follows. */
  onHead(first: string, headers: FieldLines): Framing | undefined {
    const { status, isOld } = readStatusLine(first)
    const framing = readFraming(headers, isOld) ?? 'until_close'
    if (status < 200) {
      this.#passInterim(status, isOld)
      return undefined
    }
    const hasBody = status !== 204 && status !== 304 && !(this.#opensTunnel && status < 300)
    // Only its end tells where an answer without a framing ends.
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
    // More bytes would pass for the next question's answer.
    if (left > 0) throw goesOn()
    this.#receiver.onEnd()
  }

  /** Answers that only say that the real one is to come. A change of protocol was not asked for. */
  #passInterim(status: number, isOld: boolean): void {
    this.#interimAnswers += 1
    if (isOld) throw new MalformedMessage('HTTP/1.0 has no interim answers.')
    if (status === 101) throw new MalformedMessage('It changes to another protocol.')
    if (this.#interimAnswers > MAX_INTERIM_ANSWERS)
      throw new MalformedMessage('Too many interim answers come before it.')
  }
}

/** Vendors' heads have under 4 KB. */
const LIMITS = { maxHeadBytes: 64 * 1024, names: [], firstLine: '', skipsEmptyLines: false }

function goesOn(): MalformedMessage {
  return new MalformedMessage('It goes on after its end.')
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

/** Upstreams answer with the same again and again. */
let newest: StatusLine = { text: '', status: 0, isOld: false }

/** @throws MalformedMessage */
function readStatusLine(text: string): StatusLine {
  if (newest.text === text) return newest
  if (!STATUS_LINE.test(text))
    throw new MalformedMessage('Its first line is no status line of HTTP/1.1.')
  const isOld = text.charCodeAt(MINOR_VERSION_AT) === ZERO
  newest = { text, status: Number(text.slice(STATUS_AT, STATUS_AT + 3)), isOld }
  return newest
}

const STATUS_LINE = /^HTTP\/1\.[01] [1-9]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?$/
/** Places within a status line. */
const MINOR_VERSION_AT = 7
const STATUS_AT = 9
const ZERO = 0x30
const KEEP_ALIVE_TIMEOUT = /(?:^|[,\s])timeout=(\d{1,6})(?:$|[,\s])/i
