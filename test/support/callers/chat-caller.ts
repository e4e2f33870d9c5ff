import type { FinishReason } from '../../../src/wire/chat-answer.ts'
import type { JsonRecord } from '../../../src/wire/chat-request.ts'
import { type CallerKit, readEvents, type SeenAnswer } from './caller.ts'
import {
  ANSWERED,
  AUDIO,
  BARE_SCHEMA,
  BOUND_SCHEMA,
  CALLS,
  CHOICE_SCHEMA,
  CSV,
  FOLLOW_UP,
  IMAGE,
  IMAGE_URL,
  LONG_USER,
  MORE_TOKENS,
  OPTIONAL_SCHEMA,
  PDF,
  PDF_URL,
  PROMPT,
  RESULTS,
  SCHEMA,
  STOP,
  STOPS,
  SYSTEM,
  TOOL_NAME,
  USER,
} from './materials.ts'

const user = { role: 'user', content: PROMPT }
const plain: JsonRecord = { messages: [user] }
const withPart = (part: JsonRecord): JsonRecord => ({
  messages: [{ role: 'user', content: [{ type: 'text', text: PROMPT }, part] }],
})
const image = (url: string): JsonRecord => ({ type: 'image_url', image_url: { url } })
const file = (file_data: string): JsonRecord => ({
  type: 'file',
  file: { filename: 'probe.pdf', file_data },
})
const weather = { name: 'weather', description: 'tells the weather', parameters: SCHEMA }
const tools = [{ type: 'function', function: weather }]
const clock = { type: 'function', function: { name: 'clock', description: 'tells the time' } }

const called: JsonRecord = {
  role: 'assistant',
  content: null,
  tool_calls: CALLS.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  })),
}
const results = CALLS.map((call, index) => ({
  role: 'tool',
  tool_call_id: call.id,
  content: RESULTS[index] ?? '',
}))
const history = (answers: readonly JsonRecord[]): JsonRecord => ({
  tools: [...tools, clock],
  messages: [user, called, ...answers],
})
const withTool = (tool: JsonRecord): JsonRecord => ({
  ...plain,
  tools: [{ type: 'function', function: tool }],
})
const format = (schema: JsonRecord): JsonRecord => ({
  response_format: {
    type: 'json_schema',
    json_schema: { name: 'place', schema, strict: true },
  },
})
const withTools: JsonRecord = { ...plain, tools }
const choose = (tool_choice: JsonRecord[string]) => ({
  ask: { ...withTools, tool_choice },
  without: withTools,
})

interface Completion {
  readonly choices?: readonly {
    readonly message?: Piece
    readonly delta?: Piece
    readonly finish_reason?: FinishReason | null
  }[]
  readonly usage?: {
    readonly prompt_tokens: number
    readonly completion_tokens: number
    readonly prompt_tokens_details?: { readonly cached_tokens?: number }
    readonly completion_tokens_details?: { readonly reasoning_tokens?: number }
  } | null
}

interface Piece {
  readonly content?: string | null
  readonly reasoning_content?: string
  readonly tool_calls?: readonly {
    readonly index?: number
    readonly function: { readonly name?: string; readonly arguments?: string }
  }[]
}

function readPieces(pieces: readonly Completion[]): SeenAnswer {
  const calls: { name: string; written: string }[] = []
  let [text, reasoning] = ['', '']
  for (const { choices } of pieces) {
    const piece = choices?.[0]?.message ?? choices?.[0]?.delta
    text += piece?.content ?? ''
    reasoning += piece?.reasoning_content ?? ''
    for (const [position, made] of (piece?.tool_calls ?? []).entries()) {
      const at = made.index ?? position
      const call = calls[at] ?? { name: '', written: '' }
      calls[at] = call
      call.name += made.function.name ?? ''
      call.written += made.function.arguments ?? ''
    }
  }
  const usage = pieces.findLast((piece) => piece.usage)?.usage
  return {
    text,
    reasoning,
    calls: calls.map(({ name, written }) => ({ name, input: JSON.parse(written) })),
    finish:
      pieces.findLast((piece) => piece.choices?.[0]?.finish_reason)?.choices?.[0]?.finish_reason ??
      undefined,
    input: usage?.prompt_tokens ?? 0,
    output: usage?.completion_tokens ?? 0,
    cached: usage?.prompt_tokens_details?.cached_tokens ?? 0,
    reasoningTokens: usage?.completion_tokens_details?.reasoning_tokens ?? 0,
  }
}

