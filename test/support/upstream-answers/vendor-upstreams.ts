import type { FinishReason } from '../../../src/wire/chat-answer.ts'
import {
  type AnswerScript,
  halves,
  SEAL,
  sse,
  THOUGHT,
  textPieces,
  type UpstreamKit,
  USAGE,
} from './answer-script.ts'

const typed = (type: string, members: object = {}) => sse(type, { type, ...members })
const callsOf = (script: AnswerScript) => script.calls ?? []
const inputOf = (call: { readonly arguments: string }) => JSON.parse(call.arguments) as object

type Reasons = Readonly<Record<FinishReason, string>>

const ANTHROPIC_REASONS: Reasons = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
}
const anthropicUsage = ({ usage = USAGE }: AnswerScript) => ({
  input_tokens: usage.input - usage.cached,
  cache_read_input_tokens: usage.cached,
  output_tokens: usage.output,
  output_tokens_details: { thinking_tokens: usage.reasoning },
})
const anthropicHead = {
  id: 'msg_probe',
  type: 'message',
  role: 'assistant',
  model: 'model-1',
  stop_sequence: null,
}

export const anthropicUpstream: UpstreamKit = {
  name: 'Anthropic Messages',
  kept: SEAL,
  failure: typed('error', { error: { type: 'overloaded_error', message: 'probe-failure' } }),
  whole: (script) => ({
    ...anthropicHead,
    content: [
      ...(script.reasoning === undefined
        ? []
        : [{ type: 'thinking', thinking: script.reasoning, signature: SEAL }]),
      ...(script.text === undefined ? [] : [{ type: 'text', text: script.text }]),
      ...callsOf(script).map((call) => ({
        type: 'tool_use',
        id: call.id,
        name: call.name,
        input: JSON.parse(call.arguments),
      })),
    ],
    stop_reason: ANTHROPIC_REASONS[script.finish],
    usage: anthropicUsage(script),
  }),
  stream(script) {
    const blocks: (readonly [start: object, deltas: readonly object[]])[] = []
    if (script.reasoning !== undefined) {
      const thinking = { type: 'thinking_delta', thinking: script.reasoning }
      const signature = { type: 'signature_delta', signature: SEAL }
      blocks.push([{ type: 'thinking', thinking: '', signature: '' }, [thinking, signature]])
    }
    if (script.text !== undefined)
      blocks.push([
        { type: 'text', text: '' },
        textPieces(script).map((text) => ({ type: 'text_delta', text })),
      ])
    for (const { id, name, arguments: written } of callsOf(script)) {
      const pieces = written === '{}' ? [] : halves(written)
      const deltas = pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json }))
      blocks.push([{ type: 'tool_use', id, name, input: {} }, deltas])
    }
    const message = {
      ...anthropicHead,
      content: [],
      stop_reason: null,
      usage: { ...anthropicUsage(script), output_tokens: 1 },
    }
    return [
      typed('message_start', { message }),
      ...blocks.flatMap(([content_block, deltas], index) => [
        typed('content_block_start', { index, content_block }),
        ...deltas.map((delta) => typed('content_block_delta', { index, delta })),
        typed('content_block_stop', { index }),
      ]),
      typed('message_delta', {
        delta: { stop_reason: ANTHROPIC_REASONS[script.finish] },
        usage: anthropicUsage(script),
      }),
      typed('message_stop'),
    ]
  },
}

const GEMINI_REASONS: Reasons = {
  stop: 'STOP',
  length: 'MAX_TOKENS',
  tool_calls: 'STOP',
  content_filter: 'SAFETY',
}

function geminiPiece(
  { usage = USAGE }: AnswerScript,
  parts: readonly object[],
  finishReason?: string,
) {
  return {
    candidates: [
      {
        content: { role: 'model', parts: [...parts] },
        index: 0,
        ...(finishReason && { finishReason }),
      },
    ],
    usageMetadata: {
      promptTokenCount: usage.input,
      cachedContentTokenCount: usage.cached,
      candidatesTokenCount: usage.output - usage.reasoning,
      thoughtsTokenCount: usage.reasoning,
    },
    modelVersion: 'model-1',
    responseId: 'probe-1',
  }
}

