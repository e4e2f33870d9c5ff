import type { FinishReason } from '../../../src/wire/chat-answer.ts'
import type { JsonRecord } from '../../../src/wire/chat-request.ts'
import { type CallerKit, readEvents, type SeenAnswer } from './caller.ts'
import {
  ANSWERED,
  BARE_SCHEMA,
  BOUND_SCHEMA,
  CALLS,
  CHOICE_SCHEMA,
  CSV,
  FOLLOW_UP,
  HIGH_BUDGET,
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
const plain: JsonRecord = { max_tokens: 8192, messages: [user] }
const withBlock = (block: JsonRecord): JsonRecord => ({
  messages: [{ role: 'user', content: [{ type: 'text', text: PROMPT }, block] }],
})
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: IMAGE } }
const weather = { name: 'weather', description: 'tells the weather', input_schema: SCHEMA }
const clock = {
  name: 'clock',
  description: 'tells the time',
  input_schema: { type: 'object', properties: {} },
}
const format = (schema: JsonRecord): JsonRecord => ({
  output_config: { format: { type: 'json_schema', schema } },
})
/** Leaves room for the budget of a high effort. */
const roomy = { max_tokens: 30_000 }
const effort = (word: string): JsonRecord => ({
  ...roomy,
  thinking: { type: 'adaptive' },
  output_config: { effort: word },
})
const withTools: JsonRecord = { tools: [weather] }
const choose = (tool_choice: JsonRecord) => ({
  ask: { ...withTools, tool_choice },
  without: withTools,
})

const called = {
  role: 'assistant',
  content: CALLS.map((call) => ({
    type: 'tool_use',
    id: call.id,
    name: call.name,
    input: JSON.parse(call.arguments) as JsonRecord,
  })),
}
const result = (index: 0 | 1, members: JsonRecord = {}): JsonRecord => ({
  type: 'tool_result',
  tool_use_id: CALLS[index].id,
  content: RESULTS[index],
  ...members,
})
const history = (blocks: readonly JsonRecord[]): JsonRecord => ({
  tools: [weather, clock],
  messages: [user, called, { role: 'user', content: blocks }],
})

interface Block {
  readonly type: string
  readonly text?: string
  readonly thinking?: string
  readonly name?: string
  readonly input?: unknown
}

interface Usage {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cache_read_input_tokens?: number
  readonly output_tokens_details?: { readonly thinking_tokens?: number } | null
}

const REASONS: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
}

function readMessage(content: readonly Block[], stopReason: string, usage: Usage): SeenAnswer {
  const join = (texts: readonly (string | undefined)[]) => texts.map((text) => text ?? '').join('')
  const cached = usage.cache_read_input_tokens ?? 0
  return {
    text: join(content.map((block) => block.text)),
    reasoning: join(content.map((block) => block.thinking)),
    calls: content
      .filter((block) => block.type === 'tool_use')
      .map(({ name = '', input }) => ({ name, input })),
    finish: REASONS[stopReason],
    input: usage.input_tokens + cached,
    output: usage.output_tokens,
    cached,
    reasoningTokens: usage.output_tokens_details?.thinking_tokens ?? 0,
  }
}

interface StreamEvent {
  readonly type?: string
  readonly index?: number
  readonly content_block?: Block
  readonly delta?: {
    readonly text?: string
    readonly thinking?: string
    readonly partial_json?: string
    readonly stop_reason?: string
  }
  readonly usage?: Usage
}

function readStream(text: string): SeenAnswer {
  const blocks: (Block & { written: string })[] = []
  let stopReason = ''
  let usage: Usage = { input_tokens: 0, output_tokens: 0 }
  for (const event of readEvents(text) as StreamEvent[]) {
    const { index = 0, delta = {} } = event
    const block = blocks[index]
    if (event.type === 'content_block_start' && event.content_block !== undefined)
      blocks[index] = { ...event.content_block, written: '' }
    if (event.type === 'content_block_delta' && block !== undefined) {
      blocks[index] = {
        ...block,
        text: (block.text ?? '') + (delta.text ?? ''),
        thinking: (block.thinking ?? '') + (delta.thinking ?? ''),
        written: block.written + (delta.partial_json ?? ''),
      }
    }
    if (event.type === 'message_delta') {
      stopReason = delta.stop_reason ?? ''
      usage = event.usage ?? usage
    }
  }
  const content = blocks.map((block) => ({
    ...block,
    input: JSON.parse(block.written || '{}') as unknown,
  }))
  return readMessage(content, stopReason, usage)
}

const loop: JsonRecord = {
  ...plain,
  tools: [weather, clock],
  thinking: { type: 'enabled', budget_tokens: 2048 },
}

function nextTurn(answer: JsonRecord): JsonRecord {
  const content = answer.content as readonly JsonRecord[]
  const results = content
    .filter((block) => block.type === 'tool_use')
    .map(({ id = null }) => ({ type: 'tool_result', tool_use_id: id, content: RESULTS[0] }))
  return {
    ...loop,
    messages: [user, { role: 'assistant', content }, { role: 'user', content: results }],
  }
}

