/**
 * The events of a Responses stream, in OpenAI's order. Knows neither framing nor sequence numbers.
 */
import type { Composition } from '../compose-answer.ts'
import { splitTokens } from '../count-tokens.ts'
import { type Exchange, obfuscationAt } from '../dialect.ts'
import { sealReasoning } from '../seal-reasoning.ts'
import {
  buildResponse,
  type FunctionCallItem,
  type MessageItem,
  type OutputItem,
  outputText,
  type ReasoningItem,
  type ResponseState,
} from './responses-object.ts'
import type { ResponsesRequest } from './responses-request.ts'

export interface ResponsesEvent {
  readonly type: string
  readonly [member: string]: unknown
}

interface Streamed {
  readonly exchange: Exchange
  readonly request: ResponsesRequest
  readonly composition: Composition
}

export const STARTED: ResponseState = {
  status: 'in_progress',
  output: [],
  usage: null,
  error: null,
}

export function* streamEvents(
  streamed: Streamed,
  items: readonly OutputItem[],
  finished: ResponseState,
): Generator<ResponsesEvent> {
  const started = buildResponse(streamed.exchange, STARTED)
  yield { type: 'response.created', response: started }
  yield { type: 'response.in_progress', response: started }
  for (const [outputIndex, item] of items.entries()) {
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
  { exchange, request }: Streamed,
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
  streamed: Streamed,
  item: ReasoningItem,
  outputIndex: number,
): Generator<ResponsesEvent> {
  const { apiKey } = streamed.exchange
  // The first ciphertext is shorter than the last and cannot be replayed: only the one in `.done`
  // counts.
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
  streamed: Streamed,
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
  streamed: Streamed,
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
