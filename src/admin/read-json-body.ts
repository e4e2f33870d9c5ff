/** Reads a request's body and makes sure that it is one JSON object. What the object must hold is not known here. */
import { GatewayError, invalidRequest } from '../core/errors.ts'
import { isJsonContentType } from '../core/json-content-type.ts'
import { JsonSyntaxError } from '../wire/json-scan.ts'
import { scanJsonObject } from '../wire/json-splice.ts'
import { refuse } from './refusals.ts'

/** Far more than any of these resources needs. */
const MAX_BODY_BYTES = 1_000_000

/** @throws GatewayError `invalid_request` or `payload_too_large` */
export async function readJsonBody(request: Request): Promise<Uint8Array<ArrayBuffer>> {
  const type = request.headers.get('content-type')
  if (type !== null && !isJsonContentType(type)) {
    throw refuse([{ field: 'content-type', message: 'this header must be application/json' }])
  }
  const encoding = request.headers.get('content-encoding') ?? 'identity'
  if (encoding.trim().toLowerCase() !== 'identity') {
    throw refuse([
      { field: 'content-encoding', message: 'this header must be absent: compressed bodies are not read' },
    ])
  }
  if (Number(request.headers.get('content-length')) > MAX_BODY_BYTES) throw tooLarge()
  const bytes = await readBytes(request).catch((error: unknown) => {
    if (error instanceof GatewayError) throw error
    // The client went away while it sent: not a failure of ours.
    throw new GatewayError('invalid_request', 'The body could not be read to its end.', { cause: error })
  })
  if (bytes.length === 0) throw invalidRequest('The body is empty; it must be a JSON object.')
  try {
    scanJsonObject(bytes)
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw invalidRequest(`The body is not a valid JSON object: ${error.message}.`)
  }
  return bytes
}

async function readBytes(request: Request): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let length = 0
  if (request.body !== null) {
    for await (const chunk of request.body) {
      length += chunk.length
      // The header may be missing or wrong, so what arrives is counted too. Leaving the loop cancels the rest.
      if (length > MAX_BODY_BYTES) throw tooLarge()
      chunks.push(chunk)
    }
  }
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

function tooLarge(): GatewayError {
  return new GatewayError('payload_too_large', `The body is larger than ${MAX_BODY_BYTES} bytes.`)
}
