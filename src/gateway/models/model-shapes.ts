/** The form in which each family of clients reads a list of models, and a single model. */

import { invalidRequest } from '../../core/errors.ts'
import type { Gate } from '../../core/gate.ts'
import type { HeaderFields } from '../../net/fields.ts'
import type { Envelope } from '../../wire/dialect.ts'

/** Only clients of the Messages API send its version, so the header identifies these clients. */
export function speaksMessages(headers: HeaderFields): boolean {
  // provider-name-ok: the API's own header, whichever provider serves it
  return headers.has('anthropic-version')
}

export interface AltCalls {
  readonly chat: boolean
  readonly fim: boolean
}

/** A name under which a gate is listed: its id or an alias. */
export interface ModelEntry {
  readonly id: string
  readonly gate: Gate
}

export interface ModelShape {
  readonly envelope: Envelope
  /** The client's header for the request's id, in addition to `x-request-id`. */
  readonly requestIdHeader?: string
  toModel(entry: ModelEntry, callsOf: () => AltCalls): object
  /** @throws GatewayError `invalid_request` for an invalid page */
  toList(
    entries: readonly ModelEntry[],
    query: URLSearchParams,
    toModel: (entry: ModelEntry) => object,
  ): object
}

/** https://platform.openai.com/docs/api-reference/models */
export const nestedModels: ModelShape = {
  envelope: 'nested',
  toModel: toPlainModel,
  toList: toCheckedList,
}

/** https://docs.mistral.ai/api/#tag/models */
export const altModels: ModelShape = {
  envelope: 'alt',
  toModel(entry, callsOf) {
    const { chat, fim } = callsOf()
    return {
      ...toPlainModel(entry),
      type: 'base',
      name: entry.gate.displayName,
      description: entry.gate.description,
      capabilities: { completion_chat: chat, completion_fim: fim, function_calling: chat },
    }
  },
  toList: toWholeList,
}

/** https://docs.anthropic.com/en/api/models-list */
export const messagesModels: ModelShape = {
  envelope: 'messages',
  requestIdHeader: 'request-id',
  toModel: ({ id, gate }) => ({
    type: 'model',
    id,
    display_name: gate.displayName,
    created_at: new Date(gate.createdAt).toISOString(),
    lifecycle: 'active',
    // A gate's targets may differ in their capabilities.
    capabilities: null,
    line: null,
    max_input_tokens: null,
    max_tokens: null,
    deprecated_at: null,
    retires_at: null,
  }),
  toList(entries, query, toModel) {
    const { page, hasMore } = toPage(entries, query)
    return {
      data: page.map(toModel),
      has_more: hasMore,
      first_id: page.at(0)?.id ?? null,
      last_id: page.at(-1)?.id ?? null,
    }
  },
}

function toPlainModel({ id, gate }: ModelEntry) {
  const created = Math.floor(gate.createdAt / 1000)
  return { id, object: 'model', created, owned_by: 'gatehouse' }
}

function toWholeList(
  entries: readonly ModelEntry[],
  _: URLSearchParams,
  toModel: (entry: ModelEntry) => object,
): object {
  return { object: 'list', data: entries.map(toModel) }
}

/**
 * `limit` has no effect here, but the OpenAPI document bounds it for both formats of this address.
 */
function toCheckedList(
  entries: readonly ModelEntry[],
  query: URLSearchParams,
  toModel: (entry: ModelEntry) => object,
): object {
  readLimit(query)
  return toWholeList(entries, query, toModel)
}

const DEFAULT_LIMIT = 20
const MAX_LIMIT = 1000

function toPage(entries: readonly ModelEntry[], query: URLSearchParams) {
  const limit = readLimit(query)
  const from = placeOf(entries, query, 'after_id')
  const to = placeOf(entries, query, 'before_id')
  const span = entries.slice(from === undefined ? 0 : from + 1, to)
  const page = to === undefined ? span.slice(0, limit) : span.slice(-limit)
  return { page, hasMore: page.length < span.length }
}

function readLimit(query: URLSearchParams): number {
  const text = query.get('limit')
  if (text === null) return DEFAULT_LIMIT
  const limit = Number(text)
  if (text !== '' && Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return limit
  throw invalidRequest(
    `'limit' must be a whole number from 1 to ${MAX_LIMIT}.`,
    'limit',
    'invalid_value',
  )
}

function placeOf(
  entries: readonly ModelEntry[],
  query: URLSearchParams,
  name: string,
): number | undefined {
  const id = query.get(name)
  if (id === null) return undefined
  const place = entries.findIndex((entry) => entry.id === id)
  if (place >= 0) return place
  throw invalidRequest(`'${name}' must be a model of this list.`, name, 'invalid_value')
}
