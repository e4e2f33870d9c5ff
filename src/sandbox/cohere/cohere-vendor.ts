/** Cohere's errors, key and list of models. Knows no message. */
import { bearerOf } from '../check-key.ts'
import type { Vendor } from '../vendor.ts'

/**
 * Cohere answers an overload of its own with 503, a validation with 400 or 422; its errors are a
 * message and no more.
 */
export const cohereVendor: Vendor = {
  findKey: ({ headers }) => bearerOf(headers),
  idHeader: 'x-request-id',
  encodeRefusal: (refusal) => ({
    status: refusal.status,
    body: { message: refusal.keyFault === 'missing' ? 'no api key supplied' : refusal.message },
  }),
  encodeModels: (ids) => ({
    models: ids.map((name) => ({ name, endpoints: ['chat', 'embed'], context_length: 128_000 })),
  }),
}
