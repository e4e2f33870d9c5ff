/** Small answers of each upstream dialect, and the same answers in the odd ways of some servers. */

import type { JsonRecord } from '../../../src/wire/chat-request.ts'
import { awsEvent } from '../aws-event-stream.ts'
import type { AnswerScript } from '../upstream-answers/answer-script.ts'
import type { Sample, Upstream } from './pairs.ts'

export const TEXT: AnswerScript = { text: 'héllo 😀', finish: 'stop' }
const OSLO = { id: 'call1abcd', name: 'weather', arguments: '{"city":"Oslo"}' }
const ULM = { id: 'call2abcd', name: 'clock', arguments: '{"city":"Ulm"}' }
export const ONE_CALL: AnswerScript = { calls: [OSLO], finish: 'tool_calls' }
export const TWO_CALLS: AnswerScript = { calls: [OSLO, ULM], finish: 'tool_calls' }
export const CUT_ARGUMENTS = '{"city":"Os'
export const CUT_CALL: AnswerScript = {
  calls: [{ ...OSLO, arguments: CUT_ARGUMENTS }],
  finish: 'length',
}
export const LOOP: AnswerScript = { reasoning: 'probe-thought', ...TWO_CALLS }

type Piece = string | Uint8Array

const CHAT_SHAPED = new Set(['openai-chat', 'mistral-chat'])
const TAKES_ARGUMENTS_AS_TEXT = new Set([...CHAT_SHAPED, 'openai-responses', 'cohere-chat'])

export function isChatShaped({ dialect }: Upstream): boolean {
  return CHAT_SHAPED.has(dialect)
}

export function writesArgumentsAsText({ dialect }: Upstream): boolean {
  return TAKES_ARGUMENTS_AS_TEXT.has(dialect)
}

export function sampleOf({ kit }: Upstream, script: AnswerScript): Sample {
  const whole = kit.whole(script)
  if (whole === undefined) throw new Error(`${kit.name} has no such answer.`)
  return { whole, stream: kit.stream(script).map((piece) => Buffer.from(piece)) }
}

export function streamOf({ kit }: Upstream, script: AnswerScript): Sample {
  return { whole: {}, stream: kit.stream(script).map((piece) => Buffer.from(piece)) }
}

const textOf = (piece: Piece): string => Buffer.from(piece).toString('latin1')

