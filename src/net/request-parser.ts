/**
 * The requests of HTTP/1.1 that a client's bytes hold: what is asked, of which host, and whether
 * another may follow. Knows no sockets, and not what any path does.
 */
import { HTTP_METHODS } from '../core/http.ts'
import type { FieldLines } from './fields.ts'
import {
  type Framing,
  hasToken,
  MalformedMessage,
  MessageParser,
  type MessageReceiver,
  partOf,
  readFraming,
  TooLongMessage,
} from './message-parser.ts'

export interface RequestHead {
  readonly method: string
  /** See `HttpRequest.url`. */
  readonly url: string
  readonly headers: FieldLines
  /** Undefined: it comes in chunks. */
  readonly bodyBytes: number | undefined
  /** The client waits with the body until it hears that it is wanted. */
  readonly awaitsContinue: boolean
  /** Of HTTP/1.0: there are no chunks in its answer, and a connection is kept only if it asks. */
  readonly isOld: boolean
  /** Another request may follow on the connection. */
  readonly isPersistent: boolean
}

/** Hears of one request, in this order. */
export interface RequestReceiver {
  onRequest(head: RequestHead): void
  /** Never empty. */
  onPiece(piece: Uint8Array): void
  /** @param left how many of the bytes that were pushed come after it */
  onEnd(left: number): void
}

/** A request that no handler is asked about. */
export class RefusedRequest extends MalformedMessage {
  override readonly name = 'RefusedRequest'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** The status that says what is wrong with a client's bytes. */
export function statusOf(thrown: MalformedMessage): number {
  if (thrown instanceof RefusedRequest) return thrown.status
  return thrown instanceof TooLongMessage ? 431 : 400
}

/** For one request after the other, `expectNext` between them. */
export class RequestParser implements MessageReceiver {
  readonly #messages = new MessageParser(this, LIMITS)
  readonly #receiver: RequestReceiver

  constructor(receiver: RequestReceiver) {
    this.#receiver = receiver
  }

  /** To be called when the request was whole. */
  expectNext(): void {
    this.#messages.expectNext()
  }

  get isInHead(): boolean {
    return this.#messages.isInHead
  }

  /**
   * Reads up to the end of the request.
   * @param bytes handed on in pieces that share their memory
   * @throws MalformedMessage
   */
  push(bytes: Buffer): void {
    try {
      this.#messages.push(bytes)
    } catch (thrown) {
      throw begunByProxy(bytes) ? new MalformedMessage(BEGUN_BY_PROXY) : thrown
    }
  }

  /** For `MessageParser` alone, as is what follows. */
  onHead(first: string, headers: FieldLines): Framing {
    const start = readStartLine(first)
    const framing = readFraming(headers, start.isOld) ?? 0
    const connection = headers.get('connection')
    this.#receiver.onRequest({
      method: start.method,
      url: readUrl(start, headers.get('host')),
      headers,
      bodyBytes: typeof framing === 'number' ? framing : undefined,
      awaitsContinue: !start.isOld && headers.get('expect')?.toLowerCase() === '100-continue',
      isOld: start.isOld,
      isPersistent: start.isOld
        ? hasToken(connection, 'keep-alive')
        : !hasToken(connection, 'close'),
    })
    return framing
  }

  onPart(bytes: Buffer, from: number, to: number): void {
    this.#receiver.onPiece(partOf(bytes, from, to))
  }

  onEnd(left: number): void {
    this.#receiver.onEnd(left)
  }
}

/**
 * Clients' heads have under 4 KB; proxies allow about as much. Empty lines: RFC 9112 §2.2.
 */
const LIMITS = { maxHeadBytes: 16 * 1024, names: [], firstLine: '', skipsEmptyLines: true }

/**
 * Whether what cannot be read is the PROXY protocol, in one of its two versions. The rest of a head
 * may come long after its first line, which is forgotten here: it tells of this head alone.
 */
function begunByProxy(bytes: Buffer): boolean {
  const { firstLine } = LIMITS
  LIMITS.firstLine = ''
  return (
    PROXY_LINE.test(firstLine) || bytes.subarray(0, PROXY_SIGNATURE.length).equals(PROXY_SIGNATURE)
  )
}

const BEGUN_BY_PROXY =
  'It begins with the PROXY protocol, which nothing here reads: turn it off in the proxy.'
