/**
 * Handles one request from its bytes to its answer: reads model and fault, calls the dialect,
 * writes the body.
 */
import { createHash } from 'node:crypto'
import {
  type Answer,
  badField,
  type Dialect,
  type Exchange,
  type Frame,
  type Framing,
  missingField,
  Refusal,
  type RefusalDetails,
  SSE,
} from './dialect.ts'
import { isObject, type JsonObject } from './json.ts'
import { type Fault, parseFault, parseModel, type SandboxModel } from './parse-model.ts'

interface Generation {
  readonly request: Request
  readonly dialect: Dialect
  /** The model if the path names it; otherwise the body names it. */
  readonly model: string | undefined
  /** True when the path asks for a stream. Undefined: the body decides. */
  readonly isStream: boolean | undefined
  readonly apiKey: string
  /** Also sent with a refusal, so tests can check what arrived. */
  readonly headers: Record<string, string>
  readonly chunkDelayMs: number
}

export async function generate({
  request,
  dialect,
  model: modelInPath,
  isStream: isStreamByPath,
  apiKey,
  headers,
  chunkDelayMs,
}: Generation): Promise<Response> {
  const bytes = new Uint8Array(await request.arrayBuffer())
  const seed = createHash('sha256').update(bytes).digest('hex')
  headers[dialect.vendor.idHeader] = `sandbox-${seed.slice(0, 24)}`
  headers['x-sandbox-body-sha256'] = seed
  headers['x-sandbox-body-bytes'] = String(bytes.byteLength)
  const body = parseBody(bytes)
  const model = findModel(modelInPath ?? body.model, request.headers.get('x-sandbox-fault'))
  const early = model.fault && (await applyEarlyFault(model.fault, request, headers))
  if (early) return early
  const exchange: Exchange = { body, apiKey, model, seed }
  const answer = dialect.answer(exchange)
  const isStream = isStreamByPath ?? body.stream === true
  if (model.fault?.name === 'error-mid-stream' && !isStream) {
    throw new Refusal(500, 'The sandbox failed half-way, as it was asked to.', {
      code: 'server_error',
    })
  }
  const framing = isStream ? (dialect.framing ?? SSE) : undefined
  headers['content-type'] = contentTypeFor(framing, model.fault)
  const bodySettings = { fault: model.fault, chunkDelayMs, signal: request.signal }
  if (framing === undefined) return new Response(writeJson(answer, bodySettings), { headers })
  headers['cache-control'] = 'no-cache'
  return new Response(writeStream(answer, framing, bodySettings), { headers })
}

function parseBody(bytes: Uint8Array): JsonObject {
  let body: unknown
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new Refusal(400, 'The body of your request is not valid JSON.')
  }
  if (!isObject(body)) throw new Refusal(400, 'The body of your request must be a JSON object.')
  return body
}

function findModel(asked: unknown, faultHeader: string | null): SandboxModel {
  if (typeof asked !== 'string') {
    throw missingField('model')
  }
  const model = parseModel(asked)
  if (!model) {
    const message = `The model '${asked.slice(0, 200)}' does not exist in the sandbox.`
    throw new Refusal(404, message, { param: 'model', code: 'model_not_found' })
  }
  if (faultHeader === null) return model
  const fault = parseFault(faultHeader)
  if (!fault)
    throw badField(`The sandbox has no fault '${faultHeader.slice(0, 200)}'.`, 'x-sandbox-fault')
  return { ...model, fault }
}

function contentTypeFor(framing: Framing | undefined, fault: Fault | null): string {
  if (fault?.name === 'wrong-type') return 'text/plain; charset=utf-8'
  return framing?.contentType ?? 'application/json'
}

const BY_STATUS: Readonly<Record<number, RefusalDetails>> = {
  401: { code: 'invalid_api_key' },
  403: { type: 'permission_error', code: 'permission_denied' },
  404: { code: 'model_not_found', param: 'model' },
  429: { type: 'requests', code: 'rate_limit_exceeded' },
}

/**
 * Null for other kinds of faults. A number after `429` or `503` is the `retry-after` in seconds.
 */
function refusalOf(fault: Fault): Refusal | null {
  const headers = fault.amount === null ? {} : { 'retry-after': String(fault.amount) }
  switch (fault.name) {
    case 'status': {
      const message = `The sandbox answers ${fault.status}, as it was asked to.`
      return new Refusal(fault.status, message, { ...BY_STATUS[fault.status], headers })
    }
    case 'quota':
      return new Refusal(429, 'The sandbox says that the quota is used up, as it was asked to.', {
        type: 'insufficient_quota',
        code: 'insufficient_quota',
      })
    case 'overloaded':
      return new Refusal(503, 'The sandbox says that it is overloaded, as it was asked to.', {
        type: 'service_unavailable_error',
        code: 'server_is_overloaded',
        headers,
      })
    case 'context-length':
      return new Refusal(
        400,
        'The sandbox says that the input exceeds its context window, as it was asked to.',
        {
          code: 'context_length_exceeded',
          param: 'input',
        },
      )
    default:
      return null
  }
}

const DEFAULT_SLOW_MS = 1000

/**
 * @returns an answer instead of the dialect's, or null when the dialect answers (for `slow`, after
 * the wait).
 * @throws Refusal for faults that are errors.
 */
