/**
 * The gateway's own chat format (`/v3/chat`). No upstream uses the format, so every answer is
 * translated. Unknown members are refused by name.
 */

import { invalidRequest } from '../../core/errors.ts'
import type { Feature, InboundCodec } from '../codec.ts'
import type { AcceptedRequest, Dialect } from '../dialect.ts'
import { explicitIn } from '../gate-defaults.ts'
import type { JsonMember, JsonObject } from '../json-splice.ts'
import {
  checkFieldTypes,
  type FieldTypes,
  NOTHING_IGNORED,
  presentMember,
  readFlag,
  readString,
  requireField,
} from '../request-fields.ts'
import { nameFeature, typesOf } from '../settings.ts'
import { encodeGatehouseAnswer } from './answer.ts'
import { encodeFailureEvent, GatehouseEventEncoder } from './events.ts'
import { decodeGatehouseRequest } from './request.ts'
import { OWN_SETTINGS } from './settings.ts'

export const gatehouseChatInboundCodec: InboundCodec = {
  decodeRequest: decodeGatehouseRequest,
  encodeAnswer: encodeGatehouseAnswer,
  createEventEncoder: (_request, facts) => new GatehouseEventEncoder(facts),
  nameFeature: (feature) => nameFeature(feature, OWN_SETTINGS, NAMES),
}

/** Names of features that are not settings, or that the caller spelled differently. */
const NAMES: Partial<Record<Feature, string>> = {
  reasoning: 'reasoning',
  reasoningParts: 'messages.tool_calls.id',
  seals: 'messages.tool_calls.id',
  'image.detail': 'messages.content.detail',
  'image.url': 'messages.content.url',
  images: 'messages.content.image',
  files: 'messages.content.file',
  'toolResult.images': 'messages.content.image',
  'tool.name': 'tools.name',
  'tool.schema': 'tools.parameters',
  'tool.strict': 'tools.strict',
  'responseFormat.strict': 'response_format.strict',
  'message.text': 'messages.content',
  'message.order': 'messages.role',
}

export const gatehouseChat: Dialect = {
  id: 'gatehouse-chat',
  envelope: 'flat',
  accept,
  readExplicit: explicitIn(OWN_SETTINGS),
  encodeFailedStream: (error) => Buffer.from(encodeFailureEvent(error)),
  inboundCodec: gatehouseChatInboundCodec,
}

const { metadata, ...settings } = OWN_SETTINGS

const FIELD_TYPES: FieldTypes = {
  gate_id: ['string'],
  gateId: ['string'],
  messages: ['array'],
  data: ['object'],
  vars: ['object'],
  instructions: ['string'],
  ...typesOf(settings),
  stream: ['boolean'],
  ...typesOf({ metadata }),
}

function accept(body: JsonObject): AcceptedRequest {
  for (const { key } of body.members) if (!Object.hasOwn(FIELD_TYPES, key)) throw unknownMember(key)
  checkFieldTypes(body, FIELD_TYPES)
  const gate = oneOf(body, 'gate_id', 'gateId')
  oneOf(body, 'messages', 'data')
  checkOutputCap(body)
  return {
    body,
    gateId: readString(body, gate),
    stream: readFlag(body, 'stream'),
    ignored: NOTHING_IGNORED,
  }
}

function unknownMember(key: string) {
  const known = Object.keys(FIELD_TYPES).join(', ')
  return invalidRequest(
    `'${key}' is unknown. The known members are ${known}.`,
    key,
    'unknown_parameter',
  )
}

/**
 * A target would refuse the limit by a name that the caller did not write, so it is checked here.
 */
function checkOutputCap(body: JsonObject): void {
  const name = 'max_output_tokens'
  const member = presentMember(body, name)
  if (member === undefined) return
  const cap = Number(body.value(member))
  if (!Number.isFinite(cap) || (Number.isInteger(cap) && cap >= 1)) return
  throw invalidRequest(`'${name}' must be a whole number of at least 1.`, name, 'invalid_value')
}

/** A member with two spellings: exactly one of them must be present. */
function oneOf(body: JsonObject, name: string, alias: string): JsonMember {
  const other = presentMember(body, alias)
  if (other === undefined) return requireField(body, name)
  if (presentMember(body, name) === undefined) return other
  throw invalidRequest(
    `'${alias}' stands for '${name}': send only one of them.`,
    alias,
    'invalid_value',
  )
}
