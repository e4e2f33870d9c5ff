/** Stage 2: what is asked? The top level of the body, within a size limit; the body stays bytes. */
import { invalidRequest } from '../core/errors.ts'
import type { Deadlines } from '../upstream/deadlines.ts'
import type { AcceptedRequest, Dialect } from '../wire/dialect.ts'
import { type JsonObject, JsonSyntaxError, scanJsonObject } from '../wire/json-splice.ts'
import type { BodyShare } from './body-room.ts'
import { type BodyLimits, readBody } from './read-body.ts'
import { readStrictness } from './read-strictness.ts'

/** @throws GatewayError `invalid_request`, `payload_too_large`, `request_timeout` or `unavailable` */
export async function accept(
  ports: { readonly bodyLimits: BodyLimits; readonly deadlines: Deadlines },
  request: Request,
  { dialect, share }: { readonly dialect: Dialect; readonly share: BodyShare },
): Promise<AcceptedRequest> {
  // Also where nothing will be translated: what is asked for must be known before a gate decides.
  readStrictness(request.headers)
  const bytes = await readBody(request, ports.bodyLimits, { deadlines: ports.deadlines, share })
  if (bytes.byteLength === 0)
    throw invalidRequest('The request body is empty: send a JSON object.', undefined, 'invalid_json')
  return dialect.accept(scanBody(bytes))
}

function scanBody(bytes: Uint8Array): JsonObject {
  try {
    return scanJsonObject(bytes)
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw invalidRequest(`The request body is not usable: ${error.message}`, undefined, 'invalid_json')
  }
}
