import { GatewayError, invalidRequest } from '../core/errors.ts'
import { isJsonContentType } from '../core/http.ts'
import { JsonSyntaxError } from '../wire/json-scan.ts'
import { scanJsonObject } from '../wire/json-splice.ts'
import type { BodyTime } from './control-plane-app.ts'
import { refuse } from './refusals.ts'

export const SIGN_IN_PATH = '/v1/auth/'

const MAX_BODY_BYTES = 1_000_000
/** For unauthenticated requests, which hold a name, an email address and a password. */
const MAX_SIGN_IN_BYTES = 16_384
/** Each value costs validation, and perhaps a line in the refusal. */
const MAX_VALUES = 20_000

/** @throws GatewayError `invalid_request`, `payload_too_large` or `request_timeout` */
export async function readJsonBody(
  request: Request,
  time: BodyTime,
): Promise<Uint8Array<ArrayBuffer>> {
  const type = request.headers.get('content-type')
  if (type !== null && !isJsonContentType(type)) {
    throw refuse([{ field: 'content-type', message: 'this header must be application/json' }])
  }
  const encoding = request.headers.get('content-encoding') ?? 'identity'
  if (encoding.trim().toLowerCase() !== 'identity') {
    throw refuse([
      {
        field: 'content-encoding',
        message: 'this header must be absent: compressed bodies are not read',
      },
    ])
  }
  const { pathname } = new URL(request.url)
  const maxBytes = pathname.startsWith(SIGN_IN_PATH) ? MAX_SIGN_IN_BYTES : MAX_BODY_BYTES
  if (Number(request.headers.get('content-length')) > maxBytes) throw tooLarge(maxBytes)
  const bytes = await within(time, readBytes(request, maxBytes)).catch((error: unknown) => {
    if (error instanceof GatewayError) throw error
    // The client left while sending, which is not a failure of the gateway.
    throw new GatewayError('invalid_request', 'The body could not be read completely.', {
      cause: error,
    })
  })
  if (bytes.length === 0) throw invalidRequest('The body is empty; it must be a JSON object.')
  try {
    scanJsonObject(bytes)
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw invalidRequest(`The body is not a valid JSON object: ${error.message}.`)
  }
  if (hasTooManyValues(bytes))
    throw invalidRequest(
      `The body has more than ${MAX_VALUES} values.`,
      undefined,
      'too_many_values',
    )
  return bytes
}

function hasTooManyValues(json: Uint8Array): boolean {
  let separators = 0
  let isText = false
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]
    if (byte === QUOTE) isText = !isText
    else if (isText) at += byte === BACKSLASH ? 1 : 0
    else if (byte === COMMA && ++separators >= MAX_VALUES) return true
  }
  return false
}

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c

async function within<T>({ clock, timeoutMs }: BodyTime, reading: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const callOff = clock.after(timeoutMs, () =>
    late.reject(new GatewayError('request_timeout', 'The request body did not arrive in time.')),
  )
  return await Promise.race([reading, late.promise]).finally(callOff)
}

async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let length = 0
  if (request.body !== null) {
    for await (const chunk of request.body) {
      length += chunk.length
      // The header may be missing or wrong, so the bytes are counted too.
      if (length > maxBytes) throw tooLarge(maxBytes)
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

function tooLarge(maxBytes: number): GatewayError {
  return new GatewayError('payload_too_large', `The body is larger than ${maxBytes} bytes.`)
}
