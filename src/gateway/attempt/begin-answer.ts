/**
 * Sends one request and reads enough of the response to recognise a usable answer. Forwards
 * nothing.
 */
import type { ToolUses } from '../../core/cost.ts'
import { formOfDialect } from '../../core/dialects.ts'
import { GatewayError } from '../../core/errors.ts'
import { continueWith } from '../../core/maybe-promise.ts'
import type { Usage } from '../../core/usage.ts'
import type { AnswerHead } from '../../net/answer-parser.ts'
import type { Exchange } from '../../net/exchange.ts'
import type { HeaderFields } from '../../net/fields.ts'
import { factsOf } from '../../wire/answer-facts.ts'
import type { JsonRecord } from '../../wire/chat-request.ts'
import { answerBytes } from '../../wire/delta-bytes.ts'
import type {
  AcceptedRequest,
  Dialect,
  RelayedDialect,
  StreamTap,
  TapOutput,
} from '../../wire/dialect.ts'
import { kindOfFailure } from '../../wire/failure-kinds.ts'
import { parseJson } from '../../wire/json-scan.ts'
import { toLatin1 } from '../../wire/latin1.ts'
import { MemberReader } from '../../wire/member-reader.ts'
import { isRecord } from '../../wire/read-json.ts'
import { readUpstreamError } from '../../wire/upstream-error.ts'
import { modelOf } from '../../wire/usage.ts'
import type { AttemptRecord } from '../call-observer.ts'
import type { Target } from '../plan/compile-target.ts'
import type { TranslatedRequest } from '../translate/translate.ts'
import { unusableAnswer } from './failures.ts'
import { type AskingCall, MAX_ERROR_BYTES, toRefusal, toReportedRefusal } from './refused-answer.ts'
import { scrub, scrubText } from './sent-secrets.ts'

/**
 * Complete answers up to this size are read, checked and counted before sending. Larger answers are
 * counted during the relay.
 */
const MAX_WHOLE_ANSWER_BYTES = 4 * 1024 * 1024

/**
 * Translated embeddings are read whole: some providers send 30 bytes per number, and 256 vectors of
 * 4,096 numbers are 31 MB.
 */
const MAX_EMBEDDINGS_ANSWER_BYTES = 64 * 1024 * 1024

const USAGE_MEMBERS: ReadonlySet<string> = new Set([
  'usage',
  'usageMetadata',
  'meta',
  'tool_usage',
  'service_tier',
  'model',
])

export type BegunAnswer = AnswerHead &
  (
    | {
        readonly type: 'whole'
        readonly body: Uint8Array
        readonly usage: Usage | null
        readonly hasFailed: boolean
        /**
         * Bytes of text that the model wrote. Undefined when usage is reported or no estimate is
         * allowed.
         */
        readonly unreportedBytes?: number | undefined
        /** Undefined when the dialect does not report uses of the provider's tools. */
        readonly toolUses?: ToolUses | undefined
        readonly ignored?: readonly string[] | undefined
        /** The model's name at the upstream. Undefined: not reported. */
        readonly model: string | undefined
      }
    | {
        readonly type: 'large'
        readonly exchange: Exchange
        readonly first: Uint8Array
        readonly counted: MemberReader
        readonly dialect: Pick<RelayedDialect, 'readUsage' | 'readToolUses'>
      }
    | {
        readonly type: 'events'
        readonly exchange: Exchange
        readonly first: TapOutput
        readonly tap: StreamTap
        readonly secrets: readonly string[] | undefined
      }
  )

export interface AnswerExpectation {
  readonly target: Target
  readonly dialect: Dialect
  readonly call: AskingCall
  readonly request: AcceptedRequest
  readonly form: AnswerForm
  readonly attempt: AttemptRecord
  /**
   * The secret parts of the sent credential, which no answer may show. Undefined: the whole
   * credential.
   */
  readonly secrets: readonly string[] | undefined
}

/** Contains no reference to the request's body, so the body can be released while waiting. */
export type AnswerForm =
  | ({
      readonly type: 'relayed'
      readonly dialect: RelayedDialect
      readonly hidesUsage: boolean
    } & Pick<TranslatedRequest, 'ignored' | 'adapted'>)
  | ({ readonly type: 'translated' } & Omit<TranslatedRequest, 'body'>)

