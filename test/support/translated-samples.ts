/** One answer in each dialect that is only translated to, whole and streamed. They all say the same. */
import type { Usage } from './control-plane.ts'

export interface TranslatedRow {
  readonly dialect: string
  readonly answer: string
  readonly stream: readonly string[]
}

/** What every one of them comes out as. */
export const TRANSLATED_TEXT = 'héllo 😀'
export const TRANSLATED_USAGE: Usage = {
  inputTokens: 11,
  outputTokens: 7,
  cachedInputTokens: 3,
  reasoningTokens: 0,
}

const anthropicEvent = (data: { readonly type: string; readonly [name: string]: unknown }): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
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

export const TRANSLATED: readonly TranslatedRow[] = [
  {
    dialect: 'anthropic-messages',
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
      anthropicEvent({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
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
    answer: geminiPiece(TRANSLATED_TEXT, { finishReason: 'STOP' }),
    stream: [
      `data: ${geminiPiece(TRANSLATED_TEXT)}\r\n\r\n`,
      `data: ${geminiPiece('', { finishReason: 'STOP' })}\r\n\r\n`,
    ],
  },
]
