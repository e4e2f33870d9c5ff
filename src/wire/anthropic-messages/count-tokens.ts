/** Anthropic's token counting: relayed if the target supports counting, otherwise estimated. */

import type { JsonRecord, UserPart } from '../chat-request.ts'
import { type AcceptedRequest, noStream, type RelayedDialect } from '../dialect.ts'
import { ANTHROPIC_HEADERS } from '../header-lists.ts'
import { editJson, type JsonObject } from '../json-splice.ts'
import { checkFieldTypes, editModel, readGate, requireField } from '../request-fields.ts'
import { editHistory } from './edit-history.ts'
import { decodeAnthropicRequest } from './inbound-request.ts'
import { MESSAGES_IDS } from './settings.ts'

export const anthropicCountTokens: RelayedDialect = {
  id: 'anthropic-count-tokens',
  envelope: 'messages',
  headers: ANTHROPIC_HEADERS,
  keyHeader: 'x-api-key',
  requestIdHeader: 'request-id',
  vendorIds: MESSAGES_IDS,
  accept,
  rewrite({ body }, target) {
    const edits = editModel(body, target.model)
    const { edits: opened, leftOut } = editHistory(body, target, edits)
    return {
      body: editJson(body, [...edits, ...opened]),
      hidesUsage: false,
      leftOut,
    }
  },
  isAnswer: ({ input_tokens }) => typeof input_tokens === 'number',
  readUsage: () => null,
  createTap: noStream,
  answerLocally: ({ body }) => ({
    input_tokens: estimateInputTokens(JSON.parse(decoder.decode(body.bytes))),
  }),
}

function accept(body: JsonObject): AcceptedRequest {
  checkFieldTypes(body, { messages: ['array'], system: ['string', 'array'], tools: ['array'] })
  const gate = readGate(body)
  requireField(body, 'messages')
  return { body, gateId: gate.gateId, stream: false, ignored: gate.ignored }
}

const decoder = new TextDecoder()

/**
 * English text and JSON have about four bytes per token; a high estimate is safer than a low one.
 */
const BYTES_PER_TOKEN = 3.5
const TOKENS_PER_MESSAGE = 4
/** For a picture of about a megapixel. */
const TOKENS_PER_IMAGE = 1_600
/** For a document of a few pages. */
const TOKENS_PER_FILE = 6_000

/** @throws GatewayError `invalid_request` naming the path of the unreadable part */
export function estimateInputTokens(body: JsonRecord): number {
  const { messages, tools } = decodeAnthropicRequest(body)
  let bytes = tools === undefined ? 0 : Buffer.byteLength(JSON.stringify(tools))
  let tokens = messages.length * TOKENS_PER_MESSAGE
  for (const message of messages) {
    for (const part of message.content) {
      if (part.type === 'tool-call') bytes += Buffer.byteLength(part.name + part.arguments)
      else if (part.type === 'reasoning' || part.type === 'refusal')
        bytes += Buffer.byteLength(part.text)
      else tokens += mediaTokens(part)
      if (part.type === 'text') bytes += Buffer.byteLength(part.text)
    }
  }
  return tokens + Math.ceil(bytes / BYTES_PER_TOKEN)
}

function mediaTokens(part: UserPart): number {
  if (part.type === 'image') return TOKENS_PER_IMAGE
  return part.type === 'file' ? TOKENS_PER_FILE : 0
}