async function applyEarlyFault(
  fault: Fault,
  request: Request,
  headers: Record<string, string>,
): Promise<Response | null> {
  const refusal = refusalOf(fault)
  if (refusal) throw refusal
  switch (fault.name) {
    case 'slow':
      await pause(fault.amount ?? DEFAULT_SLOW_MS, request.signal)
      return null
    case 'hang':
      await untilClientLeaves(request.signal)
      return new Response(null, { status: 499 })
    case 'html':
      return new Response(
        '<!doctype html><title>502</title><h1>Sandbox: not the answer you wanted</h1>',
        {
          status: fault.amount ?? 200,
          headers: { ...headers, 'content-type': 'text/html; charset=utf-8' },
        },
      )
    case 'empty':
      return new Response('', { headers: { ...headers, 'content-type': 'application/json' } })
    case 'redirect': {
      const location = '/v1/models?sandbox=redirected'
      return new Response(null, { status: fault.amount ?? 307, headers: { ...headers, location } })
    }
    case 'leaky-headers':
      Object.assign(headers, LEAKY_HEADERS)
      return null
    default:
      return null
  }
}

const LEAKY_HEADERS = {
  'set-cookie': 'sandbox_session=planted-cookie; Path=/',
  'x-api-key': 'planted-upstream-key',
  authorization: 'Bearer planted-upstream-key',
  'proxy-authenticate': 'Basic realm="sandbox"',
  'openai-organization': 'org-planted',
  'keep-alive': 'timeout=5',
  server: 'sandbox-planted',
}

interface BodySettings {
  readonly fault: Fault | null
  readonly chunkDelayMs: number
  readonly signal: AbortSignal
}

/** Thrown to close the connection without a proper HTTP end; the server logs nothing. */
class DeliberateCut extends Error {
  override readonly name = 'DeliberateCut'
}

const DEFAULT_STREAM_DELAY_MS = 500
/** Closing a connection discards queued bytes, so the last bytes get this time to leave. */
const FAREWELL_MS = 50

/** A small JSON body is sent with its length; anything else in chunks. */
function writeJson(answer: Answer, settings: BodySettings): string | AsyncGenerator<Frame> {
  const { fault } = settings
  if (fault?.name === 'big') return writeParts(answer.json())
  const text = [...answer.json()].join('')
  const half = text.slice(0, Math.ceil(text.length / 2))
  switch (fault?.name) {
    case 'bad-json':
    case 'half-event':
    case 'clean-cut':
      return half
    case 'cut-mid-stream':
    case 'hang-mid-stream':
      return writeCut([half], fault, settings)
    case 'drip':
      return writeBytes([text], settings.signal)
    default:
      return text
  }
}

function writeStream(
  answer: Answer,
  framing: Framing,
  settings: BodySettings,
): AsyncGenerator<Frame> {
  const { fault } = settings
  switch (fault?.name) {
    case 'bad-json':
    case 'clean-cut':
    case 'error-mid-stream':
    case 'half-event':
      return writeFrames(breakFrames(answer, framing, fault), settings)
    case 'cut-mid-stream':
    case 'hang-mid-stream': {
      const frames = [...answer.frames()]
      return writeCut(frames.slice(0, breakAt(frames.length, fault)), fault, settings)
    }
    case 'drip':
      return writeBytes(answer.frames(), settings.signal)
    case 'slow-stream':
      return writeFrames(answer.frames(), {
        ...settings,
        chunkDelayMs: fault.amount ?? DEFAULT_STREAM_DELAY_MS,
      })
    default:
      return writeFrames(answer.frames(), settings)
  }
}

function breakAt(length: number, fault: Fault): number {
  return Math.min(fault.amount ?? Math.floor(length / 2), Math.max(0, length - 1))
}

function breakFrames(answer: Answer, framing: Framing, fault: Fault): readonly Frame[] {
  const frames = [...answer.frames()]
  const at = breakAt(frames.length, fault)
  const before = frames.slice(0, at)
  const next = frames[at] ?? ''
  switch (fault.name) {
    case 'bad-json':
      return [...before, framing.spoil(next), ...frames.slice(at + 1)]
    case 'half-event':
      return [...before, next.slice(0, Math.floor(next.length / 2))]
    case 'error-mid-stream':
      return [...before, ...answer.failureFrames(at)]
    default:
      return before
  }
}

/**
 * A generator, so a body is written as fast as the client reads, and ends when the client leaves.
 */
async function* writeParts(parts: Iterable<string>): AsyncGenerator<Frame> {
  yield* parts
}

async function* writeFrames(
  frames: Iterable<Frame>,
  settings: BodySettings,
): AsyncGenerator<Frame> {
  let isFirst = true
  for (const frame of frames) {
    if (
      !isFirst &&
      settings.chunkDelayMs > 0 &&
      !(await pause(settings.chunkDelayMs, settings.signal))
    )
      return
    isFirst = false
    yield frame
  }
}

async function* writeCut(
  frames: readonly Frame[],
  fault: Fault,
  settings: BodySettings,
): AsyncGenerator<Frame> {
  yield* writeFrames(frames, settings)
  if (fault.name === 'hang-mid-stream') await untilClientLeaves(settings.signal)
  else await pause(FAREWELL_MS, settings.signal)
  throw new DeliberateCut('The sandbox cut the answer, as it was asked to.')
}

async function* writeBytes(parts: Iterable<Frame>, signal: AbortSignal): AsyncGenerator<Frame> {
  for (const part of parts) {
    for (const byte of typeof part === 'string' ? new TextEncoder().encode(part) : part) {
      if (signal.aborted) return
      yield new Uint8Array([byte])
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

/** @returns false when the client left first. */
/** Ends when the client leaves, so nothing remains running. */
function pause(durationMs: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false)
  return new Promise((resolve) => {
    const leave = () => {
      clearTimeout(timer)
      resolve(false)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', leave)
      resolve(true)
    }, durationMs)
    signal.addEventListener('abort', leave, { once: true })
  })
}

function untilClientLeaves(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