export const messagesCaller: CallerKit = {
  plain,
  stream: { stream: true },
  probes: {
    text: { ask: {}, carries: [PROMPT], isDefault: true },
    system: { ask: { system: SYSTEM }, carries: [SYSTEM] },
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
    imageData: { ask: withBlock(image), carries: [IMAGE] },
    imageJpg: {
      ask: withBlock({ ...image, source: { ...image.source, media_type: 'image/jpg' } }),
      carries: [IMAGE],
    },
    imageUrl: {
      ask: withBlock({ type: 'image', source: { type: 'url', url: IMAGE_URL } }),
      carries: [IMAGE_URL],
    },
    pdfData: {
      ask: withBlock({
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: PDF },
      }),
      carries: [PDF],
    },
    textFile: {
      ask: withBlock({
        type: 'document',
        source: { type: 'base64', media_type: 'text/csv', data: CSV },
      }),
    },
    pdfUrl: {
      ask: withBlock({ type: 'document', source: { type: 'url', url: PDF_URL } }),
      carries: [PDF_URL],
    },
    blankText: {
      ask: {
        messages: [user, { role: 'assistant', content: ' ' }, { role: 'user', content: FOLLOW_UP }],
      },
      carries: [PROMPT, FOLLOW_UP],
    },
    prefill: {
      ask: { messages: [user, { role: 'assistant', content: ANSWERED }] },
      carries: [ANSWERED],
    },
    cacheHint: {
      ask: { system: [{ type: 'text', text: SYSTEM, cache_control: { type: 'ephemeral' } }] },
      without: { system: SYSTEM },
    },
    tools: { ask: withTools, carries: ['weather', 'tells the weather', 'city'] },
    toolStrict: { ask: { tools: [{ ...weather, strict: true }] }, without: withTools },
    toolOptional: {
      ask: { tools: [{ ...weather, input_schema: OPTIONAL_SCHEMA, strict: true }] },
      carries: ['city', 'unit'],
    },
    toolName: { ask: { tools: [{ ...weather, name: TOOL_NAME }] }, carries: ['tells the weather'] },
    toolBare: { ask: { tools: [{ ...weather, input_schema: BARE_SCHEMA }] }, carries: ['weather'] },
    toolChoices: {
      ask: { tools: [{ ...weather, input_schema: CHOICE_SCHEMA }] },
      carries: ['city', 'place'],
    },
    toolEmpty: { ask: { tools: [clock] }, carries: ['clock', 'tells the time'] },
    parallelCalls: { ask: history([result(0), result(1)]), carries: ['Oslo', ...RESULTS] },
    resultImage: {
      ask: history([
        result(0, { content: [{ type: 'text', text: RESULTS[0] }, image] }),
        result(1),
      ]),
      carries: [IMAGE, ...RESULTS],
    },
    resultError: {
      ask: history([result(0, { is_error: true }), result(1)]),
      without: history([result(0), result(1)]),
    },
    choiceAuto: { ...choose({ type: 'auto' }), isDefault: true },
    choiceNone: choose({ type: 'none' }),
    choiceRequired: choose({ type: 'any' }),
    choiceNamed: choose({ type: 'tool', name: 'weather' }),
    oneCall: choose({ type: 'auto', disable_parallel_tool_use: true }),
    jsonSchema: {
      ask: { output_config: { format: { type: 'json_schema', schema: SCHEMA } } },
      carries: ['city'],
    },
    jsonBounds: { ask: format(BOUND_SCHEMA), carries: ['city', 'days', 'minimum'] },
    jsonBesideTools: {
      ask: { ...withTools, ...format(SCHEMA) },
      without: withTools,
      carries: ['tells the weather'],
    },
    effort: { ask: { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } } },
    effortXhigh: { ask: effort('xhigh'), without: roomy, other: effort('high') },
    effortMinimal: { ask: effort('minimal'), without: roomy, other: effort('low') },
    budget: { ask: { thinking: { type: 'enabled', budget_tokens: 2048 } } },
    budgetHigh: {
      ask: { max_tokens: 60_000, thinking: { type: 'enabled', budget_tokens: HIGH_BUDGET } },
      without: { max_tokens: 60_000 },
    },
    maxTokens: { ask: { max_tokens: 1234 }, carries: ['1234'] },
    maxTokensHigh: { ask: { max_tokens: MORE_TOKENS }, carries: [`${MORE_TOKENS}`] },
    temperature: { ask: { temperature: 0.5 } },
    topP: { ask: { top_p: 0.25 } },
    topK: { ask: { top_k: 37 } },
    stop: { ask: { stop_sequences: [STOP] }, carries: [STOP] },
    stopSix: { ask: { stop_sequences: [...STOPS] }, carries: STOPS },
    user: { ask: { metadata: { user_id: USER } }, carries: [USER] },
    userLong: { ask: { metadata: { user_id: LONG_USER } } },
    tier: { ask: { service_tier: 'standard_only' } },
    unknown: { ask: { unknown_field: 'probe-unknown' }, carries: ['probe-unknown'] },
  },
  loop: { ask: loop, next: nextTurn },
  readAnswer: (answer) =>
    readMessage(
      answer.content as unknown as readonly Block[],
      String(answer.stop_reason),
      answer.usage as unknown as Usage,
    ),
  readStream,
  readEnd: (text) => ({
    isWhole: text.includes('event: message_stop'),
    isFailed: readEvents(text).some((event) => event.type === 'error'),
  }),
  names: {
    text: 'content.text',
    reasoning: 'content.thinking',
    calls: 'content.tool_use',
    finish: 'stop_reason',
    input: 'usage.input_tokens',
    output: 'usage.output_tokens',
    cached: 'usage.cache_read_input_tokens',
    reasoningTokens: 'usage.output_tokens_details.thinking_tokens',
  },
}