function nextTurn(answer: JsonRecord): JsonRecord {
  const [choice] = answer.choices as { message: JsonRecord }[]
  const { content = null, tool_calls = [] } = choice?.message ?? {}
  const ids = (tool_calls as { id: string }[]).map(({ id }) => id)
  return {
    ...loop,
    messages: [
      user,
      { role: 'assistant', content, tool_calls },
      ...ids.map((tool_call_id) => ({ role: 'tool', tool_call_id, content: RESULTS[0] })),
    ],
  }
}

const loop: JsonRecord = { ...plain, tools: [...tools, clock], reasoning_effort: 'high' }

export const chatCaller: CallerKit = {
  plain,
  stream: { stream: true, stream_options: { include_usage: true } },
  probes: {
    text: { ask: {}, carries: [PROMPT], isDefault: true },
    system: { ask: { messages: [{ role: 'system', content: SYSTEM }, user] }, carries: [SYSTEM] },
    turns: {
      ask: {
        messages: [
          user,
          { role: 'assistant', content: ANSWERED },
          { role: 'user', content: FOLLOW_UP },
        ],
      },
      carries: [PROMPT, ANSWERED, FOLLOW_UP],
    },
    imageData: { ask: withPart(image(`data:image/png;base64,${IMAGE}`)), carries: [IMAGE] },
    imageJpg: { ask: withPart(image(`data:image/jpg;base64,${IMAGE}`)), carries: [IMAGE] },
    imageUrl: { ask: withPart(image(IMAGE_URL)), carries: [IMAGE_URL] },
    pdfData: { ask: withPart(file(`data:application/pdf;base64,${PDF}`)), carries: [PDF] },
    pdfUrl: { ask: withPart(file(PDF_URL)), carries: [PDF_URL] },
    textFile: {
      ask: withPart({
        type: 'file',
        file: { filename: 'probe.csv', file_data: `data:text/csv;base64,${CSV}` },
      }),
    },
    audio: {
      ask: withPart({ type: 'input_audio', input_audio: { data: AUDIO, format: 'wav' } }),
      carries: [AUDIO],
    },
    blankText: {
      ask: {
        messages: [user, { role: 'assistant', content: ' ' }, { role: 'user', content: FOLLOW_UP }],
      },
      carries: [PROMPT, FOLLOW_UP],
    },
    lateSystem: {
      ask: {
        messages: [
          user,
          { role: 'assistant', content: ANSWERED },
          { role: 'system', content: SYSTEM },
          { role: 'user', content: FOLLOW_UP },
        ],
      },
      carries: [SYSTEM],
    },
    prefill: {
      ask: { messages: [user, { role: 'assistant', content: ANSWERED }] },
      carries: [ANSWERED],
    },
    cacheHint: {
      ask: {
        messages: [
          {
            role: 'user',
            content: [{ type: 'text', text: PROMPT, cache_control: { type: 'ephemeral' } }],
          },
        ],
      },
    },
    tools: { ask: withTools, carries: ['weather', 'tells the weather', 'city'] },
    toolStrict: {
      ask: { ...plain, tools: [{ type: 'function', function: { ...weather, strict: true } }] },
      without: withTools,
    },
    toolOptional: {
      ask: {
        ...plain,
        tools: [
          { type: 'function', function: { ...weather, parameters: OPTIONAL_SCHEMA, strict: true } },
        ],
      },
      carries: ['city', 'unit'],
    },
    toolName: { ask: withTool({ ...weather, name: TOOL_NAME }), carries: ['tells the weather'] },
    toolBare: { ask: withTool({ ...weather, parameters: BARE_SCHEMA }), carries: ['weather'] },
    toolChoices: {
      ask: withTool({ ...weather, parameters: CHOICE_SCHEMA }),
      carries: ['city', 'place'],
    },
    toolEmpty: { ask: { ...plain, tools: [clock] }, carries: ['clock', 'tells the time'] },
    parallelCalls: { ask: history(results), carries: ['Oslo', ...RESULTS] },
    resultImage: {
      ask: history([
        {
          ...results[0],
          content: [{ type: 'text', text: RESULTS[0] }, image(`data:image/png;base64,${IMAGE}`)],
        },
        results[1] ?? {},
      ]),
      carries: [IMAGE, ...RESULTS],
    },
    choiceAuto: { ...choose('auto'), isDefault: true },
    choiceNone: choose('none'),
    choiceRequired: choose('required'),
    choiceNamed: choose({ type: 'function', function: { name: 'weather' } }),
    oneCall: { ask: { ...withTools, parallel_tool_calls: false }, without: withTools },
    jsonSchema: {
      ask: {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'place', schema: SCHEMA, strict: true },
        },
      },
      carries: ['city'],
    },
    jsonBounds: { ask: format(BOUND_SCHEMA), carries: ['city', 'days', 'minimum'] },
    jsonBesideTools: {
      ask: { ...withTools, ...format(SCHEMA) },
      without: withTools,
      carries: ['tells the weather'],
    },
    jsonMode: { ask: { response_format: { type: 'json_object' } } },
    effort: { ask: { reasoning_effort: 'high' } },
    effortXhigh: { ask: { reasoning_effort: 'xhigh' }, other: { reasoning_effort: 'high' } },
    effortMinimal: { ask: { reasoning_effort: 'minimal' }, other: { reasoning_effort: 'low' } },
    effortNone: { ask: { reasoning_effort: 'none' }, isDefault: true },
    maxTokens: { ask: { max_completion_tokens: 1234 }, carries: ['1234'] },
    maxTokensHigh: { ask: { max_completion_tokens: MORE_TOKENS }, carries: [`${MORE_TOKENS}`] },
    temperature: { ask: { temperature: 0.5 } },
    hot: { ask: { temperature: 1.5 } },
    topP: { ask: { top_p: 0.25 } },
    topK: { ask: { top_k: 37 } },
    stop: { ask: { stop: [STOP] }, carries: [STOP] },
    stopSix: { ask: { stop: [...STOPS] }, carries: STOPS },
    seed: { ask: { seed: 424_242 }, carries: ['424242'] },
    penalties: { ask: { presence_penalty: 0.5, frequency_penalty: 0.25 } },
    logprobs: { ask: { logprobs: true, top_logprobs: 2 } },
    user: { ask: { user: USER }, carries: [USER] },
    userLong: { ask: { user: LONG_USER } },
    metadata: { ask: { metadata: { trace: 'probe-trace' } }, carries: ['probe-trace'] },
    tier: { ask: { service_tier: 'priority' } },
    cacheKey: { ask: { prompt_cache_key: 'probe-key' }, carries: ['probe-key'] },
    unknown: { ask: { unknown_field: 'probe-unknown' }, carries: ['probe-unknown'] },
  },
  loop: { ask: loop, next: nextTurn },
  readAnswer: (answer) => readPieces([answer as Completion]),
  readStream: (text) => readPieces(readEvents(text)),
  readEnd(text) {
    // Clients stop at the first event with an error.
    const isFailed = readEvents(text).some((event) => 'error' in event)
    return { isWhole: !isFailed && text.includes('data: [DONE]'), isFailed }
  },
  names: {
    text: 'message.content',
    reasoning: 'message.reasoning_content',
    calls: 'message.tool_calls',
    finish: 'finish_reason',
    input: 'usage.prompt_tokens',
    output: 'usage.completion_tokens',
    cached: 'usage.prompt_tokens_details.cached_tokens',
    reasoningTokens: 'usage.completion_tokens_details.reasoning_tokens',
  },
}
