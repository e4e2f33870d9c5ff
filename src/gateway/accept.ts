/**
 * Stage 2, accept: reads the body within limits of size and time, and scans the top level of its
 * JSON. The body stays bytes.
 */
import { GatewayError, invalidRequest } from '../core/errors.ts'
import { isJsonContentType } from '../core/http.ts'
import type { MaybePromise } from '../core/maybe-promise.ts'
import type { Deadline, Deadlines, DueCause, WaitingCall } from '../net/deadlines.ts'
import type { HeaderFields } from '../net/fields.ts'
import type { HttpRequest } from '../net/messages.ts'
import type { AcceptedRequest, Dialect } from '../wire/dialect.ts'
import { type JsonObject, JsonSyntaxError, scanJsonObject } from '../wire/json-splice.ts'
import { keyRevoked } from './attempt/failures.ts'
import type { Call, HeldBody } from './call.ts'
import { WANTED } from './shared-credential.ts'

export interface BodyLimits {
  readonly maxBodyBytes: number
  readonly bodyTimeoutMs: number
}

/**
 * Returns a promise only when the body has not arrived yet.
 * @throws GatewayError (or rejects with it) `invalid_request`, `payload_too_large`,
 * `request_timeout`, `unavailable`, or `unauthorized` when the key is revoked meanwhile
 */
export function accept(
  ports: { readonly bodyLimits: BodyLimits; readonly deadlines: Deadlines },
  request: HttpRequest,
  call: Pick<Call, 'dialect' | 'body' | 'caller'>,
): MaybePromise<AcceptedRequest> {
  // The header is checked for every call, so a wrong value fails before a gate needs translation.
  readStrictness(request.headers)
  const { dialect, body: held } = call
  const { deadlines } = ports
  return readBody(request, ports.bodyLimits, { deadlines, dialect, held, owner: call })
}

/** A scan takes a microsecond per member and blocks other calls, so the number is bounded. */
const MOST_MEMBERS = 200_000

function scanBody(bytes: Uint8Array): JsonObject {
  if (bytes.byteLength === 0)
    throw invalidRequest(
      'The request body is empty: send a JSON object.',
      undefined,
      'invalid_json',
    )
  try {
    const body = scanJsonObject(bytes, WANTED)
    if (body.memberCount > MOST_MEMBERS)
      throw new JsonSyntaxError(
        `more than ${MOST_MEMBERS} members in all its objects`,
        bytes.byteLength,
      )
    return body
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw invalidRequest(
      `The request body is not usable: ${error.message}`,
      undefined,
      'invalid_json',
    )
  }
}

function acceptBytes(bytes: Uint8Array, { dialect, held }: AcceptedAs): AcceptedRequest {
  const text = scanBody(bytes)
  held.own(text)
  return dialect.accept(text)
}

type AcceptedAs = Pick<BodyReading, 'dialect' | 'held'>

interface BodyReading {
  readonly deadlines: Deadlines
  readonly dialect: Dialect
  readonly held: HeldBody
  /** The call whose wait `Deadlines.revoke` may end. */
  readonly owner: WaitingCall
}

function readBody(
  request: HttpRequest,
  limits: BodyLimits,
  reading: BodyReading,
): MaybePromise<AcceptedRequest> {
  checkContentHeaders(request.headers)
  const declared = request.headers.get('content-length')
  if (declared !== null && Number(declared) > limits.maxBodyBytes) throw tooLarge(limits)
  // Accessing `request.body` creates a stream, which is expensive, so a body of declared length is
  // taken as bytes.
  if (declared !== null) {
    reading.held.take(Number(declared) || 0)
    const bytes = request.takeBytes?.()
    if (bytes !== undefined) return acceptBytes(bytes, reading)
    return within(limits.bodyTimeoutMs, request.bytes(), reading)
  }
  const body = request.body === null ? NO_BODY : readCounted(request.body, limits, reading.held)
  return within(limits.bodyTimeoutMs, body, reading)
}

