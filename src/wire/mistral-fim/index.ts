/**
 * Mistral's fill-in-the-middle completion as the gateway serves and relays it. Mistral refuses
 * unknown fields, so only a whitelist is sent.
 */
import { invalidRequest } from '../../core/errors.ts'
import type { AcceptedRequest, RelayedDialect } from '../dialect.ts'
import type { JsonObject } from '../json-splice.ts'
import { mistralShaped } from '../mistral-chat/index.ts'
import { editMistralFimDefaults, FIM_SETTINGS } from '../mistral-chat/settings.ts'
import { checkFieldTypes, type FieldTypes } from '../request-fields.ts'
import { membersOf, typesOf } from '../settings.ts'

/** The forwarded fields of Mistral's contract, which also has `min_tokens`. */
const FORWARDED = new Set([...['model', 'prompt', 'suffix', 'stream'], ...membersOf(FIM_SETTINGS)])

const CHECKED = ['maxOutputTokens', 'seed', 'temperature', 'topP', 'stop', 'metadata'] as const

const FIELD_TYPES: FieldTypes = {
  prompt: ['string'],
  suffix: ['string'],
  stream: ['boolean'],
  min_tokens: ['number'],
  ...typesOf(FIM_SETTINGS, CHECKED),
}

const shape = mistralShaped({ forwarded: FORWARDED, editDefaults: editMistralFimDefaults })

export const mistralFim: RelayedDialect = {
  id: 'mistral-fim',
  envelope: 'alt',
  ...shape,
  accept,
}

function accept(body: JsonObject): AcceptedRequest {
  checkFieldTypes(body, FIELD_TYPES)
  const prompt = body.get('prompt')
  // An empty prompt is valid (completing at the top of a file); a missing or null prompt is not.
  if (prompt === undefined || body.type(prompt) === 'null') {
    throw invalidRequest(
      "'prompt' is required: the code before the cursor.",
      'prompt',
      'missing_required_parameter',
    )
  }
  return shape.accept(body)
}
