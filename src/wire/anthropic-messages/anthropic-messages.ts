/**
 * Anthropic Messages as the gateway serves it and relays it. It must not know which providers speak
 * it.
 */
import type { AcceptedRequest, RelayedDialect, RelayRequest, RelayTarget } from '../dialect.ts'
import { type JsonObject, requestScratch, spliceJson } from '../json-splice.ts'
import {
  checkFieldTypes,
  editAwayModel,
  editModel,
  readFlag,
  readGate,
  requireField,
} from '../request-fields.ts'
import { readUsage } from '../usage.ts'
import { editHistory } from './edit-history.ts'
import { hostedMembers } from './hosted-members.ts'
import { editMessagesDefaults, readMessagesSpoken } from './messages-defaults.ts'
import { MessagesTap } from './messages-tap.ts'
import { anthropicServerCodec } from './server-codec.ts'

export const anthropicMessages: RelayedDialect = {
  id: 'anthropic-messages',
  envelope: 'messages',
  keyHeader: 'x-api-key',
  requestIdHeader: 'request-id',
  accept,
  readSpoken: readMessagesSpoken,
  hosted: hostedMembers,
  opensSeals: true,
  rewrite,
  isAnswer: ({ content }) => Array.isArray(content),
  readUsage: (answer) => readUsage('anthropic-messages', answer.usage),
  refusesReasoning: ({ message }) =>
    message !== undefined && /invalid.{0,20}signature/i.test(message),
  createTap: () => new MessagesTap(),
  encodeFailedStream: (error) => new MessagesTap().encodeFailure(error),
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

function rewrite({ body, defaults }: AcceptedRequest, target: RelayTarget): RelayRequest {
  const written = defaults === undefined ? undefined : editMessagesDefaults(body, defaults, target)
  const { model, insteadOfModel } = target
  const edits =
    insteadOfModel === undefined ? editModel(body, model) : editAwayModel(body, insteadOfModel)
  if (written !== undefined) edits.unshift(...written.edits)
  const { edits: opened, leftOut } = editHistory(body, target, edits)
  if (opened.length > 0) edits.push(...opened)
  return {
    body: spliceJson(body, edits, requestScratch),
    hidesUsage: false,
    ignored: written?.ignored,
    leftOut,
  }
}