const NO_BODY = Promise.resolve(new Uint8Array(0))

function checkContentHeaders(headers: HeaderFields): void {
  const type = headers.get('content-type')
  if (type !== null && !isJsonContentType(type)) {
    throw invalidRequest(
      "The header 'content-type' must be application/json.",
      'content-type',
      'invalid_content_type',
    )
  }
  const encoding = headers.get('content-encoding')
  if (encoding !== null && encoding.toLowerCase() !== 'identity') {
    throw invalidRequest(
      "The header 'content-encoding' is not supported: send the body uncompressed.",
      'content-encoding',
      'unsupported_content_encoding',
    )
  }
}

async function readCounted(
  body: ReadableStream<Uint8Array>,
  limits: BodyLimits,
  held: HeldBody,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > limits.maxBodyBytes) throw tooLarge(limits)
    held.take(chunk.byteLength)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function within(
  timeoutMs: number,
  body: Promise<Uint8Array>,
  reading: BodyReading,
): Promise<AcceptedRequest> {
  const wait = new BodyWait(reading, timeoutMs)
  body.then(
    (bytes) => wait.end(bytes),
    (cause: unknown) => wait.fail(cause),
  )
  return wait.accepted
}

class BodyWait implements Deadline {
  dueAt: number
  before: Deadline | undefined = undefined
  after: Deadline | undefined = undefined
  readonly owner: WaitingCall
  readonly #deadlines: Deadlines
  readonly #reading: AcceptedAs
  readonly #accepted = Promise.withResolvers<AcceptedRequest>()

  constructor(reading: BodyReading, timeoutMs: number) {
    const { deadlines, owner } = reading
    this.owner = owner
    this.#deadlines = deadlines
    this.#reading = reading
    this.dueAt = deadlines.now() + timeoutMs
    deadlines.add(this)
  }

  get accepted(): Promise<AcceptedRequest> {
    return this.#accepted.promise
  }

  end(bytes: Uint8Array): void {
    this.#deadlines.remove(this)
    try {
      this.#accepted.resolve(acceptBytes(bytes, this.#reading))
    } catch (thrown) {
      this.#accepted.reject(thrown)
    }
  }

  fail(cause: unknown): void {
    this.#deadlines.remove(this)
    this.#accepted.reject(cause instanceof GatewayError ? cause : unreadable(cause))
  }

  onDue(cause: DueCause, reason?: Error): void {
    this.#accepted.reject(
      cause === 'revoked'
        ? (reason ?? keyRevoked())
        : new GatewayError('request_timeout', 'The request body did not arrive in time.'),
    )
  }
}

function unreadable(cause: unknown): GatewayError {
  return new GatewayError('invalid_request', 'The request body could not be read to its end.', {
    cause,
  })
}

function tooLarge(limits: BodyLimits): GatewayError {
  return new GatewayError(
    'payload_too_large',
    `The request body is larger than ${limits.maxBodyBytes} bytes.`,
  )
}

const STRICT_HEADER = 'x-gatehouse-strict'

const STRICT_WORDS: ReadonlyMap<string, boolean> = new Map([
  ...['true', '1', 'yes', 'on'].map((word) => [word, true] as const),
  ...['false', '0', 'no', 'off'].map((word) => [word, false] as const),
])

/**
 * True when the caller forbids ignoring members of its request.
 * @throws GatewayError `invalid_request` for an unknown value
 */
export function readStrictness(headers: HeaderFields): boolean {
  const value = headers.get(STRICT_HEADER)
  if (value === null) return false
  const isStrict = STRICT_WORDS.get(value.toLowerCase())
  if (isStrict !== undefined) return isStrict
  throw invalidRequest(
    `'${STRICT_HEADER}' must be one of ${[...STRICT_WORDS.keys()].join(', ')}.`,
    STRICT_HEADER,
    'invalid_value',
  )
}