function createTap(form: AnswerForm): StreamTap {
  return form.type === 'relayed'
    ? form.dialect.createTap({ hidesUsage: form.hidesUsage })
    : form.createTap()
}

/**
 * Returns a promise only when more of the answer has to arrive.
 * @throws GatewayError (or rejects with it) `upstream_error` or `provider_auth_failed`;
 * UpstreamFailure
 */
export function beginAnswer(
  exchange: Exchange,
  head: AnswerHead,
  expected: AnswerExpectation,
): BegunAnswer | Promise<BegunAnswer> {
  expected.attempt.status = head.status
  if (head.status < 200 || head.status > 299)
    return toRefusal(exchange, head, expected).then((refusal) => Promise.reject(refusal))
  // A 205 answer cannot have a body, so the runtime could not send one to the client either.
  if (head.status === RESET_CONTENT)
    throw unusableAnswer(expected.target.name, 'answered with HTTP 205, which has no body')
  const encoding = encodingOf(head.headers)
  if (encoding !== undefined)
    throw unusableAnswer(
      expected.target.name,
      `compressed its answer (${encoding}) although the request asked for accept-encoding: identity`,
    )
  const contentType = head.headers.get('content-type')?.toLowerCase() ?? ''
  if (expected.request.stream) {
    return beginStream(exchange, expected, { head, contentType })
  }
  if (contentType !== '' && !/^application\/(?:[\w.-]+\+)?json\b/.test(contentType)) {
    throw wrongType(expected.target, contentType, 'JSON')
  }
  return beginWhole(exchange, expected, head)
}

/** RFC 9110 §15.3.6. */
const RESET_CONTENT = 205

function encodingOf(headers: HeaderFields): string | undefined {
  const encoding = headers.get('content-encoding')?.trim().toLowerCase().slice(0, 32) ?? ''
  if (encoding === '' || encoding === 'identity') return undefined
  return NOT_IN_NAMES.test(encoding) ? 'something else' : encoding
}

const NOT_IN_NAMES = /[^a-z0-9, -]/

const EVENT_STREAM = 'text/event-stream'

/**
 * The first bytes decide, because some servers and proxies send a wrong content type, or an error
 * as JSON.
 */
async function beginStream(
  exchange: Exchange,
  expected: AnswerExpectation,
  { head, contentType }: { readonly head: AnswerHead; readonly contentType: string },
): Promise<BegunAnswer> {
  const { target } = expected
  const wanted = target.streamContentType ?? EVENT_STREAM
  const isNamed = contentType.startsWith(wanted)
  const first = isNamed ? await exchange.read() : await readBeginning(exchange)
  const form = first === undefined ? undefined : formOf(first)
  if (first !== undefined && form === 'json') {
    const rest = await readUpTo(exchange, MAX_ERROR_BYTES)
    const failure = reportedInJson(Buffer.concat([first, rest]), head, expected)
    if (failure !== undefined) throw failure
    if (isNamed) throw emptyStream(expected)
  }
  const isStream = isNamed || (form === 'events' && wanted === EVENT_STREAM)
  if (!isStream) throw wrongType(target, contentType, 'an event stream')
  if (first === undefined) throw emptyStream(expected)
  return beginEvents(exchange, expected, { head, first })
}

const FORM_BYTES = 16

async function readBeginning(exchange: Exchange): Promise<Uint8Array | undefined> {
  let read: Uint8Array | undefined
  while (read === undefined || read.byteLength < FORM_BYTES) {
    const chunk = await exchange.read()
    if (chunk === undefined) break
    read = read === undefined ? chunk : Buffer.concat([read, chunk])
  }
  return read
}