const geminiParts = (script: AnswerScript): readonly object[] => [
  ...(script.reasoning === undefined ? [] : [{ text: script.reasoning, thought: true }]),
  ...textPieces(script).map((text) => ({ text })),
  ...callsOf(script).map(({ name, ...call }, index) => ({
    functionCall: { name, args: inputOf(call) },
    ...(index === 0 && script.reasoning !== undefined ? { thoughtSignature: SEAL } : {}),
  })),
]

export const geminiUpstream: UpstreamKit = {
  name: 'Gemini',
  kept: SEAL,
  failure: sse(undefined, {
    error: { code: 503, message: 'probe-failure', status: 'UNAVAILABLE' },
  }),
  whole: (script) =>
    JSON.parse(
      JSON.stringify(geminiPiece(script, geminiParts(script), GEMINI_REASONS[script.finish])),
    ),
  stream: (script) => [
    ...geminiParts(script).map((part) => sse(undefined, geminiPiece(script, [part]))),
    sse(undefined, geminiPiece(script, [], GEMINI_REASONS[script.finish])),
  ],
}

const COHERE_REASONS: Reasons = {
  stop: 'COMPLETE',
  length: 'MAX_TOKENS',
  tool_calls: 'TOOL_CALL',
  content_filter: 'ERROR_TOXIC',
}
const cohereUsage = ({ usage = USAGE }: AnswerScript) => ({
  billed_units: { input_tokens: usage.input, output_tokens: usage.output },
  tokens: { input_tokens: usage.input, output_tokens: usage.output },
  cached_tokens: usage.cached,
})
const cohereCall = ({
  id,
  ...called
}: {
  readonly id: string
  readonly name: string
  readonly arguments: string
}) => ({
  id,
  type: 'function',
  function: called,
})

export const cohereUpstream: UpstreamKit = {
  name: 'Cohere chat',
  kept: THOUGHT,
  failure: typed('error', { message: 'probe-failure' }),
  whole: (script) => ({
    id: 'probe-1',
    message: {
      role: 'assistant',
      content: [
        ...(script.reasoning === undefined
          ? []
          : [{ type: 'thinking', thinking: script.reasoning }]),
        ...(script.text === undefined ? [] : [{ type: 'text', text: script.text }]),
      ],
      tool_calls: callsOf(script).map(cohereCall),
    },
    finish_reason: COHERE_REASONS[script.finish],
    usage: cohereUsage(script),
  }),
  stream(script) {
    const contents = [
      ...(script.reasoning === undefined ? [] : [['thinking', [script.reasoning]] as const]),
      ...(script.text === undefined ? [] : [['text', textPieces(script)] as const]),
    ]
    return [
      typed('message-start', {
        id: 'probe-1',
        delta: { message: { role: 'assistant', content: [] } },
      }),
      ...contents.flatMap(([type, pieces], index) => [
        typed('content-start', { index, delta: { message: { content: { type, [type]: '' } } } }),
        ...pieces.map((piece) =>
          typed('content-delta', { index, delta: { message: { content: { [type]: piece } } } }),
        ),
        typed('content-end', { index }),
      ]),
      ...callsOf(script).flatMap((call, index) => [
        typed('tool-call-start', {
          index,
          delta: { message: { tool_calls: cohereCall({ ...call, arguments: '' }) } },
        }),
        typed('tool-call-delta', {
          index,
          delta: { message: { tool_calls: { function: { arguments: call.arguments } } } },
        }),
        typed('tool-call-end', { index }),
      ]),
      typed('message-end', {
        delta: { finish_reason: COHERE_REASONS[script.finish], usage: cohereUsage(script) },
      }),
    ]
  },
}
