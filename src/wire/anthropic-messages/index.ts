/**
 * Anthropic Messages as the gateway serves, relays and translates it. Pitfalls are in README.md.
 */

import { HOSTED_MEMBERS } from '../../core/chat-words.ts'
import { GatewayError, invalidRequest } from '../../core/errors.ts'
import { removeMembers } from '../bridge-features.ts'
import type { Feature, InboundCodec, UpstreamCodec } from '../codec.ts'
import type {
  AcceptedRequest,
  HostedMembers,
  RelayedDialect,
  RelayRequest,
  RelayTarget,
} from '../dialect.ts'
import { ANTHROPIC_HEADERS } from '../header-lists.ts'
import { editJson, type JsonObject } from '../json-splice.ts'
import {
  checkFieldTypes,
  editModel,
  type FieldTypes,
  readFlag,
  readGate,
  removeModel,
  requireField,
} from '../request-fields.ts'
import { CHECKED_SETTINGS, nameFeature, typesOf } from '../settings.ts'
import { countBlocks, readServerToolUse } from '../tool-uses.ts'
import { readUsageOfTurn } from '../usage.ts'
import { decodeAnthropicAnswer, encodeAnthropicAnswer, readMessagesCounts } from './answer.ts'
import { toClaudeCodeRefusal } from './claude-code-refusal.ts'
import { editHistory } from './edit-history.ts'
import { MessagesEventEncoder } from './inbound-events.ts'
import { decodeAnthropicRequest } from './inbound-request.ts'
import {
  editMessagesDefaults,
  MESSAGES_IDS,
  MESSAGES_SETTINGS,
  readExplicitInMessages,
} from './settings.ts'
import { toRefusedSpendHeaders, toSpendHeaders } from './spend-headers.ts'
import { MessagesTap } from './tap.ts'
import { AnthropicStreamDecoder } from './upstream-events.ts'
import { encodeAnthropicRequest } from './upstream-request.ts'

export const anthropicInboundCodec: InboundCodec = {
  // provider-name-ok: a header of the dialect
  featureHeader: 'anthropic-beta',
  decodeRequest: decodeAnthropicRequest,
  encodeAnswer: encodeAnthropicAnswer,
  createEventEncoder: (_request, facts) => new MessagesEventEncoder(facts),
  nameFeature: (feature) => nameFeature(feature, MESSAGES_SETTINGS, NAMES),
}

/** Names of features that are not settings, or that the caller spelled differently. */
const NAMES: Partial<Record<Feature, string>> = {
  reasoning: 'thinking',
  'reasoning.effort': 'output_config.effort',
  'reasoning.budgetTokens': 'thinking.budget_tokens',
  'reasoning.display': 'thinking.display',
  reasoningParts: 'messages.content.thinking',
  seals: 'messages.content.signature',
  images: 'messages.content.image',
  files: 'messages.content.document',
  'message.text': 'messages.content',
  'message.order': 'messages.role',
  'toolResult.images': 'messages.content.tool_result.content',
  'toolResult.isError': 'messages.content.tool_result.is_error',
  'tool.name': 'tools.name',
  'tool.schema': 'tools.input_schema',
  'tool.strict': 'tools.strict',
  'responseFormat.strict': 'output_config.format',
  cache: 'cache_control',
}

export const anthropicUpstreamCodec: UpstreamCodec = {
  form: 'chat',
  family: 'anthropic-messages',
  encodeRequest: encodeAnthropicRequest,
  decodeAnswer: decodeAnthropicAnswer,
  createEventDecoder: () => new AnthropicStreamDecoder(),
}

const hostedMembers: HostedMembers = {
  names: HOSTED_MEMBERS,
  isState: (name) => name === 'thread',
  refuse(name, message) {
    if (name !== 'thread') return invalidRequest(message, name, 'unsupported_parameter')
    // On this error the official SDKs send the whole conversation themselves
    // (https://github.com/anthropics/anthropic-sdk-typescript,
    // lib/internal/threads/ThreadState.ts).
    const details = { error_code: 'thread_unsupported_request', unsupported: [name] }
    return new GatewayError('invalid_request', message, {
      param: name,
      code: 'unsupported_parameter',
      details,
    })
  },
}

export const anthropicMessages: RelayedDialect = {
  id: 'anthropic-messages',
  envelope: 'messages',
  headers: ANTHROPIC_HEADERS,
  keyHeader: 'x-api-key',
  requestIdHeader: 'request-id',
  spendHeaders: { ofAnswer: toSpendHeaders, ofRefusal: toRefusedSpendHeaders },
  toShownError: toClaudeCodeRefusal,
  accept,
  readExplicit: readExplicitInMessages,
  hosted: hostedMembers,
  vendorIds: MESSAGES_IDS,
  opensSeals: true,
  rewrite,
  isAnswer: ({ content }) => Array.isArray(content),
  readUsage: ({ usage, content }) =>
    readUsageOfTurn(readMessagesCounts, { reported: usage, items: content }),
  readToolUses: ({ usage, content }) =>
    readServerToolUse(usage) ?? (content === undefined ? undefined : countBlocks(content)),
  refusesReasoning: ({ message }) =>
    message !== undefined && /invalid.{0,20}signature/i.test(message),
  createTap: () => new MessagesTap(),
  encodeFailedStream: (error) => new MessagesTap().encodeFailure(error),
  inboundCodec: anthropicInboundCodec,
}

const FIELD_TYPES: FieldTypes = {
  messages: ['array'],
  stream: ['boolean'],
  system: ['string', 'array'],
  ...typesOf(MESSAGES_SETTINGS, CHECKED_SETTINGS),
}

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
    insteadOfModel === undefined ? editModel(body, model) : removeModel(body, insteadOfModel)
  if (written !== undefined) edits.unshift(...written.edits)
  const { edits: opened, leftOut } = editHistory(body, target, edits)
  if (opened.length > 0) edits.push(...opened)
  const refused = target.features?.refusedMembers ?? NONE
  const removed = refused.length === 0 ? undefined : removeMembers(body, refused)
  if (removed !== undefined) edits.push(...removed.edits)
  return {
    body: editJson(body, edits),
    hidesUsage: false,
    ignored: written?.ignored,
    leftOut: removed === undefined ? leftOut : [...leftOut, ...removed.leftOut],
  }
}

const NONE: readonly string[] = []
