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
  IMAGE,
  IMAGE_URL,
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
} from './materials.ts'

const user = { role: 'user', content: PROMPT }
const plain: JsonRecord = { messages: [user] }
const withPart = (part: JsonRecord): JsonRecord => ({
  messages: [{ role: 'user', content: [{ type: 'text', text: PROMPT }, part] }],
})
const image = { type: 'image', media_type: 'image/png', data: IMAGE }
const weather = { name: 'weather', description: 'tells the weather', parameters: SCHEMA }
const clock = { name: 'clock', description: 'tells the time' }
const format = (schema: JsonRecord): JsonRecord => ({
  response_format: { type: 'json_schema', name: 'place', schema, strict: true },
})
const effort = (word: string): JsonRecord => ({ reasoning: { effort: word } })
const withTools: JsonRecord = { tools: [weather] }
const choose = (tool_choice: JsonRecord[string]) => ({
  ask: { ...withTools, tool_choice },
  without: withTools,
})

const called = { role: 'assistant', content: '', tool_calls: CALLS.map((call) => ({ ...call })) }
const results = CALLS.map((call, index) => ({
  role: 'tool',
  tool_call_id: call.id,
  content: RESULTS[index] ?? '',
}))
const history = (answers: readonly JsonRecord[]): JsonRecord => ({
  tools: [weather, clock],
  messages: [user, called, ...answers],
})

interface Chat {
  readonly content: string
  readonly reasoning?: string
  readonly tool_calls?: readonly {
    readonly id: string
    readonly name: string
    readonly arguments: string
  }[]
  readonly finish_reason: FinishReason
  readonly usage: {
    readonly input_tokens: number
    readonly output_tokens: number
    readonly cached_input_tokens: number
    readonly reasoning_tokens: number
  } | null
}

function readChat({
  content,
  reasoning = '',
  tool_calls = [],
  finish_reason,
  usage,
}: Chat): SeenAnswer {
  return {
    text: content,
    reasoning,
    calls: tool_calls.map((call) => ({
      name: call.name,
      input: JSON.parse(call.arguments) as unknown,
    })),
    finish: finish_reason,
    input: usage?.input_tokens ?? 0,
    output: usage?.output_tokens ?? 0,
    cached: usage?.cached_input_tokens ?? 0,
    reasoningTokens: usage?.reasoning_tokens ?? 0,
  }
}

interface Delta {
  readonly content?: string
  readonly reasoning?: string
  readonly tool_call?: {
    readonly index: number
    readonly name?: string
    readonly arguments: string
  }
  readonly object?: string
}

function readStream(text: string): SeenAnswer {
  const events = readEvents(text)
  const calls: { name: string; written: string }[] = []
  let [content, reasoning] = ['', '']
  for (const event of events.filter(({ object }) => object === undefined) as Delta[]) {
    content += event.content ?? ''
    reasoning += event.reasoning ?? ''
    if (event.tool_call === undefined) continue
    const { index, name = '', arguments: written } = event.tool_call
    const call = calls[index] ?? { name: '', written: '' }
    calls[index] = { name: call.name + name, written: call.written + written }
  }
  const whole = readChat(events.at(-1) as unknown as Chat)
  const made = calls.map(({ name, written }) => ({ name, input: JSON.parse(written) as unknown }))
  return { ...whole, text: content, reasoning, calls: made }
}

const loop: JsonRecord = { ...plain, tools: [weather, clock], reasoning: { effort: 'high' } }

function nextTurn(answer: JsonRecord): JsonRecord {
  const { content, tool_calls = [] } = answer as unknown as Chat
  return {
    ...loop,
    messages: [
      user,
      { role: 'assistant', content, tool_calls: tool_calls.map((call) => ({ ...call })) },
      ...tool_calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: RESULTS[0] })),
    ],
  }
}

