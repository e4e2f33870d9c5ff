/**
 * Sends one request and reads just enough of the answer to know that it is one. Must not forward
 * anything.
 */
import type { ToolUses } from '../../core/cost.ts'
import { formOfDialect } from '../../core/dialects.ts'
import { GatewayError } from '../../core/errors.ts'
import { continueWith } from '../../core/maybe-promise.ts'
import type { Usage } from '../../core/usage.ts'
import type { AnswerHead } from '../../net/answer-parser.ts'
import type { Exchange } from '../../net/exchange.ts'
import type { HeaderFields } from '../../net/fields.ts'
import type { JsonRecord } from '../../wire/chat-request.ts'
import { answerBytes } from '../../wire/delta-bytes.ts'
import type {
  AcceptedRequest,
  Dialect,
  RelayedDialect,
  StreamTap,
  TapOutput,
} from '../../wire/dialect.ts'
import { parseJson } from '../../wire/json-scan.ts'
import { toLatin1 } from '../../wire/latin1.ts'
import { MemberReader } from '../../wire/member-reader.ts'
import { isRecord } from '../../wire/read-json.ts'
import { kindOfFailure } from '../../wire/reported-failure.ts'
import { readUpstreamError } from '../../wire/upstream-error.ts'
import { modelOf } from '../../wire/usage.ts'
import type { AttemptRecord } from '../call-observer.ts'
import type { Target } from '../plan/compile-target.ts'
import type { TranslatedRequest } from '../translate/translate.ts'
import { unusableAnswer } from './failures.ts'
import { type AskingCall, MAX_ERROR_BYTES, toRefusal, toReportedRefusal } from './refused-answer.ts'
import { scrub, scrubText } from './sent-secrets.ts'

/**
 * Whole answers up to this size are read, checked and counted before they go out; larger ones are
 * counted as they flow.
 */
const MAX_WHOLE_ANSWER_BYTES = 4 * 1024 * 1024

/**
 * The same for embeddings that are translated, which has to see all of them: some vendors send 30
 * bytes a number, and 256 vectors of 4,096 numbers are 31 MB.
 */
const MAX_EMBEDDINGS_ANSWER_BYTES = 64 * 1024 * 1024

/** The members in which the dialects report a whole answer's usage, its tier, its tools and its model. */
const USAGE_MEMBERS: ReadonlySet<string> = new Set([
  'usage',
  'usageMetadata',
  'meta',
  'tool_usage',
  'service_tier',
  'model',
])

/** The beginning of an answer that will be relayed. */
export type BegunAnswer = AnswerHead &
  (
    | {
        readonly type: 'whole'
        readonly body: Uint8Array
        readonly usage: Usage | null
        /** The answer says of itself that it has failed. */
        readonly hasFailed: boolean
        /** Of text that the model wrote. Undefined: `usage` tells, or nothing may be guessed. */
        readonly unreportedBytes?: number | undefined
        /** Of the vendor's own tools. Undefined: the dialect tells of none. */
        readonly toolUses?: ToolUses | undefined
        /** Parts of the upstream's answer that its caller does not get; absent: none. */
        readonly ignored?: readonly string[] | undefined
        /** As the upstream names it. Undefined: it does not. */
        readonly model: string | undefined
      }
    | {
        readonly type: 'large'
        readonly exchange: Exchange
        readonly first: Uint8Array
        /** Has seen `first` already. */
        readonly counted: MemberReader
        readonly dialect: Pick<RelayedDialect, 'readUsage' | 'readToolUses'>
      }
    | {
        readonly type: 'events'
        readonly exchange: Exchange
        readonly first: TapOutput
        readonly tap: StreamTap
        /** See `AnswerExpectation`. */
        readonly secrets: readonly string[] | undefined
      }
  )

export interface AnswerExpectation {
  readonly target: Target
  readonly dialect: Dialect
  readonly call: AskingCall
  readonly request: AcceptedRequest
  readonly form: AnswerForm
  /** Told the answer's status. */
  readonly attempt: AttemptRecord
  /**
   * The sent parts of the credential that open something: no answer may show them.
   * Undefined: the credential as it is.
   */
  readonly secrets: readonly string[] | undefined
}

/**
 * Whether the answer to a request comes back as it is or is translated. The request's body is no
 * part of it: the answer is waited for without it.
 */
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
 * A promise only where more of the answer has to come.
 * @throws GatewayError (or rejects with it) `upstream_error` or `provider_auth_failed`;
 *   UpstreamFailure
 */
export function beginAnswer(
  exchange: Exchange,
  head: AnswerHead,
  expected: AnswerExpectation,
): BegunAnswer | Promise<BegunAnswer> {
  expected.attempt.status = head.status
  if (head.status < 200 || head.status > 299)
    return toRefusal(exchange, head, expected).then((refusal) => Promise.reject(refusal))
  // The runtime, too, would send the caller nothing of it.
  if (head.status === RESET_CONTENT)
    throw unusableAnswer(expected.target.name, 'answered with HTTP 205, which has no body')
  const encoding = encodingOf(head.headers)
  if (encoding !== undefined)
    throw unusableAnswer(
      expected.target.name,
      `encoded its answer as ${encoding}, though it was asked for as it is (accept-encoding: identity)`,
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

/** @returns undefined where the answer is as it is */
function encodingOf(headers: HeaderFields): string | undefined {
  const said = headers.get('content-encoding')?.trim().toLowerCase().slice(0, 32) ?? ''
  if (said === '' || said === 'identity') return undefined
  return NOT_IN_NAMES.test(said) ? 'something else' : said
}

const NOT_IN_NAMES = /[^a-z0-9, -]/

const EVENT_STREAM = 'text/event-stream'

/**
 * The answer's first bytes count for more than its content type: some servers, and what stands
 * before them, name another type or none, and some send an error as JSON.
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

/** So many bytes tell the form of an answer. */
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
  // Nearly always the first byte says it.
  const text = toLatin1(first, 0, Math.min(first.byteLength, FORM_BYTES)).replace(BLANK, '')
  if (/^[{[]/.test(text)) return 'json'
  return /^(?:(?:data|event|id|retry)?:)/.test(text) ? 'events' : undefined
}

/** A byte order mark, and space. */
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
      return { type: 'events', status, headers, exchange, first, tap, secrets }
    }
  }
}

