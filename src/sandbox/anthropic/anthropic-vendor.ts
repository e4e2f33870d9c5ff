/** Anthropic's errors, key, headers and list of models. Knows no message. */
import { bearerOf } from '../check-key.ts'
import { Refusal } from '../refusal.ts'
import type { Vendor } from '../vendor.ts'

const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

export const anthropicVendor: Vendor = {
  findKey: ({ headers }) => headers.get('x-api-key')?.trim() || bearerOf(headers),
  checkRequest({ headers }) {
    if (!headers.get('anthropic-version'))
      throw new Refusal(400, 'anthropic-version: header is required')
  },
  idHeader: 'request-id',
  encodeRefusal(refusal) {
    const status = refusal.code === 'server_is_overloaded' ? 529 : refusal.status
    const type = TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
    return {
      status,
      body: { type: 'error', error: { type, message: refusal.message }, request_id: null },
    }
  },
  encodeModels: (ids) => ({
    data: ids.map((id) => ({
      type: 'model',
      id,
      display_name: `Sandbox ${id}`,
      created_at: '2026-01-01T00:00:00Z',
    })),
    has_more: false,
    first_id: ids[0] ?? null,
    last_id: ids.at(-1) ?? null,
  }),
}
