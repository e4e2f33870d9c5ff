import { describe, expect, test } from 'bun:test'
import { anthropicInboundCodec } from './anthropic-messages/index.ts'
import type { ChatRequest, JsonRecord, JsonValue } from './chat-request.ts'
import type { Feature, InboundCodec } from './codec.ts'
import { gatehouseChatInboundCodec } from './gatehouse-chat/index.ts'
import { openaiChatInboundCodec } from './openai-chat/index.ts'
import { isRecord } from './read-json.ts'

/** Reads each feature from a request; undefined: the feature is not a member of a request. */
const FEATURES: Readonly<Record<Feature, ((request: ChatRequest) => unknown) | undefined>> = {
  maxOutputTokens: (request) => request.maxOutputTokens,
  temperature: (request) => request.temperature,
  topP: (request) => request.topP,
  topK: (request) => request.topK,
  stop: (request) => request.stop,
  seed: (request) => request.seed,
  presencePenalty: (request) => request.presencePenalty,
  frequencyPenalty: (request) => request.frequencyPenalty,
  logprobs: (request) => request.logprobs,
  topLogprobs: (request) => request.topLogprobs,
  tools: (request) => request.tools,
  toolChoice: (request) => request.toolChoice,
  parallelToolCalls: (request) => request.parallelToolCalls,
  responseFormat: (request) => request.responseFormat,
  reasoning: (request) => request.reasoning,
  'reasoning.effort': (request) => request.reasoning?.effort,
  'reasoning.budgetTokens': (request) => request.reasoning?.budgetTokens,
  'reasoning.summary': undefined,
  'reasoning.display': (request) => request.reasoning?.display,
  user: (request) => request.user,
  metadata: (request) => request.metadata,
  serviceTier: (request) => request.serviceTier,
  promptCacheKey: (request) => request.promptCacheKey,
  reasoningParts: undefined,
  seals: undefined,
  'image.detail': undefined,
  'image.url': undefined,
  images: undefined,
  files: undefined,
  audio: undefined,
  'toolResult.images': undefined,
  'toolResult.isError': undefined,
  'tool.name': undefined,
  'tool.schema': (request) => request.tools?.[0]?.parameters,
  'tool.strict': (request) => request.tools?.[0]?.strict,
  'responseFormat.strict': ({ responseFormat }) =>
    responseFormat?.type === 'json-schema' ? responseFormat.strict : undefined,
  'message.name': undefined,
  'message.order': undefined,
  'message.text': undefined,
  cache: undefined,
}

interface Spoken {
  readonly codec: InboundCodec
  /** Uses every feature of the dialect. */
  readonly body: JsonRecord
  /** The features that the dialect's callers cannot request. */
  readonly never: readonly Feature[]
}

