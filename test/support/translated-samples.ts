/**
 * One answer in each dialect that chat calls are translated to, whole and streamed. They all say
 * the same.
 */
import { AWS_STREAM_HEADERS, awsEvent } from './aws-event-stream.ts'
import type { Usage } from './control-plane.ts'

export interface TranslatedRow {
  readonly dialect: string
  readonly answer: string
  readonly stream: readonly (string | Uint8Array)[]
  /** Of the stream, where they differ from those of server-sent events. */
  readonly streamHeaders?: Readonly<Record<string, string>>
  readonly usage: Usage
}

/** What every one of them comes out as. */
export const TRANSLATED_TEXT = 'héllo 😀'
const USAGE: Usage = {
  inputTokens: 11,
  outputTokens: 7,
  cachedInputTokens: 3,
  reasoningTokens: 0,
}

const anthropicEvent = (data: {
  readonly type: string
  readonly [name: string]: unknown
}): string => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const anthropicMessage = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'model-1-2026',
  stop_sequence: null,
}

function geminiPiece(text: string, members: object = {}): string {
  return JSON.stringify({
    candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0, ...members }],
    usageMetadata: { promptTokenCount: 11, cachedContentTokenCount: 3, candidatesTokenCount: 7 },
    modelVersion: 'model-1-2026',
    responseId: 'r1',
  })
}

const cohereEvent = (type: string, members: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`
const cohereUsage = {
  billed_units: { input_tokens: 2, output_tokens: 6 },
  tokens: { input_tokens: 11, output_tokens: 7 },
  cached_tokens: 3,
}

const mistralHead = { id: 'cmpl-1', created: 1767225600, model: 'model-1-2026' }
const mistralUsage = {
  prompt_tokens: 11,
  completion_tokens: 7,
  total_tokens: 18,
  prompt_tokens_details: { cached_tokens: 3 },
}
const mistralChunk = (delta: object, finish_reason: string | null, members: object = {}): string =>
  `data: ${JSON.stringify({
    ...mistralHead,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
    ...members,
  })}\n\n`
const BEDROCK_USAGE = { inputTokens: 8, cacheReadInputTokens: 3, outputTokens: 7, totalTokens: 18 }

export const TRANSLATED: readonly TranslatedRow[] = [
  {
    dialect: 'anthropic-messages',
    usage: USAGE,
    answer: JSON.stringify({
      ...anthropicMessage,
      content: [{ type: 'text', text: TRANSLATED_TEXT }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 8, cache_read_input_tokens: 3, output_tokens: 7 },
    }),
    stream: [
      anthropicEvent({
        type: 'message_start',
        message: {
          ...anthropicMessage,
          content: [],
          stop_reason: null,
          usage: { input_tokens: 8, cache_read_input_tokens: 3, output_tokens: 1 },
        },
      }),
      anthropicEvent({
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'text', text: '' },
      }),
      anthropicEvent({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'text_delta', text: TRANSLATED_TEXT },
      }),
      anthropicEvent({ type: 'content_block_stop', index: 0 }),
      anthropicEvent({
        type: 'message_delta',
        delta: { stop_reason: 'end_turn' },
        usage: { output_tokens: 7 },
      }),
      anthropicEvent({ type: 'message_stop' }),
    ],
  },
  {
    dialect: 'gemini-generate-content',
    usage: USAGE,
    answer: geminiPiece(TRANSLATED_TEXT, { finishReason: 'STOP' }),
    stream: [
      `data: ${geminiPiece(TRANSLATED_TEXT)}\r\n\r\n`,
      `data: ${geminiPiece('', { finishReason: 'STOP' })}\r\n\r\n`,
    ],
  },
  {
    dialect: 'cohere-chat',
    usage: { ...USAGE, inputTokens: 2, outputTokens: 6, cachedInputTokens: 0 },
    answer: JSON.stringify({
      id: 'r1',
      message: { role: 'assistant', content: [{ type: 'text', text: TRANSLATED_TEXT }] },
      finish_reason: 'COMPLETE',
      usage: cohereUsage,
    }),
    stream: [
      cohereEvent('message-start', {
        id: 'r1',
        delta: { message: { role: 'assistant', content: [] } },
      }),
      cohereEvent('content-start', {
        index: 0,
        delta: { message: { content: { type: 'text', text: '' } } },
      }),
      cohereEvent('content-delta', {
        index: 0,
        delta: { message: { content: { text: TRANSLATED_TEXT } } },
      }),
      cohereEvent('content-end', { index: 0 }),
      cohereEvent('message-end', { delta: { finish_reason: 'COMPLETE', usage: cohereUsage } }),
    ],
  },
  {
    dialect: 'mistral-chat',
    usage: USAGE,
    answer: JSON.stringify({
      ...mistralHead,
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: TRANSLATED_TEXT },
          finish_reason: 'stop',
        },
      ],
      usage: mistralUsage,
    }),
    stream: [
      mistralChunk({ role: 'assistant', content: '' }, null),
      mistralChunk({ content: TRANSLATED_TEXT }, null),
      // Its reason for the end is enough: without `[DONE]` it is whole too.
      `${mistralChunk({ content: '' }, 'stop', { usage: mistralUsage })}data: [DONE]\n\n`,
    ],
  },
  {
    dialect: 'bedrock-converse',
    usage: USAGE,
    answer: JSON.stringify({
      output: { message: { role: 'assistant', content: [{ text: TRANSLATED_TEXT }] } },
      stopReason: 'end_turn',
      usage: BEDROCK_USAGE,
      metrics: { latencyMs: 1 },
    }),
    stream: [
      awsEvent('messageStart', { role: 'assistant' }),
      awsEvent('contentBlockDelta', {
        contentBlockIndex: 0,
        delta: { text: TRANSLATED_TEXT },
        p: 'abc',
      }),
      awsEvent('contentBlockStop', { contentBlockIndex: 0 }),
      awsEvent('messageStop', { stopReason: 'end_turn' }),
      awsEvent('metadata', { usage: BEDROCK_USAGE, metrics: { latencyMs: 1 } }),
    ],
    streamHeaders: AWS_STREAM_HEADERS,
  },
]
