/** The response object and its items as OpenAI writes them, every key present. Knows no events. */
import type { Composition } from '../compose-answer.ts'
import { CREATED_AT, type Exchange, modelInAnswer } from '../dialect.ts'
import { isObject, objectsOf } from '../json.ts'
import { sealReasoning } from '../seal-reasoning.ts'
import type { ResponsesRequest } from './responses-request.ts'

type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

export interface ReasoningItem {
  readonly id: string
  readonly type: 'reasoning'
  readonly encrypted_content?: string
  readonly summary: readonly { readonly type: 'summary_text'; readonly text: string }[]
}

export interface FunctionCallItem {
  readonly id: string
  readonly type: 'function_call'
  readonly status: ItemStatus
  readonly arguments: string
  readonly call_id: string
  readonly name: string
}

export interface MessageItem {
  readonly id: string
  readonly type: 'message'
  readonly status: ItemStatus
  readonly content: readonly OutputText[]
  readonly role: 'assistant'
}

export interface OutputText {
  readonly type: 'output_text'
  readonly annotations: readonly unknown[]
  readonly logprobs: readonly unknown[]
  readonly text: string
}

export type OutputItem = ReasoningItem | FunctionCallItem | MessageItem

export function outputText(text: string): OutputText {
  return { type: 'output_text', annotations: [], logprobs: [], text }
}

/** The finished items, in the order in which they are streamed. */
export function buildItems(
  exchange: Exchange,
  request: ResponsesRequest,
  composition: Composition,
): OutputItem[] {
  const { seed } = exchange
  const mark = request.isReasoning ? 'r' : 'e'
  let index = 0
  const createId = (prefix: string) =>
    `${prefix}${seed.slice(0, 46)}${mark}${(index++).toString(16).padStart(2, '0')}`
  const items: OutputItem[] = []
  if (request.isReasoning) items.push(buildReasoning(createId('rs_'), exchange, request))
  for (const [position, call] of composition.calls.entries()) {
    items.push({
      id: createId('fc_'),
      type: 'function_call',
      status: 'completed',
      arguments: call.arguments,
      call_id: `call_${seed.slice(40, 62)}${position.toString(16).padStart(2, '0')}`,
      name: call.name,
    })
  }
  if (composition.text !== null) {
    items.push({
      id: createId('msg_'),
      type: 'message',
      status: composition.finish === 'length' ? 'incomplete' : 'completed',
      content: [outputText(composition.text)],
      role: 'assistant',
    })
  }
  return items
}

function buildReasoning(id: string, exchange: Exchange, request: ResponsesRequest): ReasoningItem {
  const text = `Sandbox reasoning: there is nothing to think about. ${exchange.seed} ${exchange.seed}`
  return {
    id,
    type: 'reasoning',
    ...(request.wantsEncrypted
      ? { encrypted_content: sealReasoning({ id, text, isPartial: false }, exchange.apiKey) }
      : {}),
    summary: request.wantsSummary
      ? [
          {
            type: 'summary_text',
            text: '**Sandbox reasoning**\n\nThe sandbox summarises thoughts it does not have.',
          },
        ]
      : [],
  }
}

export interface ResponseState {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed'
  readonly output: readonly OutputItem[]
  readonly usage: unknown
  readonly error: { readonly code: string; readonly message: string } | null
}

/** Every key of OpenAI's response object, the settings echoed with their defaults. */
export function buildResponse(
  exchange: Exchange,
  state: ResponseState,
): Readonly<Record<string, unknown>> {
  const { body, seed } = exchange
  const isReasoning = exchange.model.base === 'echo-reasoning'
  const reasoning = isObject(body.reasoning) ? body.reasoning : {}
  const text = isObject(body.text) ? body.text : {}
  return {
    id: `resp_${seed.slice(0, 50)}`,
    object: 'response',
    created_at: CREATED_AT,
    status: state.status,
    background: false,
    completed_at: state.status === 'completed' ? CREATED_AT + 1 : null,
    error: state.error,
    frequency_penalty: 0,
    incomplete_details: state.status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: body.max_tool_calls ?? null,
    model: modelInAnswer(exchange.model),
    output: state.output,
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    presence_penalty: 0,
    previous_response_id: null,
    prompt_cache_key: body.prompt_cache_key ?? null,
    prompt_cache_retention: body.prompt_cache_retention ?? null,
    reasoning: {
      effort: reasoning.effort ?? (isReasoning ? 'medium' : null),
      summary: reasoning.summary === 'auto' ? 'detailed' : (reasoning.summary ?? null),
    },
    safety_identifier: body.safety_identifier ?? null,
    service_tier: state.status === 'in_progress' ? (body.service_tier ?? 'auto') : 'default',
    store: body.store ?? true,
    temperature: body.temperature ?? 1,
    text: {
      ...text,
      format: text.format ?? { type: 'text' },
      verbosity: text.verbosity ?? 'medium',
    },
    tool_choice: body.tool_choice ?? 'auto',
    tools: objectsOf(body.tools).map(echoTool),
    top_logprobs: body.top_logprobs ?? 0,
    top_p: body.top_p ?? 1,
    truncation: body.truncation ?? 'disabled',
    usage: state.usage,
    user: body.user ?? null,
    metadata: body.metadata ?? {},
  }
}

function echoTool(tool: Readonly<Record<string, unknown>>): unknown {
  if (tool.type !== 'function') return tool
  const { type, description = null, name, parameters = null, strict = true, ...rest } = tool
  return { type, description, name, parameters, strict, ...rest }
}

export function buildUsage(request: ResponsesRequest, composition: Composition) {
  const { inputTokens, cachedTokens } = request.count
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedTokens },
    output_tokens: composition.outputTokens,
    output_tokens_details: { reasoning_tokens: composition.reasoningTokens },
    total_tokens: inputTokens + composition.outputTokens,
  }
}
