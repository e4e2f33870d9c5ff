/** Google's errors, key and list of models. Knows no content. */
import { bearerOf } from '../check-key.ts'
import { Refusal } from '../refusal.ts'
import type { Vendor } from '../vendor.ts'

/** https://cloud.google.com/apis/design/errors */
const STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  500: 'INTERNAL',
  501: 'UNIMPLEMENTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

const BAD_KEY = 'API key not valid. Please pass a valid API key.'

export const geminiVendor: Vendor = {
  findKey(request) {
    const inAddress = new URL(request.url).searchParams.get('key')
    return request.headers.get('x-goog-api-key')?.trim() || inAddress || bearerOf(request.headers)
  },
  checkRequest(request) {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname.endsWith(':streamGenerateContent') && searchParams.get('alt') !== 'sse')
      throw new Refusal(400, 'The sandbox streams only with alt=sse.')
  },
  idHeader: 'x-request-id',
  encodeRefusal(refusal) {
    const isBadKey = refusal.keyFault === 'bad'
    // Google answers a key that it does not know with 400, and none at all with 403.
    const code = isBadKey ? 400 : refusal.keyFault === 'missing' ? 403 : refusal.status
    const seconds = refusal.headers['retry-after']
    const details = [
      ...(isBadKey
        ? [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }]
        : []),
      ...(seconds === undefined
        ? []
        : [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${seconds}s` }]),
    ]
    return {
      status: code,
      body: {
        error: {
          code,
          message: isBadKey ? BAD_KEY : refusal.message,
          status: STATUSES[code] ?? (code >= 500 ? 'INTERNAL' : 'FAILED_PRECONDITION'),
          ...(details.length > 0 ? { details } : {}),
        },
      },
    }
  },
  encodeModels: (ids) => ({
    models: ids.map((id) => ({
      name: `models/${id}`,
      version: 'sandbox',
      displayName: `Sandbox ${id}`,
      supportedGenerationMethods: ['generateContent', 'batchEmbedContents'],
    })),
  }),
}
