/**
 * OpenAI Responses as the gateway serves it: stateless, so the client carries encrypted reasoning.
 * Upstreams also use it for callers of other dialects. Pitfalls are in README.md.
 */
import { invalidRequest } from '../../core/errors.ts'
import type { UpstreamCodec } from '../codec.ts'
import type { AcceptedRequest, RelayedDialect, RelayRequest, RelayTarget } from '../dialect.ts'
import { explicitIn } from '../gate-defaults.ts'
import { OPENAI_HEADERS } from '../header-lists.ts'
import { CLOSE_BRACE, COLON, OPEN_BRACE, QUOTE, skipSpace } from '../json-scan.ts'
import {
  arrayElements,
  editJson,
  type JsonEdit,
  type JsonMember,
  type JsonObject,
  scanJsonObject,
} from '../json-splice.ts'
import {
  askingMember,
  checkFieldTypes,
  type FieldTypes,
  NOTHING_IGNORED,
  presentMember,
  readFlag,
  readString,
  requireField,
} from '../request-fields.ts'
import { CHECKED_SETTINGS, typesOf } from '../settings.ts'
import { readResponseUses } from '../tool-uses.ts'
import { decodeResponse, readResponseUsage } from './answer.ts'
import { toCodexRefusal } from './codex-refusal.ts'
import { ResponsesStreamDecoder } from './events.ts'
import { encodeResponsesRequest } from './request.ts'
import { editResponsesDefaults, RESPONSES_IDS, RESPONSES_SETTINGS } from './settings.ts'
import { ResponsesTap } from './tap.ts'

export const openaiResponses: RelayedDialect = {
  id: 'openai-responses',
  envelope: 'nested',
  headers: OPENAI_HEADERS,
  vendorIds: RESPONSES_IDS,
  accept,
  readExplicit: explicitIn(RESPONSES_SETTINGS),
  rewrite,
  isAnswer: ({ output }) => Array.isArray(output),
  hasFailed: ({ status }) => status === 'failed',
  readUsage: readResponseUsage,
  readToolUses: (answer) => readResponseUses(answer),
  refusesReasoning: ({ code, message }) =>
    code === 'invalid_encrypted_content' || message?.includes('encrypted content') === true,
  createTap: () => new ResponsesTap(),
  encodeFailedStream: (error) => new ResponsesTap().encodeFailure(error),
  toShownError: toCodexRefusal,
}

const ENCRYPTED_REASONING = 'reasoning.encrypted_content'

const CURE = "This gateway keeps no state: send whole items in 'input' on every request."

/** Fields that need stored conversations, with the alternative for each. */
const STATEFUL_FIELDS: Readonly<Record<string, string>> = {
  conversation: `'conversation' is not supported. ${CURE}`,
  prompt:
    "Stored prompts ('prompt') are not supported. Send the prompt's text in 'instructions' or 'input'.",
}

const PREVIOUS = 'previous_response_id'

const FIELD_TYPES: FieldTypes = {
  model: ['string'],
  input: ['string', 'array'],
  stream: ['boolean'],
  store: ['boolean'],
  background: ['boolean'],
  include: ['array'],
  ...typesOf(RESPONSES_SETTINGS, [...CHECKED_SETTINGS, 'reasoning']),
}

function accept(body: JsonObject): AcceptedRequest {
  checkFieldTypes(body, FIELD_TYPES)
  const gateId = readString(body, requireField(body, 'model'))
  if (readFlag(body, 'store')) {
    throw invalidRequest(
      `'store' must not be true: this gateway stores no responses. Leave it out or send false. ${CURE}`,
      'store',
      'unsupported_parameter',
    )
  }
  // The member is refused even when empty.
  const previous = body.get(PREVIOUS)
  if (previous !== undefined && body.type(previous) !== 'null')
    throw invalidRequest(
      `'${PREVIOUS}' is not supported. ${CURE}`,
      PREVIOUS,
      'unsupported_parameter',
    )
  for (const [field, message] of Object.entries(STATEFUL_FIELDS)) {
    if (askingMember(body, field) !== undefined)
      throw invalidRequest(message, field, 'unsupported_parameter')
  }
  if (readFlag(body, 'background')) {
    throw invalidRequest(
      "'background' must not be true: answers are not kept for later. Use 'stream' for long answers.",
      'background',
      'unsupported_parameter',
    )
  }
  refuseItemReferences(body, requireField(body, 'input'))
  return { body, gateId, stream: readFlag(body, 'stream'), ignored: NOTHING_IGNORED }
}

/**
 * A reference points to a stored item, and nothing is stored. Ignoring the reference would lose the
 * assistant's own words, so it is refused.
 */
