/** Cohere's chat answers: the message and its events. Knows no HTTP. */

import { type Composition, composeAnswer } from '../compose-answer.ts'
import { splitTokens } from '../count-tokens.ts'
import { type Answer, type Dialect, type Exchange, encodeBody } from '../dialect.ts'
import { encodeNamedEvent, type NamedEvent } from '../named-event.ts'
import { composeThoughts } from '../prompt-texts.ts'
import { type CohereRequest, readCohereRequest } from './cohere-request.ts'
import { cohereVendor } from './cohere-vendor.ts'

export const cohereDialect: Dialect = { vendor: cohereVendor, answer }

interface Scene {
  readonly exchange: Exchange
  readonly request: CohereRequest
  readonly composition: Composition
}

function answer(exchange: Exchange): Answer {
  const request = readCohereRequest(exchange)
  const composition = composeAnswer(request.prompt, exchange.model.fault)
  const scene: Scene = { exchange, request, composition }
  return {
    json: () =>
      encodeBody(
        (text) =>
          JSON.stringify({
            id: idOf(exchange),
            message: buildMessage(scene, text),
            finish_reason: finishReason(composition),
            usage: buildUsage(scene),
          }),
        composition,
      ),
    *frames() {
      for (const event of streamEvents(scene)) yield encodeNamedEvent(event)
    },
    failureFrames: () => [
      encodeNamedEvent({
        type: 'message-end',
        delta: {
          finish_reason: 'ERROR',
          error: 'The sandbox failed in mid-stream, as it was asked to.',
        },
      }),
    ],
  }
}

/** A UUID by its look. */
function idOf({ seed }: Exchange): string {
  return seed.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5')
}

function finishReason({ finish, stoppedBy }: Composition): string {
  const ended = stoppedBy === null ? 'COMPLETE' : 'STOP_SEQUENCE'
  return { stop: ended, length: 'MAX_TOKENS', tool_calls: 'TOOL_CALL' }[finish]
}

/** Said before tools are called. */
function planOf({ calls }: Composition): string {
  return calls.length === 0
    ? ''
    : `Sandbox plan: I will use ${calls.map(({ name }) => name).join(' and ')}.`
}

function buildCalls({ exchange, composition }: Scene) {
  return composition.calls.map((call, index) => ({
    id: `${call.name}_${exchange.seed.slice(0, 10)}${index.toString(16).padStart(2, '0')}`,
    type: 'function' as const,
    function: call,
  }))
}

function thoughtsOf({ exchange, composition }: Scene): string | undefined {
  return composition.reasoningTokens > 0 ? composeThoughts(exchange.seed) : undefined
}

function buildMessage(scene: Scene, text: string) {
  const calls = buildCalls(scene)
  const thinking = thoughtsOf(scene)
  const content = [
    ...(thinking === undefined ? [] : [{ type: 'thinking', thinking }]),
    ...(text === '' ? [] : [{ type: 'text', text }]),
  ]
  return {
    role: 'assistant',
    ...(content.length > 0 ? { content } : {}),
    ...(calls.length > 0 ? { tool_plan: planOf(scene.composition), tool_calls: calls } : {}),
  }
}

/** The bill leaves out what Cohere itself puts around a prompt. */
const FRAME_TOKENS = 495

function buildUsage({ request, composition }: Scene) {
  const { inputTokens, cachedTokens } = request.count
  const output_tokens = composition.outputTokens
  return {
    billed_units: { input_tokens: inputTokens, output_tokens },
    tokens: { input_tokens: inputTokens + FRAME_TOKENS, output_tokens },
    // A cache holds a beginning, which the frame is a part of.
    cached_tokens: cachedTokens === 0 ? 0 : cachedTokens + FRAME_TOKENS,
  }
}

function* streamEvents(scene: Scene): Generator<NamedEvent> {
  const { exchange, composition } = scene
  const empty = { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] }
  yield { id: idOf(exchange), type: 'message-start', delta: { message: empty } }
  for (const tool_plan of splitTokens(planOf(composition)))
    yield { type: 'tool-plan-delta', delta: { message: { tool_plan } } }
  let index = 0
  const content = (type: string, value?: object): NamedEvent =>
    value === undefined ? { type, index } : { type, index, delta: { message: { content: value } } }
  const thinking = thoughtsOf(scene)
  if (thinking !== undefined) {
    yield content('content-start', { type: 'thinking', thinking: '' })
    for (const piece of splitTokens(thinking)) yield content('content-delta', { thinking: piece })
    yield content('content-end')
    index++
  }
  if (composition.text !== null && composition.text !== '') {
    yield content('content-start', { type: 'text', text: '' })
    for (const text of composition.pieces()) yield content('content-delta', { text })
    yield content('content-end')
  }
  yield* streamCalls(scene)
  yield {
    type: 'message-end',
    delta: { finish_reason: finishReason(composition), usage: buildUsage(scene) },
  }
}

function* streamCalls(scene: Scene): Generator<NamedEvent> {
  for (const [index, call] of buildCalls(scene).entries()) {
    const calls = (tool_calls: object) => ({ index, delta: { message: { tool_calls } } })
    const opening = { ...call, function: { name: call.function.name, arguments: '' } }
    yield { type: 'tool-call-start', ...calls(opening) }
    for (const fragment of splitTokens(call.function.arguments))
      yield { type: 'tool-call-delta', ...calls({ function: { arguments: fragment } }) }
    yield { type: 'tool-call-end', index }
  }
}