function emptyStream({ target }: AnswerExpectation): GatewayError {
  return unusableAnswer(target.name, 'ended its stream before the first event')
}

/**
 * Some vendors send comments until they know whether there is an answer: more of them than this are
 * not kept back.
 */
const MAX_COMMENT_BYTES = 64 * 1024

/** @param frames whole ones. Nearly always the first byte says no. */
function areComments(frames: string): boolean {
  if (!COMMENT_OR_LINE_END.test(frames)) return false
  return frames.split(/[\r\n]/).every((line) => line === '' || line.startsWith(':'))
}

const COMMENT_OR_LINE_END = /^[:\r\n]/

/** While a status can still tell it. */
function reportedInEvent(
  reported: string,
  { reportedKind: kind }: StreamTap,
  { headers }: AnswerHead,
  expected: AnswerExpectation,
): GatewayError {
  const message = scrubText(reported, expected)
  const said = { message, code: kind, json: undefined, isNested: false, isWrapped: false }
  const refusal = toReportedRefusal({ headers, body: NO_BODY, said, kind }, expected)
  return refusal ?? unusableAnswer(expected.target.name, `reported a failure: ${message}`)
}

const NO_BODY = new Uint8Array(0)

/** @returns undefined where the JSON is no error */
function reportedInJson(
  body: Uint8Array,
  { headers }: Pick<AnswerHead, 'headers'>,
  expected: AnswerExpectation,
): GatewayError | undefined {
  const shown = scrub(body.subarray(0, MAX_ERROR_BYTES), expected)
  const said = readUpstreamError(shown)
  if (said.message === undefined || !isRecord(said.json)) return undefined
  const { error } = said.json
  const kind = kindOfFailure(isRecord(error) ? error : said.json)
  return (
    toReportedRefusal({ headers, body: shown, said, kind }, expected) ??
    unusableAnswer(expected.target.name, `reported a failure with a 200: ${said.message}`)
  )
}

function beginWhole(
  exchange: Exchange,
  expected: AnswerExpectation,
  head: AnswerHead,
): BegunAnswer | Promise<BegunAnswer> {
  const { headers } = head
  const declared = Number(headers.get('content-length') ?? Number.NaN)
  // A length bounds what is read only where it is what frames the answer (RFC 9112 §6.3): otherwise
  // it is counted as it comes.
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
      // The limit is ours: whoever asks for more than it would have it for nothing.
      expected.attempt.isGivenUp = true
      throw unusableAnswer(target.name, 'sent an answer too large to translate')
    }
    const answer = parseAnswer(body, target)
    if (hasError(answer) && !ANSWER_MEMBERS.some((name) => Object.hasOwn(answer, name)))
      throw noAnswer(body, { headers }, expected)
    const { json, usage, model, ignored } = convert(form, answer, expected)
    const unreportedBytes = unreportedIn(json, usage, expected)
    const sent = Buffer.from(JSON.stringify(json))
    const told = { usage, unreportedBytes, model, ignored }
    return { type: 'whole', status, headers, body: sent, hasFailed: false, ...told }
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

/** The members that hold an answer, in all dialects of upstreams. */
const ANSWER_MEMBERS = ['choices', 'output', 'candidates', 'content', 'message', 'data']

/** Some tell in a whole answer why it failed. */
function hasError({ error }: JsonRecord): boolean {
  return error !== undefined && error !== null
}

/** @throws GatewayError that may have the upstream's words in it, without its secrets */
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

/** Some servers report no usage, and nobody may call them for nothing: it is estimated. */
function unreportedIn(
  answer: JsonRecord,
  usage: Usage | null,
  { dialect }: AnswerExpectation,
): number | undefined {
  if (usage !== null) return undefined
  return formOfDialect(dialect.id).writesText ? answerBytes(answer) : 0
}

/** Reads to the end, or until there is more than `limit`: then what was read so far. */
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

/**
 * Parsed whole, unlike a request: it is small, nothing in it is edited, and this is the fastest
 * check that it is JSON.
 */
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

/** Some servers, and what stands before them, report a failure with a 200. */
function noAnswer(
  body: Uint8Array,
  head: Pick<AnswerHead, 'headers'>,
  expected: AnswerExpectation,
) {
  return (
    reportedInJson(body, head, expected) ??
    unusableAnswer(expected.target.name, 'sent JSON that is no answer in the format asked for')
  )
}

const decoder = new TextDecoder('utf-8', { fatal: true })

function wrongType(target: Target, contentType: string, wanted: string) {
  const sent = contentType.split(';')[0]?.slice(0, 64) || 'no content type'
  return unusableAnswer(target.name, `answered with ${sent} where ${wanted} was asked for`)
}
