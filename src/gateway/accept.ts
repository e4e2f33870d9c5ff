/** Stage 2: what is asked? The top level of the body, within a size limit; the body stays bytes. */
import { invalidRequest } from '../core/errors.ts'
import type { Deadlines } from '../upstream/deadlines.ts'
import { hasMoreMembers } from '../wire/count-members.ts'
import type { AcceptedRequest, Dialect } from '../wire/dialect.ts'
import { type JsonObject, JsonSyntaxError, scanJsonObject } from '../wire/json-splice.ts'
import type { BodyShare } from './body-room.ts'
import { type BodyLimits, readBody } from './read-body.ts'
import { readStrictness } from './read-strictness.ts'

/**
 * @throws GatewayError (or rejects with it) `invalid_request`, `payload_too_large`,
 *   `request_timeout` or `unavailable`
 */
export function accept(
  ports: { readonly bodyLimits: BodyLimits; readonly deadlines: Deadlines },
  request: Request,
  { dialect, share }: { readonly dialect: Dialect; readonly share: BodyShare },
): Promise<AcceptedRequest> {
  // Also where nothing will be translated: what is asked for must be known before a gate decides.
  readStrictness(request.headers)
  return readBody(request, ports.bodyLimits, {
    deadlines: ports.deadlines,
    share,
    read: (bytes) => dialect.accept(scanBody(bytes)),
  })
}

/** Reading an object costs by its members, a microsecond each, in which nobody else is served. */
const MOST_MEMBERS = 200_000
/** Smaller bodies cannot hold many more. */
const LARGE_BYTES = 1024 * 1024

function scanBody(bytes: Uint8Array): JsonObject {
  if (bytes.byteLength === 0)
    throw invalidRequest('The request body is empty: send a JSON object.', undefined, 'invalid_json')
  try {
    const body = scanJsonObject(bytes)
    if (bytes.byteLength > LARGE_BYTES && hasMoreMembers(bytes, MOST_MEMBERS))
      throw new JsonSyntaxError(`more than ${MOST_MEMBERS} members in all its objects`, bytes.byteLength)
    return body
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw invalidRequest(`The request body is not usable: ${error.message}`, undefined, 'invalid_json')
  }
}
