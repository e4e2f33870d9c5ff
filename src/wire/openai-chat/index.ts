/**
 * OpenAI Chat Completions as the gateway serves, relays and translates it. Pitfalls are in
 * README.md.
 */

import { invalidRequest } from '../../core/errors.ts'
import type { Feature, InboundCodec, UpstreamCodec } from '../codec.ts'
import type { AcceptedRequest, RelayedDialect, RelayRequest, RelayTarget } from '../dialect.ts'
import { explicitIn } from '../gate-defaults.ts'
import { OPENAI_HEADERS } from '../header-lists.ts'
import {
  editJson,
  type JsonEdit,
  type JsonObject,
  scanJsonObject,
  spliceJson,
} from '../json-splice.ts'
import {
  checkFieldTypes,
  editModel,
  type FieldTypes,
  readFlag,
  readGate,
  refuseFieldInOtherLetters,
  requireField,
} from '../request-fields.ts'
import { CHECKED_SETTINGS, nameFeature, typesOf } from '../settings.ts'
import { isReportedError } from '../upstream-error.ts'
import { readUsage } from '../usage.ts'
import { encodeChatAnswer } from './inbound-answer.ts'
import { ChatEventEncoder } from './inbound-events.ts'
import { decodeChatRequest, encodeUpstreamRequest } from './request.ts'
import { CHAT_IDS, CHAT_SETTINGS, editChatDefaults } from './settings.ts'
import { ChatTap } from './tap.ts'
import { decodeUpstreamAnswer, type ReasoningSeals } from './upstream-answer.ts'
import { UpstreamChatDecoder } from './upstream-events.ts'
import { readChatCounts } from './usage.ts'

export const openaiChatInboundCodec: InboundCodec = {
  showsImages: true,
  decodeRequest: decodeChatRequest,
  encodeAnswer: encodeChatAnswer,
  createEventEncoder: (request, facts) => new ChatEventEncoder(request.extra.stream_options, facts),
  nameFeature: (feature) => nameFeature(feature, CHAT_SETTINGS, NAMES),
}

/** Names of features that are not settings, or that the caller spelled differently. */
const NAMES: Partial<Record<Feature, string>> = {
  user: 'user',
  'reasoning.effort': 'reasoning_effort',
  reasoningParts: 'messages.reasoning_details',
  seals: 'messages.reasoning_details',
  'image.detail': 'messages.content.image_url.detail',
  'image.url': 'messages.content.image_url.url',
  images: 'messages.content.image_url',
  files: 'messages.content.file',
  audio: 'messages.content.input_audio',
  'toolResult.images': 'messages.content.image_url',
  'tool.name': 'tools.function.name',
  'tool.schema': 'tools.function.parameters',
  'tool.strict': 'tools.function.strict',
  'responseFormat.strict': 'response_format.json_schema.strict',
  'message.name': 'messages.name',
  'message.text': 'messages.content',
  'message.order': 'messages.role',
  cache: 'messages.content.cache_control',
}

export const openaiChatUpstreamCodec: UpstreamCodec = {
  form: 'chat',
  family: 'openai-chat',
  encodeRequest: encodeUpstreamRequest,
  decodeAnswer: (body) => decodeUpstreamAnswer(body, SEALS),
  createEventDecoder: () => new UpstreamChatDecoder(SEALS),
}

/** A seal contains the members that go back to the upstream, and its origin. */
const SEALS: ReasoningSeals = { hasReturned: true }

export const openaiChat: RelayedDialect = {
  id: 'openai-chat',
  envelope: 'nested',
  headers: OPENAI_HEADERS,
  vendorIds: CHAT_IDS,
  accept,
  readExplicit: explicitIn(CHAT_SETTINGS),
  rewrite,
  isAnswer: isChatAnswer,
  readUsage: ({ usage, service_tier }) => readUsage(readChatCounts, usage, service_tier),
  createTap: ({ hidesUsage }) => new ChatTap({ hidesUsage, envelope: 'nested' }),
  encodeFailedStream: (error) =>
    new ChatTap({ hidesUsage: false, envelope: 'nested' }).encodeFailure(error),
  inboundCodec: openaiChatInboundCodec,
}

const FIELD_TYPES: FieldTypes = {
  messages: ['array'],
  stream: ['boolean'],
  stream_options: ['object'],
  ...typesOf(CHAT_SETTINGS, CHECKED_SETTINGS),
}

function accept(body: JsonObject): AcceptedRequest {
  checkFieldTypes(body, FIELD_TYPES)
  const gate = readGate(body)
  requireField(body, 'messages')
  return { body, gateId: gate.gateId, stream: readFlag(body, 'stream'), ignored: gate.ignored }
}

function rewrite(request: AcceptedRequest, target: RelayTarget): RelayRequest {
  const { body } = request
  const written =
    request.defaults === undefined ? undefined : editChatDefaults(body, request.defaults, target)
  const edits = editModel(body, target.model)
  if (written !== undefined) edits.unshift(...written.edits)
  const usageEdit = request.stream && target.countsStreamsOnRequest ? askForUsage(body) : undefined
  if (usageEdit !== undefined) edits.push(usageEdit)
  const storing =
    request.ignoresStore === true && readFlag(body, 'store') ? body.get('store') : undefined
  if (storing !== undefined) edits.push({ type: 'replace', member: storing, json: 'false' })
  return {
    body: editJson(body, edits),
    hidesUsage: usageEdit !== undefined,
    ignored: written?.ignored,
    ...(storing === undefined ? {} : { leftOut: ['store'] }),
  }
}

/** Usage must be counted even when the client did not ask for usage. */
function askForUsage(body: JsonObject): JsonEdit | undefined {
  const member = body.get('stream_options')
  if (member === undefined)
    return { type: 'add', key: 'stream_options', json: '{"include_usage":true}' }
  if (body.type(member) === 'null')
    return { type: 'replace', member, json: '{"include_usage":true}' }
  const options = scanStreamOptions(body.raw(member))
  // A case-insensitive server would accept `include_usage` in another spelling and not report
  // usage, so other spellings are refused.
  refuseFieldInOtherLetters(options, 'include_usage')
  const include = options.get('include_usage')
  if (include !== undefined && options.value(include) === true) return undefined
  const edited = spliceJson(options, [
    include === undefined
      ? { type: 'add', key: 'include_usage', json: 'true' }
      : { type: 'replace', member: include, json: 'true' },
  ])
  return { type: 'replace', member, json: new TextDecoder().decode(edited) }
}

function scanStreamOptions(bytes: Uint8Array): JsonObject {
  try {
    return scanJsonObject(bytes)
  } catch (error) {
    throw invalidRequest(
      `'stream_options' is not usable: ${(error as Error).message}`,
      'stream_options',
    )
  }
}

/** Some routers send an error beside an empty list of choices. */
export function isChatAnswer({ choices, error }: Readonly<Record<string, unknown>>): boolean {
  return Array.isArray(choices) && (choices.length > 0 || !isReportedError(error))
}
