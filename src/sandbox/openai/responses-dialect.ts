/** The OpenAI Responses dialect: combines reading, composing and writing, and frames the events. */
import { splitTokens } from '../count-tokens.ts'
import {
  CREATED_AT,
  defineDialect,
  type Exchange,
  modelInAnswer,
  type NamedEvent,
  obfuscationAt,
  type Scene,
  toDigits,
} from '../dialect.ts'
import { objectOf, objectsOf } from '../json.ts'
import { sealReasoning } from '../thinking.ts'
import { openaiVendor } from './openai-vendor.ts'
import { type ResponsesRequest, readResponsesRequest } from './responses-request.ts'

export const responsesDialect = defineDialect<ResponsesRequest>({
  vendor: openaiVendor,
  readRequest: readResponsesRequest,
  buildAnswer: (scene, text) => {
    const finished = finish(scene)
    return buildResponse(scene.exchange, { ...finished, output: withText(finished.output, text) })
  },
  *streamFrames(scene) {
    let sequence = 0
    for (const event of streamEvents(scene, finish(scene))) yield encodeFrame(event, sequence++)
  },
  failureFrames: (message, { exchange }, sent) =>
    failureEvents(exchange, message).map((event, index) => encodeFrame(event, sent + index)),
})

type ResponsesScene = Scene<ResponsesRequest>

function finish(scene: ResponsesScene): ResponseState {
  return {
    status: scene.composition.finish === 'length' ? 'incomplete' : 'completed',
    output: buildItems(scene),
    usage: buildUsage(scene),
    error: null,
  }
}

function withText(items: readonly OutputItem[], text: string): OutputItem[] {
  return items.map((item) =>
    item.type === 'message'
      ? { ...item, content: item.content.map((part) => ({ ...part, text })) }
      : item,
  )
}

function encodeFrame({ type, ...members }: ResponsesEvent, sequence: number): string {
  return (
    `event: ${type}\ndata: ` +
    `${JSON.stringify({ type, sequence_number: sequence, ...members })}\n\n`
  )
}

/**
 * On the wire the error is nested, contrary to the published types; `response.failed` follows it.
 */
function failureEvents(exchange: Exchange, message: string): ResponsesEvent[] {
  const code = 'server_error'
  const failed: ResponseState = { ...STARTED, status: 'failed', error: { code, message } }
  return [
    { type: 'error', error: { type: 'server_error', code, message, param: null } },
    { type: 'response.failed', response: buildResponse(exchange, failed) },
  ]
}

type ResponsesEvent = NamedEvent

const STARTED: ResponseState = {
  status: 'in_progress',
  output: [],
  usage: null,
  error: null,
}

function* streamEvents(
  streamed: ResponsesScene,
  finished: ResponseState,
): Generator<ResponsesEvent> {
  const started = buildResponse(streamed.exchange, STARTED)
  yield { type: 'response.created', response: started }
  yield { type: 'response.in_progress', response: started }
  for (const [outputIndex, item] of finished.output.entries()) {
    if (item.type === 'reasoning') yield* streamReasoning(streamed, item, outputIndex)
    else if (item.type === 'function_call') yield* streamCall(streamed, item, outputIndex)
    else yield* streamMessage(streamed, item, outputIndex)
  }
  yield {
    type: `response.${finished.status}`,
    response: buildResponse(streamed.exchange, finished),
  }
}

function* streamDeltas(
  { exchange, request }: ResponsesScene,
  event: ResponsesEvent,
  pieces: Iterable<string>,
  extra: Readonly<Record<string, unknown>> = {},
): Generator<ResponsesEvent> {
  let position = 0
  for (const delta of pieces) {
    const padding = request.wantsObfuscation
      ? { obfuscation: obfuscationAt(exchange.seed, position++) }
      : {}
    yield { ...event, delta, ...extra, ...padding }
  }
}

function* streamReasoning(
  streamed: ResponsesScene,
  item: ReasoningItem,
  outputIndex: number,
): Generator<ResponsesEvent> {
  const { apiKey } = streamed.exchange
  // Only the ciphertext in `.done` is valid: the ciphertext in `.added` is shorter and cannot be
  // replayed.
  const first =
    item.encrypted_content === undefined
      ? {}
      : { encrypted_content: sealReasoning({ id: item.id, text: '', isPartial: true }, apiKey) }
  yield {
    type: 'response.output_item.added',
    output_index: outputIndex,
    item: { ...item, ...first, summary: [] },
  }
  for (const [summaryIndex, part] of item.summary.entries()) {
    const at = { item_id: item.id, output_index: outputIndex, summary_index: summaryIndex }
    yield { type: 'response.reasoning_summary_part.added', ...at, part: { ...part, text: '' } }
    yield* streamDeltas(
      streamed,
      { type: 'response.reasoning_summary_text.delta', ...at },
      splitTokens(part.text),
    )
    yield { type: 'response.reasoning_summary_text.done', ...at, text: part.text }
    yield { type: 'response.reasoning_summary_part.done', ...at, part }
  }
  yield { type: 'response.output_item.done', output_index: outputIndex, item }
}

