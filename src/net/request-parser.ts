/** Parses HTTP/1.1 requests: target, host, and whether another request may follow. */
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
  readonly url: string
  readonly headers: FieldLines
  /** Undefined: chunked. */
  readonly bodyBytes: number | undefined
  readonly awaitsContinue: boolean
  /** HTTP/1.0: no chunked answers, and the connection stays open only on request. */
  readonly isOld: boolean
  readonly isPersistent: boolean
}

export interface RequestReceiver {
  onRequest(head: RequestHead): void
  onPiece(piece: Uint8Array): void
  /** @param left how many of the pushed bytes follow the request */
  onEnd(left: number): void
}

export class RefusedRequest extends MalformedMessage {
  override readonly name = 'RefusedRequest'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export function statusOf(thrown: MalformedMessage): number {
  if (thrown instanceof RefusedRequest) return thrown.status
  return thrown instanceof TooLongMessage ? 431 : 400
}

export class RequestParser implements MessageReceiver {
  readonly #messages = new MessageParser(this, LIMITS)
  readonly #receiver: RequestReceiver

  constructor(receiver: RequestReceiver) {
    this.#receiver = receiver
  }

  expectNext(): void {
    this.#messages.expectNext()
  }

  get isInHead(): boolean {
    return this.#messages.isInHead
  }

  /**
   * Parses up to the end of the request.
   * @param bytes passed on in pieces that share their memory
   * @throws MalformedMessage
   */
  push(bytes: Buffer): void {
    try {
      this.#messages.push(bytes)
    } catch (thrown) {
      throw begunByProxy(bytes) ? new MalformedMessage(BEGUN_BY_PROXY) : thrown
    }
  }

  /** For `MessageParser` only, as are the methods below. */
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

/** Clients' heads are below 4 KB; proxies allow about 16. Empty lines: RFC 9112 §2.2. */
const LIMITS = { maxHeadBytes: 16 * 1024, names: [], firstLine: '', skipsEmptyLines: true }

/**
 * True for the PROXY protocol, version 1 or 2. The cached first line is cleared, because the cached
 * line must come from this head.
 */
function begunByProxy(bytes: Buffer): boolean {
  const { firstLine } = LIMITS
  LIMITS.firstLine = ''
  return (
    PROXY_LINE.test(firstLine) || bytes.subarray(0, PROXY_SIGNATURE.length).equals(PROXY_SIGNATURE)
  )
}

const BEGUN_BY_PROXY =
  'The connection begins with the PROXY protocol, which is not supported. Turn that protocol off in the proxy.'
const PROXY_LINE = /^PROXY (?:TCP[46]|UNKNOWN)/
const PROXY_SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n')

interface StartLine {
  readonly text: string
  readonly method: string
  readonly target: string
  readonly isOld: boolean
  /** The last host used with this start line, and the URL that results. */
  host: string | null | undefined
  url: string
}

/** Clients repeat the same start line, so a cache of one entry is enough. */
let newest: StartLine = {
  ...{ text: '', method: '', target: '', isOld: false },
  ...{ host: undefined, url: '' },
}

function readStartLine(text: string): StartLine {
  if (newest.text === text) return newest
  const parts = START_LINE.exec(text)
  if (parts === null)
    throw OTHER_VERSION.test(text)
      ? new RefusedRequest(505, 'The version is not HTTP/1.1.')
      : new RefusedRequest(400, 'The first line is not an HTTP/1.1 request line.')
  const [, method = '', target = '', minor] = parts
  if (!METHODS.has(method)) throw new RefusedRequest(501, 'The method is not supported.')
  newest = { text, method, target, isOld: minor === '0', host: undefined, url: '' }
  return newest
}

const METHODS: ReadonlySet<string> = new Set(HTTP_METHODS)
const START_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) ([\x21-\x7e\x80-\xff]+) HTTP\/1\.([01])$/
const OTHER_VERSION = / HTTP\/(?!1\.[01]$)\d+(?:\.\d+)?$/

function readUrl(start: StartLine, host: string | null): string {
  if (start.host !== host) {
    start.url = makeUrl(start, host)
    start.host = host
  }
  return start.url
}

function makeUrl({ method, target, isOld }: StartLine, host: string | null): string {
  if (host === null && !isOld) throw new RefusedRequest(400, "The head has no 'host' header.")
  const path = target.startsWith('/') ? target : pathOfOther(method, target, host)
  const origin = host === null ? undefined : originOf(host)
  if (origin === undefined) return path
  return PLAIN_PATH.test(path) ? origin + path : normalize(origin, path)
}

/** Proxies' health checks ask the server itself with `*` (RFC 9112 §3.2.4). */
function pathOfOther(method: string, target: string, host: string | null): string {
  return method === 'OPTIONS' && target === '*' ? '/' : pathOfAbsolute(target, host)
}

/**
 * The absolute form is for proxies. A host that differs from the `Host` header is refused, because
 * intermediaries may disagree about the right host.
 */
function pathOfAbsolute(target: string, host: string | null): string {
  const [, named = '', path = ''] = ABSOLUTE.exec(target) ?? []
  if (named === '') throw new RefusedRequest(400, 'The target is not a path.')
  if (host !== null && host.toLowerCase() !== named.toLowerCase())
    throw new RefusedRequest(400, 'The target and the host header name different hosts.')
  return path.startsWith('/') ? path : `/${path}`
}

const ABSOLUTE = /^https?:\/\/([^/?#]+)((?:[/?#].*)?)$/i

/** A path that `URL` returns unchanged. */
const PLAIN_PATH = /^(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$/

/**
 * Removes dot segments and percent-encodes characters that a path cannot contain, as browsers do.
 */
function normalize(origin: string, path: string): string {
  try {
    return new URL(origin + Buffer.from(path, 'latin1').toString()).href
  } catch {
    throw new RefusedRequest(400, 'The target is not a path.')
  }
}

/** Clients choose the names of hosts, so the cache is bounded. */
const origins = new Map<string, string | undefined>()
const MAX_ORIGINS = 100

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
