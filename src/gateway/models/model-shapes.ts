/** The form in which each family of clients reads a list of models, and a single model. */

import { invalidRequest } from '../../core/errors.ts'
import { type Gate, listedNamesOf } from '../../core/gate.ts'
import type { ModelFacts } from '../../core/model-facts.ts'
import type { HeaderFields } from '../../net/fields.ts'
import type { Envelope } from '../../wire/dialect.ts'
import type { ListPrice } from './list-price.ts'

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

/** Computed when asked for. */
export interface ModelDetails {
  facts(): ModelFacts
  /** Undefined: unknown, or not the same for all targets. */
  price(): ListPrice | undefined
  calls(): AltCalls
}

export interface ModelShape {
  readonly envelope: Envelope
  /** The client's header for the request's id, in addition to `x-request-id`. */
  readonly requestIdHeader?: string
  toModel(entry: ModelEntry, details: ModelDetails): object
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
  toModel: (entry, details) => ({ ...toPlainModel(entry), ...toOpenRouterMembers(entry, details) }),
  toList: toCheckedList,
}

/** https://docs.mistral.ai/api/#tag/models */
export const altModels: ModelShape = {
  envelope: 'alt',
  toModel(entry, details) {
    const { chat, fim } = details.calls()
    const { contextTokens, inputModalities, reasoningEfforts } = details.facts()
    const others = listedNamesOf(entry.gate).filter((name) => name !== entry.id)
    return {
      ...toPlainModel(entry),
      type: 'base',
      name: entry.gate.displayName,
      description: entry.gate.description,
      aliases: others,
      ...(contextTokens === undefined ? {} : { max_context_length: contextTokens }),
      capabilities: {
        completion_chat: chat,
        completion_fim: fim,
        function_calling: chat,
        ...(inputModalities === undefined
          ? {}
          : {
              vision: inputModalities.includes('image'),
              audio: inputModalities.includes('audio'),
            }),
        ...(reasoningEfforts === undefined ? {} : { reasoning: reasoningEfforts.length > 0 }),
      },
    }
  },
  toList: toWholeList,
}

/** https://docs.anthropic.com/en/api/models-list */
export const messagesModels: ModelShape = {
  envelope: 'messages',
  requestIdHeader: 'request-id',
  toModel({ id, gate }, details) {
    const facts = details.facts()
    return {
      type: 'model',
      id,
      display_name: gate.displayName,
      created_at: new Date(gate.createdAt).toISOString(),
      lifecycle: 'active',
      capabilities: toCapabilities(facts),
      line: null,
      max_input_tokens: facts.contextTokens ?? null,
      max_tokens: facts.maxOutputTokens ?? null,
      deprecated_at: null,
      retires_at: null,
    }
  },
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

/**
 * The names that most clients read: https://openrouter.ai/docs/api-reference/list-available-models.
 * An unknown fact is absent.
 */
function toOpenRouterMembers({ gate }: ModelEntry, details: ModelDetails): object {
  const { contextTokens, maxOutputTokens, inputModalities, outputModalities } = details.facts()
  const modalities = {
    ...(inputModalities === undefined ? {} : { input_modalities: inputModalities }),
    ...(outputModalities === undefined ? {} : { output_modalities: outputModalities }),
  }
  const limits = {
    ...(contextTokens === undefined ? {} : { context_length: contextTokens }),
    ...(maxOutputTokens === undefined ? {} : { max_completion_tokens: maxOutputTokens }),
  }
  const pricing = details.price()
  return {
    name: gate.displayName,
    ...(gate.description === '' ? {} : { description: gate.description }),
    ...(contextTokens === undefined ? {} : { context_length: contextTokens }),
    ...(maxOutputTokens === undefined ? {} : { max_output_tokens: maxOutputTokens }),
    ...modalities,
    ...(Object.keys(modalities).length === 0 ? {} : { architecture: modalities }),
    ...(Object.keys(limits).length === 0 ? {} : { top_provider: limits }),
    ...(pricing === undefined ? {} : { pricing }),
  }
}

const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const

/**
 * The SDK's type requires every capability, so an unknown one counts as unsupported. Null without
 * known modalities and efforts.
 */
function toCapabilities({ inputModalities, reasoningEfforts }: ModelFacts): object | null {
  if (inputModalities === undefined || reasoningEfforts === undefined) return null
  const thinks = supported(reasoningEfforts.length > 0)
  const efforts = EFFORTS.map((effort) => [effort, supported(reasoningEfforts.includes(effort))])
  return {
    batch: supported(false),
    citations: supported(false),
    code_execution: supported(false),
    context_management: {
      ...supported(false),
      clear_thinking_20251015: null,
      clear_tool_uses_20250919: null,
      compact_20260112: null,
    },
    effort: { ...thinks, ...Object.fromEntries(efforts) },
    image_input: supported(inputModalities.includes('image')),
    pdf_input: supported(inputModalities.includes('file')),
    server_tools: {
      ...supported(false),
      code_execution: supported(false),
      web_search: supported(false),
    },
    structured_outputs: supported(false),
    thinking: {
      ...thinks,
      types: {
        adaptive: thinks,
        between_tools: supported(false),
        disabled: supported(true),
        enabled: thinks,
      },
    },
  }
}

function supported(isSupported: boolean): { readonly supported: boolean } {
  return { supported: isSupported }
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