function refuseItemReferences(body: JsonObject, input: JsonMember): void {
  if (body.type(input) !== 'array' || !mayHoldItemReference(body.raw(input))) return
  let index = 0
  for (const element of arrayElements(body, input)) {
    if (body.bytes[element.start] === OPEN_BRACE) {
      const item = readItem(body.bytes.subarray(element.start, element.end), index)
      if (isItemReference(item)) {
        throw invalidRequest(
          `'input[${index}]' is an item_reference, but nothing is stored here: send whole items. In the AI SDK set ` +
            'providerOptions.openai.store = false; in other SDKs set store to false and replay the output items.',
          `input[${index}]`,
          'unsupported_parameter',
        )
      }
    }
    index += 1
  }
}

/**
 * Reading items one by one is expensive, and agents replay hundreds of items with ids. So this
 * check first looks for the word, an escape of it, or a reference with a null or missing `type`.
 */
function mayHoldItemReference(input: Uint8Array): boolean {
  const bytes = Buffer.from(input.buffer, input.byteOffset, input.byteLength)
  return (
    bytes.includes(ITEM_REFERENCE) ||
    bytes.includes(ESCAPE) ||
    hasNullType(bytes) ||
    hasObjectOfIdAtEnd(bytes)
  )
}

// A search for text would convert the text each time, so these are bytes.
const ITEM_REFERENCE = Buffer.from('item_reference')
const ESCAPE = Buffer.from('\\u00')
const NULL = Buffer.from('null')
const TYPE = Buffer.from('"type"')
const ID = Buffer.from('"id"')

function hasNullType(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(NULL); at !== -1; at = bytes.indexOf(NULL, at + 4)) {
    const colon = skipSpaceBack(bytes, at)
    const end = bytes[colon] === COLON ? skipSpaceBack(bytes, colon) + 1 : 0
    if (end >= TYPE.length && bytes.compare(TYPE, 0, TYPE.length, end - TYPE.length, end) === 0)
      return true
  }
  return false
}

function skipSpaceBack(bytes: Buffer, at: number): number {
  do at -= 1
  while (at > 0 && (bytes[at] ?? 0) <= SPACE)
  return at
}

const SPACE = 0x20

function hasObjectOfIdAtEnd(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(ID); at !== -1; at = bytes.indexOf(ID, at + 4)) {
    const colon = skipSpace(bytes, at + 4)
    if (bytes[colon] !== COLON) continue
    const end = bytes.indexOf(QUOTE, skipSpace(bytes, colon + 1) + 1)
    if (end >= 0 && bytes[skipSpace(bytes, end + 1)] === CLOSE_BRACE) return true
  }
  return false
}

/** @throws GatewayError for an ambiguous item, because one reading may be a reference */
function readItem(item: Uint8Array, index: number): JsonObject {
  try {
    return scanJsonObject(item)
  } catch {
    throw invalidRequest(
      `'input[${index}]' has a duplicate member or too many members.`,
      `input[${index}]`,
      'invalid_value',
    )
  }
}

/** OpenAI's schema allows a missing or null `type`, as for messages, which have a role. */
function isItemReference(item: JsonObject): boolean {
  const type = presentMember(item, 'type')
  if (type !== undefined) return item.value(type) === 'item_reference'
  return item.get('id') !== undefined && item.get('role') === undefined
}

function rewrite(request: AcceptedRequest, target: RelayTarget): RelayRequest {
  const { body, defaults } = request
  const written = defaults === undefined ? undefined : editResponsesDefaults(body, defaults, target)
  const edits: JsonEdit[] = [
    { type: 'replace', member: requireField(body, 'model'), json: JSON.stringify(target.model) },
  ]
  if (written !== undefined) edits.unshift(...written.edits)
  const store = body.get('store')
  // The upstream stores answers by default, so an absent member is written as false.
  if (store === undefined) edits.push({ type: 'add', key: 'store', json: 'false' })
  else if (body.type(store) === 'null')
    edits.push({ type: 'replace', member: store, json: 'false' })
  if (target.isReasoningModel) edits.push(...includeEncryptedReasoning(body))
  return {
    body: editJson(body, edits),
    hidesUsage: false,
    ignored: written?.ignored,
  }
}

function includeEncryptedReasoning(body: JsonObject): JsonEdit[] {
  const wanted = JSON.stringify(ENCRYPTED_REASONING)
  const include = body.get('include')
  if (include === undefined) return [{ type: 'add', key: 'include', json: `[${wanted}]` }]
  const requested = body.value(include)
  if (!Array.isArray(requested) || requested.length === 0)
    return [{ type: 'replace', member: include, json: `[${wanted}]` }]
  if (requested.includes(ENCRYPTED_REASONING)) return []
  const spelling = new TextDecoder().decode(body.raw(include))
  return [{ type: 'replace', member: include, json: `${spelling.slice(0, -1)},${wanted}]` }]
}

export const openaiResponsesUpstreamCodec: UpstreamCodec = {
  form: 'chat',
  encodeRequest: encodeResponsesRequest,
  decodeAnswer: decodeResponse,
  createEventDecoder: () => new ResponsesStreamDecoder(),
}
