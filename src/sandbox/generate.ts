/**
 * One request from its bytes to its answer: reads model and fault, asks the dialect, writes the
 * body. Knows no path.
 */
import { createHash } from 'node:crypto'
import { type Dialect, type Exchange, type Framing, SSE } from './dialect.ts'
import { applyEarlyFault } from './early-faults.ts'
import { isObject, type JsonObject } from './json.ts'
import { type Fault, parseFault, parseModel, type SandboxModel } from './parse-model.ts'
import { badField, missingField, Refusal } from './refusal.ts'
import { writeJson, writeStream } from './write-body.ts'

export interface Generation {
  readonly request: Request
  readonly dialect: Dialect
  /** The model, where the path names it; else the body does. */
  readonly model: string | undefined
  /** True where the path asks for a stream; else the body does. */
  readonly isStream: boolean | undefined
  readonly apiKey: string
  /** Also sent with a refusal, so that what arrived can be checked either way. */
  readonly headers: Record<string, string>
  /** Between the events of a stream. */
  readonly chunkDelayMs: number
}

/** @throws Refusal for whatever the vendor would refuse, and for faults that are errors. */
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

/** @throws Refusal 400 without a model, 404 for one that does not exist. */
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