function indexOf(piece: Piece, { dialect }: Upstream): number | undefined {
  const found = CHAT_SHAPED.has(dialect)
    ? /"tool_calls":\[\{"index":(\d+)/.exec(textOf(piece))
    : /"(?:index|output_index|contentBlockIndex)":(\d+)/.exec(textOf(piece))
  return found === null ? undefined : Number(found[1])
}

/** As chat servers send a call in several chunks. */
function splitChatCalls(piece: Piece): readonly Piece[] {
  const found = /^data: (\{.*"tool_calls":\[.*\})\n\n$/.exec(Buffer.from(piece).toString())
  if (found === null) return [piece]
  const chunk = JSON.parse(found[1] ?? '')
  const [choice] = chunk.choices
  const [call] = choice.delta.tool_calls
  const write = (tool_call: object) =>
    `data: ${JSON.stringify({ ...chunk, choices: [{ ...choice, delta: { tool_calls: [tool_call] } }] })}\n\n`
  const written: string = call.function.arguments
  return [
    write({ ...call, function: { ...call.function, arguments: '' } }),
    ...[written.slice(0, 5), written.slice(5)].map((part) =>
      write({ index: call.index, function: { arguments: part } }),
    ),
  ]
}

/** Two calls with alternating pieces; undefined where a call is one piece. */
export function alternatingCalls(upstream: Upstream): Sample | undefined {
  const { whole, stream } = sampleOf(upstream, TWO_CALLS)
  const pieces = isChatShaped(upstream) ? stream.flatMap(splitChatCalls) : stream
  const numbered = pieces.map((piece) => ({ piece, index: indexOf(piece, upstream) }))
  const first = numbered.filter(({ index }) => index === 0)
  const second = numbered.filter(({ index }) => index === 1)
  if (second.length === 0) return undefined
  const before = numbered.indexOf(first[0] ?? { piece: '', index: 0 })
  const after = numbered.indexOf(second.at(-1) ?? { piece: '', index: 1 }) + 1
  const alternating = first.flatMap((each, at) => [each, ...second.slice(at, at + 1)])
  return {
    whole,
    stream: [...numbered.slice(0, before), ...alternating, ...numbered.slice(after)].map(
      ({ piece }) => piece,
    ),
  }
}

/** Every call has the index 0, and its own id and name. */
export function callsAtIndexZero(upstream: Upstream): Sample | undefined {
  if (!isChatShaped(upstream)) return undefined
  const { whole, stream } = sampleOf(upstream, TWO_CALLS)
  const atZero = (piece: Piece) => Buffer.from(piece).toString().replace('"index":1', '"index":0')
  return { whole, stream: stream.map(atZero) }
}

export function until(sample: Sample, text: string): Sample {
  const wanted = Buffer.from(text).toString('latin1')
  const at = sample.stream.findIndex((piece) => textOf(piece).includes(wanted))
  if (at < 0) throw new Error(`No event holds ${text}.`)
  return { ...sample, stream: sample.stream.slice(0, at + 1) }
}

/** Replaces the word for the end of an answer. */
export function endingWith(upstream: Upstream, script: AnswerScript, reason: string): Sample {
  const { whole, stream } = sampleOf(upstream, script)
  if (upstream.dialect === 'bedrock-converse') {
    const [metadata = ''] = stream.slice(-1)
    const ending = awsEvent('messageStop', { stopReason: reason })
    return {
      whole: { ...whole, stopReason: reason },
      stream: [...stream.slice(0, -2), ending, metadata],
    }
  }
  const replaced = (text: string) =>
    text.replace(/"(finish_reason|finishReason|stop_reason)":"[^"]*"/, `"$1":"${reason}"`)
  return {
    whole: JSON.parse(replaced(JSON.stringify(whole))) as JsonRecord,
    stream: stream.map((piece) => replaced(Buffer.from(piece).toString())),
  }
}

/**
 * An answer to a call that wrote five tokens to the cache; undefined where reports do not contain
 * that count.
 */
export function withCacheWrites(upstream: Upstream): Sample | undefined {
  const { whole, stream } = sampleOf(upstream, TEXT)
  if (upstream.dialect === 'bedrock-converse') {
    const usage = { ...(whole.usage as JsonRecord), cacheWriteInputTokens: 5 }
    const metadata = awsEvent('metadata', { usage, metrics: { latencyMs: 1 } })
    return { whole: { ...whole, usage }, stream: [...stream.slice(0, -1), metadata] }
  }
  const report = REPORTS[upstream.dialect]
  if (report === undefined) return undefined
  const [found, told] = report
  const replaced = (text: string) => text.replace(found, told)
  return {
    whole: JSON.parse(replaced(JSON.stringify(whole))) as JsonRecord,
    stream: stream.map((piece) => replaced(Buffer.from(piece).toString())),
  }
}

const REPORTS: Readonly<Record<string, readonly [found: RegExp, told: string]>> = {
  'anthropic-messages': [
    /"cache_read_input_tokens":3/,
    '"cache_read_input_tokens":3,"cache_creation_input_tokens":5',
  ],
  'openai-chat': [/"cached_tokens":3/, '"cached_tokens":3,"cache_write_tokens":5'],
  'openai-responses': [/"cached_tokens":3/, '"cached_tokens":3,"cache_write_tokens":5'],
}

export const IMAGE = 'iVBORw0KGgo='

export function withImage(upstream: Upstream): Sample | undefined {
  const { whole, stream } = sampleOf(upstream, TEXT)
  const imaged: Json = JSON.parse(JSON.stringify(whole))
  const last = stream.length - 1
  if (upstream.dialect === 'gemini-generate-content') {
    const part = { inlineData: { mimeType: 'image/png', data: IMAGE } }
    imaged.candidates[0].content.parts.push(part)
    const event = sse({ candidates: [{ content: { role: 'model', parts: [part] }, index: 0 }] })
    return { whole: imaged, stream: stream.toSpliced(last, 0, event) }
  }
  if (upstream.dialect === 'openai-chat') {
    const images = [{ type: 'image_url', image_url: { url: `data:image/png;base64,${IMAGE}` } }]
    imaged.choices[0].message.images = images
    const event = Buffer.from(stream[0] ?? '')
      .toString()
      .replace('"content":""', `"images":${JSON.stringify(images)}`)
    return { whole: imaged, stream: stream.toSpliced(last - 1, 0, event) }
  }
  if (upstream.dialect === 'openai-responses') {
    const item = { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: IMAGE }
    imaged.output.push(item)
    const events = [
      { type: 'response.output_item.added', output_index: 1, item: { ...item, result: null } },
      { type: 'response.output_item.done', output_index: 1, item },
      { type: 'response.completed', response: imaged },
    ].map((event) => sse(event, event.type))
    return { whole: imaged, stream: [...stream.slice(0, last), ...events] }
  }
  return undefined
}

const PARTS = [
  ['thinking', 'One.'],
  ['text', 'Let me see.'],
  ['thinking', 'Two.'],
  ['text', 'I ask.'],
] as const

/**
 * A turn of reasoning, text, reasoning, text and a call, as each dialect writes it. Undefined where
 * a turn has one place for reasoning.
 */
export function interleavedTurn(upstream: Upstream): Sample | undefined {
  const { whole, stream } = sampleOf(upstream, ONE_CALL)
  const turn = TURNS[upstream.dialect]
  return turn?.(JSON.parse(JSON.stringify(whole)), stream)
}

export const TURN_TEXTS: readonly string[] = [...PARTS.map(([, text]) => text), 'weather']

const sse = (data: object, type?: string): string =>
  `${type === undefined ? '' : `event: ${type}\n`}data: ${JSON.stringify(data)}\n\n`
const chunkOf = ([first = '']: readonly Piece[]): object =>
  JSON.parse(
    Buffer.from(first)
      .toString()
      .replace(/^data: /, ''),
  )
const signatureOf = (text: string): string => Buffer.from(text.repeat(4)).toString('base64')

// biome-ignore lint/suspicious/noExplicitAny: the samples are JSON of seven dialects
type Json = any
type Turn = (whole: Json, stream: readonly Piece[]) => Sample

const TURNS: Readonly<Record<string, Turn>> = {
  'anthropic-messages'(whole, stream) {
    const blocks = PARTS.map(([type, text]) =>
      type === 'text' ? { type, text } : { type, thinking: text, signature: signatureOf(text) },
    )
    const typed = (type: string, members: object) => sse({ type, ...members }, type)
    const events = blocks.flatMap((block, index) => [
      typed('content_block_start', {
        index,
        content_block:
          block.type === 'text'
            ? { ...block, text: '' }
            : { ...block, thinking: '', signature: '' },
      }),
      ...(block.type === 'text'
        ? [{ type: 'text_delta', text: block.text }]
        : [
            { type: 'thinking_delta', thinking: block.thinking },
            { type: 'signature_delta', signature: block.signature },
          ]
      ).map((delta) => typed('content_block_delta', { index, delta })),
      typed('content_block_stop', { index }),
    ])
    const call = stream
      .slice(1)
      .map((piece) => Buffer.from(piece).toString().replace('"index":0', '"index":4'))
    whole.content = [...blocks, ...whole.content]
    return { whole, stream: [stream[0] ?? '', ...events, ...call] }
  },
  'bedrock-converse'(whole, stream) {
    const { message } = whole.output
    const [call] = message.content
    message.content = [
      ...PARTS.map(([type, text]) =>
        type === 'text'
          ? { text }
          : { reasoningContent: { reasoningText: { text, signature: signatureOf(text) } } },
      ),
      call,
    ]
    const events = PARTS.flatMap(([type, text], contentBlockIndex) => [
      ...(type === 'text'
        ? [{ text }]
        : [{ reasoningContent: { text } }, { reasoningContent: { signature: signatureOf(text) } }]
      ).map((delta) => awsEvent('contentBlockDelta', { contentBlockIndex, delta })),
      awsEvent('contentBlockStop', { contentBlockIndex }),
    ])
    const { toolUseId, name, input } = call.toolUse
    const at = { contentBlockIndex: PARTS.length }
    return {
      whole,
      stream: [
        stream[0] ?? '',
        ...events,
        awsEvent('contentBlockStart', { ...at, start: { toolUse: { toolUseId, name } } }),
        awsEvent('contentBlockDelta', {
          ...at,
          delta: { toolUse: { input: JSON.stringify(input) } },
        }),
        awsEvent('contentBlockStop', at),
        ...stream.slice(-2),
      ],
    }
  },
  'mistral-chat'(whole, stream) {
    const content = PARTS.map(([type, text]) =>
      type === 'text' ? { type, text } : { type, thinking: [{ type: 'text', text }] },
    )
    const { message } = whole.choices[0]
    message.content = content
    const events = content.map((part) =>
      sse({
        ...chunkOf(stream),
        choices: [{ index: 0, delta: { content: [part] }, finish_reason: null }],
      }),
    )
    return { whole, stream: [...events, ...stream] }
  },
  'gemini-generate-content'(whole, stream) {
    const parts = PARTS.map(([type, text]) =>
      type === 'text' ? { text } : { text, thought: true },
    )
    const { content } = whole.candidates[0]
    content.parts = [...parts, ...content.parts]
    const events = parts.map((part) =>
      sse({ candidates: [{ content: { role: 'model', parts: [part] }, index: 0 }] }),
    )
    return { whole, stream: [...events, ...stream] }
  },
  'openai-responses'(whole, stream) {
    const items = PARTS.map(([type, text], index) =>
      type === 'text'
        ? {
            ...{ type: 'message', id: `msg_${index}`, role: 'assistant', status: 'completed' },
            content: [{ type: 'output_text', text, annotations: [] }],
          }
        : {
            ...{ type: 'reasoning', id: `rs_${index}`, encrypted_content: signatureOf(text) },
            summary: [{ type: 'summary_text', text }],
          },
    )
    const events = items.flatMap((item, output_index) => {
      const at = { item_id: item.id, output_index }
      const [delta, begun] =
        item.type === 'message'
          ? [
              {
                type: 'response.output_text.delta',
                content_index: 0,
                delta: PARTS[output_index]?.[1],
              },
              { content: [] },
            ]
          : [
              {
                type: 'response.reasoning_summary_text.delta',
                summary_index: 0,
                delta: PARTS[output_index]?.[1],
              },
              { summary: [] },
            ]
      return [
        { type: 'response.output_item.added', output_index, item: { ...item, ...begun } },
        { ...at, ...delta },
        { type: 'response.output_item.done', output_index, item },
      ].map((event) => sse(event, event.type))
    })
    const shifted = stream.map((piece) =>
      Buffer.from(piece).toString().replace('"output_index":0', `"output_index":${PARTS.length}`),
    )
    whole.output = [...items, ...whole.output]
    const completed = sse({ type: 'response.completed', response: whole }, 'response.completed')
    return { whole, stream: [shifted[0] ?? '', ...events, ...shifted.slice(1, -1), completed] }
  },
}
