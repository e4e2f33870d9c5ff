/** Anthropic Messages as the gateway serves it and relays it. It must not know which providers speak it. */
import { requestRoom } from '../byte-room.ts'
import type { AcceptedRequest, RelayedDialect } from '../dialect.ts'
import { type JsonObject, spliceJson } from '../json-splice.ts'
import { checkFieldTypes, editModel, readFlag, readGate, requireField } from '../request-fields.ts'
import { readUsage } from '../usage.ts'
import { MessagesTap } from './messages-tap.ts'
import { anthropicServerCodec } from './server-codec.ts'

export const anthropicMessages: RelayedDialect = {
  id: 'anthropic-messages',
  envelope: 'messages',
  keyHeader: 'x-api-key',
  requestIdHeader: 'request-id',
  accept,
  rewrite: ({ body }, target) => ({
    body: spliceJson(body, editModel(body, target.model), requestRoom),
    hidesUsage: false,
  }),
  readUsage: (answer) => readUsage('anthropic-messages', answer.usage),
  createTap: () => new MessagesTap(),
  serverCodec: anthropicServerCodec,
}

const FIELD_TYPES = {
  messages: ['array'],
  max_tokens: ['number'],
  stream: ['boolean'],
  tools: ['array'],
  tool_choice: ['object'],
  system: ['string', 'array'],
} as const

function accept(body: JsonObject): AcceptedRequest {
  checkFieldTypes(body, FIELD_TYPES)
  const gate = readGate(body)
  requireField(body, 'messages')
  requireField(body, 'max_tokens')
  return { body, gateId: gate.gateId, stream: readFlag(body, 'stream'), ignored: gate.ignored }
}
