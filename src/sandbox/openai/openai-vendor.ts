/**
 * OpenAI's errors, key and list of models, which Mistral shares but for the errors. Knows no
 * dialect.
 */
import { bearerOf } from '../check-key.ts'
import { CREATED_AT } from '../dialect.ts'
import { encodeMistralRefusal, encodeOpenAiRefusal } from '../refusal.ts'
import type { Vendor } from '../vendor.ts'

export const openaiVendor: Vendor = {
  findKey: (request) => bearerOf(request.headers),
  idHeader: 'x-request-id',
  encodeRefusal: (refusal) => ({ status: refusal.status, body: encodeOpenAiRefusal(refusal) }),
  encodeModels: (ids) => ({
    object: 'list',
    data: ids.map((id) => ({
      id,
      object: 'model',
      created: CREATED_AT,
      owned_by: 'gatehouse-sandbox',
    })),
  }),
}

export const mistralVendor: Vendor = {
  ...openaiVendor,
  encodeRefusal: (refusal) => ({ status: refusal.status, body: encodeMistralRefusal(refusal) }),
}