const schema = { type: 'object' }
const data = 'data:image/png;base64,AA'
const cache_control = { type: 'ephemeral' }
const source = { type: 'base64', media_type: 'image/png', data: 'AA' }
const DIALECTS: Readonly<Record<string, Spoken>> = {
  'openai-chat': {
    codec: openaiChatInboundCodec,
    body: {
      max_completion_tokens: 9,
      ...{
        temperature: 1,
        top_p: 1,
        top_k: 1,
        stop: 'x',
        seed: 1,
        presence_penalty: 1,
        frequency_penalty: 1,
      },
      ...{ logprobs: true, top_logprobs: 1, tool_choice: 'auto', parallel_tool_calls: false },
      ...{
        reasoning_effort: 'low',
        user: 'u',
        metadata: {},
        service_tier: 'flex',
        prompt_cache_key: 'k',
      },
      tools: [{ type: 'function', function: { name: 'f', parameters: schema, strict: true } }],
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'a', schema, strict: true },
      },
      messages: [
        {
          ...{ role: 'user', name: 'ann' },
          content: [
            { type: 'text', text: 'a', cache_control },
            { type: 'image_url', image_url: { url: data, detail: 'low' } },
            { type: 'file', file: { file_data: data } },
            { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
          ],
        },
        { role: 'assistant', content: 'b', reasoning_details: [] },
      ],
    },
    never: [
      ...(['reasoning.budgetTokens', 'reasoning.summary', 'reasoning.display'] as const),
      'toolResult.isError',
    ],
  },
  'anthropic-messages': {
    codec: anthropicInboundCodec,
    body: {
      ...{
        max_tokens: 9,
        temperature: 1,
        top_p: 1,
        top_k: 1,
        stop_sequences: ['x'],
        service_tier: 'auto',
      },
      thinking: { type: 'enabled', budget_tokens: 1024, display: 'omitted' },
      output_config: { effort: 'low', format: { type: 'json_schema', schema } },
      metadata: { user_id: 'u' },
      cache_control,
      tools: [{ name: 'f', input_schema: schema, strict: true }],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      messages: [
        {
          role: 'assistant',
          content: [{ type: 'thinking', thinking: 'a', signature: 's' }],
        },
        {
          role: 'user',
          content: [
            { type: 'image', source },
            { type: 'document', source },
            {
              type: 'tool_result',
              tool_use_id: 't',
              is_error: true,
              content: 'x',
              tool_result: {},
            },
          ],
        },
      ],
    },
    never: [
      ...(['seed', 'presencePenalty', 'frequencyPenalty', 'logprobs', 'topLogprobs'] as const),
      ...(['metadata', 'promptCacheKey', 'reasoning.summary', 'message.name', 'audio'] as const),
      ...(['image.detail', 'image.url', 'responseFormat.strict'] as const),
    ],
  },
  'gatehouse-chat': {
    codec: gatehouseChatInboundCodec,
    body: {
      ...{
        max_output_tokens: 9,
        temperature: 1,
        top_p: 1,
        stop: 'x',
        tool_choice: 'auto',
        metadata: {},
      },
      reasoning: { effort: 'low' },
      response_format: { type: 'json_schema', schema, strict: true },
      tools: [{ name: 'f', parameters: schema, strict: true }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', url: 'https://x.test/a', detail: 'low' },
            { type: 'file', data: 'AA', media_type: 'text/csv' },
          ],
        },
        { role: 'assistant', tool_calls: [{ id: 't', name: 'f', arguments: '{}' }] },
      ],
    },
    never: [
      ...([
        'topK',
        'seed',
        'presencePenalty',
        'frequencyPenalty',
        'logprobs',
        'topLogprobs',
      ] as const),
      ...([
        'parallelToolCalls',
        'user',
        'serviceTier',
        'promptCacheKey',
        'reasoning.budgetTokens',
        'reasoning.display',
      ] as const),
      ...(['reasoning.summary', 'audio', 'toolResult.isError', 'message.name', 'cache'] as const),
    ],
  },
}

/** A step is a member's name or a part's type. */
function hasPlace(value: JsonValue | undefined, steps: readonly string[]): boolean {
  const [step, ...rest] = steps
  if (step === undefined) return true
  if (Array.isArray(value)) return value.some((entry: JsonValue) => hasPlace(entry, steps))
  if (!isRecord(value)) return false
  if (value.type === step && hasPlace(value, rest)) return true
  return value[step] !== undefined && hasPlace(value[step], rest)
}

function without(value: JsonValue | undefined, [step, ...rest]: readonly string[]): JsonValue {
  if (Array.isArray(value))
    return value.map((entry: JsonValue) => without(entry, [step ?? '', ...rest]))
  if (!isRecord(value) || step === undefined) return value ?? null
  const { [step]: inner, ...others } = value
  return rest.length === 0 ? others : { ...others, [step]: without(inner, rest) }
}

describe.each(Object.entries(DIALECTS))('%s', (_, { codec, body, never }) => {
  const features = (Object.keys(FEATURES) as Feature[]).filter(
    (feature) => !never.includes(feature),
  )

  test.each(features)('%s is named by a place of the request', (feature) => {
    const name = codec.nameFeature(feature)
    expect([name, hasPlace(body, name.split('.'))]).toEqual([name, true])
  })

  const read = features.flatMap((feature) => {
    const valueIn = FEATURES[feature]
    return valueIn === undefined ? [] : [[feature, valueIn] as const]
  })
  test.each(read)('%s is named by the place that sets it', (feature, valueIn) => {
    expect(valueIn(codec.decodeRequest(body))).toBeDefined()
    const left = without(body, codec.nameFeature(feature).split('.')) as JsonRecord
    expect(valueIn(codec.decodeRequest({ messages: [], ...left }))).not.toEqual(
      valueIn(codec.decodeRequest(body)),
    )
  })
})