function formOf(first: Uint8Array): 'events' | 'json' | undefined {
  const text = toLatin1(first, 0, Math.min(first.byteLength, FORM_BYTES)).replace(BLANK, '')
  if (/^[{[]/.test(text)) return 'json'
  return /^(?:(?:data|event|id|retry)?:)/.test(text) ? 'events' : undefined
}

const BLANK = /^(?:\u00ef\u00bb\u00bf)?\s*/

async function beginEvents(
  exchange: Exchange,
  expected: AnswerExpectation,
  { head, first: begun }: { readonly head: AnswerHead; readonly first: Uint8Array },
): Promise<BegunAnswer> {
  const { status, headers } = head
  const tap = createTap(expected.form)
  let comments = ''
  for (let chunk: Uint8Array | undefined = begun; ; chunk = await exchange.read()) {
    if (chunk === undefined) throw emptyStream(expected)
    const { now, held } = tap.push(chunk)
    if (tap.reportedError !== null) throw reportedInEvent(tap.reportedError, tap, head, expected)
    if (tap.verdict === 'complete' && tap.isEmpty === true) throw emptyStream(expected)
    if (now === '' && held === '') continue
    const shown = comments + now
    if (held === '' && areComments(now) && shown.length <= MAX_COMMENT_BYTES) comments = shown
    else {
      const { secrets } = expected
      const first = { now: shown, held }
      expected.attempt.answer = tap
      return { type: 'events', status, headers, exchange, first, tap, secrets }
    }
  }
}

function emptyStream({ target }: AnswerExpectation): GatewayError {
  return unusableAnswer(target.name, 'ended its stream before the first event')
}

/** Some providers send comments until an answer begins; at most this many bytes are held back. */
const MAX_COMMENT_BYTES = 64 * 1024

function areComments(frames: string): boolean {
  if (!COMMENT_OR_LINE_END.test(frames)) return false
  return frames.split(/[\r\n]/).every((line) => line === '' || line.startsWith(':'))
}

const COMMENT_OR_LINE_END = /^[:\r\n]/

/** Detects a failure event while an HTTP status can still report the failure. */
function reportedInEvent(
  reported: string,
  { reportedKind: kind }: StreamTap,
  { headers }: AnswerHead,
  expected: AnswerExpectation,
): GatewayError {
  const message = scrubText(reported, expected)
  const upstreamError = { message, code: kind, json: undefined, isNested: false, isWrapped: false }
  const refusal = toReportedRefusal({ headers, body: NO_BODY, upstreamError, kind }, expected)
  return refusal ?? unusableAnswer(expected.target.name, `reported a failure: ${message}`)
}

const NO_BODY = new Uint8Array(0)

function reportedInJson(
  body: Uint8Array,
  { headers }: Pick<AnswerHead, 'headers'>,
  expected: AnswerExpectation,
): GatewayError | undefined {
  const shown = scrub(body.subarray(0, MAX_ERROR_BYTES), expected)
  const upstreamError = readUpstreamError(shown)
  if (upstreamError.message === undefined || !isRecord(upstreamError.json)) return undefined
  const { error } = upstreamError.json
  const kind = kindOfFailure(isRecord(error) ? error : upstreamError.json)
  return (
    toReportedRefusal({ headers, body: shown, upstreamError, kind }, expected) ??
    unusableAnswer(
      expected.target.name,
      `reported a failure with status 200: ${upstreamError.message}`,
    )
  )
}

function beginWhole(
  exchange: Exchange,
  expected: AnswerExpectation,
  head: AnswerHead,
): BegunAnswer | Promise<BegunAnswer> {
  const { headers } = head
  const declared = Number(headers.get('content-length') ?? Number.NaN)
  // `content-length` bounds the read only without `transfer-encoding` (RFC 9112 §6.3); otherwise
  // bytes are counted as they arrive.
  const isFramed = !headers.has('transfer-encoding')
  const body =
    isFramed && declared <= MAX_WHOLE_ANSWER_BYTES
      ? exchange.readAll()
      : readUpTo(exchange, mostBytesOf(expected))
  return continueWith(body, (bytes) => toBegun(exchange, expected, { head, body: bytes }))
}

function mostBytesOf({ target }: AnswerExpectation): number {
  return target.translator?.form === 'embeddings'
    ? MAX_EMBEDDINGS_ANSWER_BYTES
    : MAX_WHOLE_ANSWER_BYTES
}

function toBegun(
  exchange: Exchange,
  expected: AnswerExpectation,
  { head: { status, headers }, body }: { readonly head: AnswerHead; readonly body: Uint8Array },
): BegunAnswer {
  const { target, form } = expected
  if (form.type === 'translated') {
    if (body.byteLength > mostBytesOf(expected)) {
      // The gateway's limit ended the call, so the call pays for the answer; otherwise large
      // answers would be free.
      expected.attempt.isGivenUp = true
      throw unusableAnswer(target.name, 'sent an answer too large to translate')
    }
    const answer = parseAnswer(body, target)
    if (hasError(answer) && !ANSWER_MEMBERS.some((name) => Object.hasOwn(answer, name)))
      throw noAnswer(body, { headers }, expected)
    const { json, usage, model, ignored } = convert(form, answer, expected)
    if (expected.attempt.trace !== undefined) expected.attempt.answer = factsOf(answer)
    const unreportedBytes = unreportedIn(json, usage, expected)
    const sent = Buffer.from(JSON.stringify(json))
    const reported = { usage, unreportedBytes, model, ignored }
    return { type: 'whole', status, headers, body: sent, hasFailed: false, ...reported }
  }
  if (body.byteLength > MAX_WHOLE_ANSWER_BYTES) {
    const counted = new MemberReader(USAGE_MEMBERS)
    counted.push(body)
    const { dialect } = form
    return { type: 'large', status, headers, exchange, first: body, counted, dialect }
  }
  const answer = parseAnswer(body, target)
  const { dialect } = form
  if (!dialect.isAnswer(answer)) throw noAnswer(body, { headers }, expected)
  if (expected.attempt.trace !== undefined) expected.attempt.answer = factsOf(answer)
  const toolUses = dialect.readToolUses?.(answer)
  const usage = dialect.readUsage(answer)
  const hasFailed = dialect.hasFailed?.(answer) === true
  const unreportedBytes = hasFailed ? undefined : unreportedIn(answer, usage, expected)
  const shown = hasError(answer) ? scrub(body, expected) : body
  return {
    type: 'whole',
    status,
    headers,
    body: shown,
    usage,
    hasFailed,
    unreportedBytes,
    toolUses,
    model: modelOf(answer),
  }
}

const ANSWER_MEMBERS = ['choices', 'output', 'candidates', 'content', 'message', 'data']

function hasError({ error }: JsonRecord): boolean {
  return error !== undefined && error !== null
}

function convert(
  form: Extract<AnswerForm, { type: 'translated' }>,
  answer: JsonRecord,
  expected: AnswerExpectation,
): ReturnType<typeof form.convert> {
  try {
    return form.convert(answer)
  } catch (thrown) {
    if (thrown instanceof GatewayError) thrown.message = scrubText(thrown.message, expected)
    throw thrown
  }
}

/** Some servers report no usage, so usage is estimated; otherwise calls to them would be free. */
function unreportedIn(
  answer: JsonRecord,
  usage: Usage | null,
  { dialect }: AnswerExpectation,
): number | undefined {
  if (usage !== null) return undefined
  return formOfDialect(dialect.id).writesText ? answerBytes(answer) : 0
}

async function readUpTo(exchange: Exchange, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  while (size <= limit) {
    const chunk = await exchange.read()
    if (chunk === undefined) break
    chunks.push(chunk)
    size += chunk.byteLength
  }
  const [only] = chunks
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks)
}

/** Answers are small and not edited, so parsing them whole is the fastest validation. */
function parseAnswer(body: Uint8Array, target: Target): JsonRecord {
  if (body.byteLength === 0) throw unusableAnswer(target.name, 'sent an empty answer')
  let json: unknown
  try {
    json = parseJson(decoder.decode(body))
  } catch {
    throw unusableAnswer(target.name, 'sent an answer that is not valid JSON')
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw unusableAnswer(target.name, 'sent JSON that is not an object')
  }
  return json as JsonRecord
}

/** Some servers and proxies report a failure with status 200. */
function noAnswer(
  body: Uint8Array,
  head: Pick<AnswerHead, 'headers'>,
  expected: AnswerExpectation,
) {
  return (
    reportedInJson(body, head, expected) ??
    unusableAnswer(expected.target.name, 'sent JSON that is not an answer in the requested format')
  )
}

const decoder = new TextDecoder('utf-8', { fatal: true })

function wrongType(target: Target, contentType: string, wanted: string) {
  const sent = contentType.split(';')[0]?.slice(0, 64) || 'no content type'
  return unusableAnswer(target.name, `answered with ${sent} instead of ${wanted}`)
}