const PROXY_LINE = /^PROXY (?:TCP[46]|UNKNOWN)/
const PROXY_SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n')

interface StartLine {
  readonly text: string
  readonly method: string
  readonly target: string
  readonly isOld: boolean
  /** That was named with it last, and what is asked for there. */
  host: string | null | undefined
  url: string
}

/** Clients ask for the same again and again. */
let newest: StartLine = {
  ...{ text: '', method: '', target: '', isOld: false },
  ...{ host: undefined, url: '' },
}

/** @throws RefusedRequest */
function readStartLine(text: string): StartLine {
  if (newest.text === text) return newest
  const parts = START_LINE.exec(text)
  if (parts === null)
    throw OTHER_VERSION.test(text)
      ? new RefusedRequest(505, 'Its version is not HTTP/1.1.')
      : new RefusedRequest(400, 'Its first line is no request line of HTTP/1.1.')
  const [, method = '', target = '', minor] = parts
  if (!METHODS.has(method)) throw new RefusedRequest(501, 'Nothing here has this method.')
  newest = { text, method, target, isOld: minor === '0', host: undefined, url: '' }
  return newest
}

const METHODS: ReadonlySet<string> = new Set(HTTP_METHODS)
const START_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) ([\x21-\x7e\x80-\xff]+) HTTP\/1\.([01])$/
const OTHER_VERSION = / HTTP\/(?!1\.[01]$)\d+(?:\.\d+)?$/

/** @throws RefusedRequest */
function readUrl(start: StartLine, host: string | null): string {
  if (start.host !== host) {
    start.url = makeUrl(start, host)
    start.host = host
  }
  return start.url
}

/** @throws RefusedRequest */
function makeUrl({ method, target, isOld }: StartLine, host: string | null): string {
  if (host === null && !isOld) throw new RefusedRequest(400, "It has no header 'host'.")
  const path = target.startsWith('/') ? target : pathOfOther(method, target, host)
  const origin = host === null ? undefined : originOf(host)
  if (origin === undefined) return path
  return PLAIN_PATH.test(path) ? origin + path : normalize(origin, path)
}

/** Health checks of proxies ask the server itself whether it is there (RFC 9112 §3.2.4). */
function pathOfOther(method: string, target: string, host: string | null): string {
  return method === 'OPTIONS' && target === '*' ? '/' : pathOfAbsolute(target, host)
}

/** Proxies are asked so; where the two hosts differ, each on the way may take another. */
function pathOfAbsolute(target: string, host: string | null): string {
  const [, named = '', path = ''] = ABSOLUTE.exec(target) ?? []
  if (named === '') throw new RefusedRequest(400, 'What it asks for is no path.')
  if (host !== null && host.toLowerCase() !== named.toLowerCase())
    throw new RefusedRequest(400, 'It names two hosts.')
  return path.startsWith('/') ? path : `/${path}`
}

const ABSOLUTE = /^https?:\/\/([^/?#]+)((?:[/?#].*)?)$/i

/** A path as the web's `URL` leaves it. */
const PLAIN_PATH = /^(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$/

/** Without dot segments, and with what a path cannot hold percent-encoded, as browsers send it. */
function normalize(origin: string, path: string): string {
  try {
    return new URL(origin + Buffer.from(path, 'latin1').toString()).href
  } catch {
    throw new RefusedRequest(400, 'What it asks for is no path.')
  }
}

/** By the hosts that clients named: a bounded memory. */
const origins = new Map<string, string | undefined>()
const MAX_ORIGINS = 100

/** @returns undefined where it is the name of no host */
function originOf(host: string): string | undefined {
  const known = origins.get(host)
  if (known !== undefined) return known
  const origin = parseOrigin(host)
  if (origin === undefined) return undefined
  if (origins.size >= MAX_ORIGINS) origins.clear()
  origins.set(host, origin)
  return origin
}

function parseOrigin(host: string): string | undefined {
  if (!HOST.test(host)) return undefined
  const url = URL.parse(`http://${host}/`)
  return url === null || url.username !== '' ? undefined : url.origin
}

const HOST = /^(?:[A-Za-z0-9._~%!$&'()*+,;=-]+|\[[0-9A-Fa-f:.]+\])(?::\d*)?$/