export const gatehouseCaller: CallerKit = {
  plain,
  stream: { stream: true },
  probes: {
    text: { ask: {}, carries: [PROMPT], isDefault: true },
    system: { ask: { instructions: SYSTEM }, carries: [SYSTEM] },
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
    imageData: { ask: withPart(image), carries: [IMAGE] },
    imageJpg: { ask: withPart({ ...image, media_type: 'image/jpg' }), carries: [IMAGE] },
    imageUrl: { ask: withPart({ type: 'image', url: IMAGE_URL }), carries: [IMAGE_URL] },
    pdfData: {
      ask: withPart({ type: 'file', media_type: 'application/pdf', data: PDF }),
      carries: [PDF],
    },
    textFile: { ask: withPart({ type: 'file', media_type: 'text/csv', data: CSV }) },
    pdfUrl: { ask: withPart({ type: 'file', url: PDF_URL }), carries: [PDF_URL] },
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
    tools: { ask: withTools, carries: ['weather', 'tells the weather', 'city'] },
    toolStrict: { ask: { tools: [{ ...weather, strict: true }] }, without: withTools },
    toolOptional: {
      ask: { tools: [{ ...weather, parameters: OPTIONAL_SCHEMA, strict: true }] },
      carries: ['city', 'unit'],
    },
    toolName: { ask: { tools: [{ ...weather, name: TOOL_NAME }] }, carries: ['tells the weather'] },
    toolBare: { ask: { tools: [{ ...weather, parameters: BARE_SCHEMA }] }, carries: ['weather'] },
    toolChoices: {
      ask: { tools: [{ ...weather, parameters: CHOICE_SCHEMA }] },
      carries: ['city', 'place'],
    },
    toolEmpty: { ask: { tools: [clock] }, carries: ['clock', 'tells the time'] },
    parallelCalls: { ask: history(results), carries: ['Oslo', ...RESULTS] },
    resultImage: {
      ask: history([
        { ...results[0], content: [{ type: 'text', text: RESULTS[0] }, image] },
        results[1] ?? {},
      ]),
      carries: [IMAGE, ...RESULTS],
    },
    choiceAuto: { ...choose('auto'), isDefault: true },
    choiceNone: choose('none'),
    choiceRequired: choose('required'),
    choiceNamed: choose({ name: 'weather' }),
    jsonSchema: {
      ask: {
        response_format: { type: 'json_schema', name: 'place', schema: SCHEMA, strict: true },
      },
      carries: ['city'],
    },
    jsonBounds: { ask: format(BOUND_SCHEMA), carries: ['city', 'days', 'minimum'] },
    jsonBesideTools: {
      ask: { ...withTools, ...format(SCHEMA) },
      without: withTools,
      carries: ['tells the weather'],
    },
    jsonMode: { ask: { response_format: { type: 'json' } } },
    effort: { ask: { reasoning: { effort: 'high' } } },
    effortXhigh: { ask: effort('xhigh'), other: effort('high') },
    effortMinimal: { ask: effort('minimal'), other: effort('low') },
    effortNone: { ask: effort('none'), isDefault: true },
    maxTokens: { ask: { max_output_tokens: 1234 }, carries: ['1234'] },
    maxTokensHigh: { ask: { max_output_tokens: MORE_TOKENS }, carries: [`${MORE_TOKENS}`] },
    temperature: { ask: { temperature: 0.5 } },
    hot: { ask: { temperature: 1.5 } },
    topP: { ask: { top_p: 0.25 } },
    stop: { ask: { stop: [STOP] }, carries: [STOP] },
    stopSix: { ask: { stop: [...STOPS] }, carries: STOPS },
    metadata: { ask: { metadata: { trace: 'probe-trace' } }, carries: ['probe-trace'] },
    unknown: { ask: { unknown_field: 'probe-unknown' }, carries: ['probe-unknown'] },
  },
  loop: { ask: loop, next: nextTurn },
  readAnswer: (answer) => readChat(answer as unknown as Chat),
  readStream,
  readEnd: (text) => ({
    isWhole: text.includes('event: chat.completed'),
    isFailed: text.includes('event: error'),
  }),
  names: {
    text: 'content',
    reasoning: 'reasoning',
    calls: 'tool_calls',
    finish: 'finish_reason',
    input: 'usage.input_tokens',
    output: 'usage.output_tokens',
    cached: 'usage.cached_input_tokens',
    reasoningTokens: 'usage.reasoning_tokens',
  },
}