function* streamCall(
  streamed: ResponsesScene,
  item: FunctionCallItem,
  outputIndex: number,
): Generator<ResponsesEvent> {
  const at = { item_id: item.id, output_index: outputIndex }
  const added = { ...item, status: 'in_progress', arguments: '' }
  yield { type: 'response.output_item.added', output_index: outputIndex, item: added }
  const delta = { type: 'response.function_call_arguments.delta', ...at }
  yield* streamDeltas(streamed, delta, splitTokens(item.arguments))
  yield { type: 'response.function_call_arguments.done', ...at, arguments: item.arguments }
  yield { type: 'response.output_item.done', output_index: outputIndex, item }
}

function* streamMessage(
  streamed: ResponsesScene,
  item: MessageItem,
  outputIndex: number,
): Generator<ResponsesEvent> {
  const at = { item_id: item.id, output_index: outputIndex, content_index: 0 }
  const text = item.content[0]?.text ?? ''
  const added = { ...item, status: 'in_progress', content: [] }
  yield { type: 'response.output_item.added', output_index: outputIndex, item: added }
  yield { type: 'response.content_part.added', ...at, part: outputText('') }
  const delta = { type: 'response.output_text.delta', ...at }
  yield* streamDeltas(streamed, delta, streamed.composition.pieces(), { logprobs: [] })
  yield { type: 'response.output_text.done', ...at, text, logprobs: [] }
  yield { type: 'response.content_part.done', ...at, part: outputText(text) }
  yield { type: 'response.output_item.done', output_index: outputIndex, item }
}

type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

interface ReasoningItem {
  readonly id: string
  readonly type: 'reasoning'
  readonly encrypted_content?: string
  readonly summary: readonly { readonly type: 'summary_text'; readonly text: string }[]
}

interface FunctionCallItem {
  readonly id: string
  readonly type: 'function_call'
  readonly status: ItemStatus
  readonly arguments: string
  readonly call_id: string
  readonly name: string
}

interface MessageItem {
  readonly id: string
  readonly type: 'message'
  readonly status: ItemStatus
  readonly content: readonly OutputText[]
  readonly role: 'assistant'
}

interface OutputText {
  readonly type: 'output_text'
  readonly annotations: readonly unknown[]
  readonly logprobs: readonly unknown[]
  readonly text: string
}

type OutputItem = ReasoningItem | FunctionCallItem | MessageItem

function outputText(text: string): OutputText {
  return { type: 'output_text', annotations: [], logprobs: [], text }
}

function buildItems({ exchange, request, composition }: ResponsesScene): OutputItem[] {
  const { seed } = exchange
  const mark = request.isReasoning ? 'r' : 'e'
  const items: OutputItem[] = []
  const createId = (prefix: string) =>
    `${prefix}${seed.slice(0, 46)}${mark}${toDigits(items.length)}`
  if (request.isReasoning) items.push(buildReasoning(createId('rs_'), exchange, request))
  for (const [position, call] of composition.calls.entries()) {
    items.push({
      id: createId('fc_'),
      type: 'function_call',
      status: 'completed',
      arguments: call.arguments,
      call_id: `call_${seed.slice(40, 62)}${toDigits(position)}`,
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

interface ResponseState {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed'
  readonly output: readonly OutputItem[]
  readonly usage: unknown
  readonly error: { readonly code: string; readonly message: string } | null
}

function buildResponse(
  exchange: Exchange,
  state: ResponseState,
): Readonly<Record<string, unknown>> {
  const { body, seed } = exchange
  const isReasoning = exchange.model.base === 'echo-reasoning'
  const reasoning = objectOf(body.reasoning)
  const text = objectOf(body.text)
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

function buildUsage({ request, composition }: ResponsesScene) {
  const { inputTokens, cachedTokens } = request.count
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedTokens },
    output_tokens: composition.outputTokens,
    output_tokens_details: { reasoning_tokens: composition.reasoningTokens },
    total_tokens: inputTokens + composition.outputTokens,
  }
}
