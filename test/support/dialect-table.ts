/** The facts of every dialect, as a table, so that a test can run over all dialects. */

import type { Usage } from './control-plane.ts'
import {
  CHAT_JSON,
  CHAT_STREAM,
  FIM_JSON,
  FIM_STREAM,
  FIM_USAGE,
  MESSAGES_JSON,
  MESSAGES_STREAM,
  MESSAGES_USAGE,
  RESPONSES_JSON,
  RESPONSES_STREAM,
  RESPONSES_USAGE,
} from './dialect-samples.ts'
import type { Envelope } from './envelopes.ts'

export interface DialectRow {
  readonly dialect: string
  readonly path: string
  readonly upstreamPath: string
  readonly envelope: Envelope
  readonly target: string
  readonly gate: string
  /** The least that a request must have beside `model` and `stream`. */
  readonly fields: Readonly<Record<string, unknown>>
  readonly answer: string
  readonly stream: readonly string[]
  readonly usage: Usage
  /** The header that the target's provider takes its key in, when not `authorization`. */
  readonly keyHeader?: string
}

const messages = [{ role: 'user', content: 'hi' }]

export const DIALECTS: readonly DialectRow[] = [
  {
    dialect: 'openai-responses',
    path: '/v1/responses',
    upstreamPath: '/v1/responses',
    envelope: 'nested',
    target: 'openai/gpt-5',
    gate: 'responses-gate',
    fields: { input: 'hi' },
    answer: RESPONSES_JSON,
    stream: RESPONSES_STREAM,
    usage: RESPONSES_USAGE,
  },
  {
    dialect: 'openai-chat',
    path: '/v1/chat/completions',
    upstreamPath: '/v1/chat/completions',
    envelope: 'nested',
    target: 'openai/gpt-4o',
    gate: 'chat-gate',
    fields: { messages, stream_options: { include_usage: true } },
    answer: CHAT_JSON,
    stream: CHAT_STREAM,
    usage: RESPONSES_USAGE,
  },
  {
    dialect: 'mistral-fim',
    path: '/alt/v1/fim/completions',
    upstreamPath: '/v1/fim/completions',
    envelope: 'flat',
    target: 'mistral/codestral-latest',
    gate: 'fim-gate',
    fields: { prompt: 'def f(', suffix: 'return a' },
    answer: FIM_JSON,
    stream: FIM_STREAM,
    usage: FIM_USAGE,
  },
  {
    dialect: 'mistral-chat',
    path: '/alt/v1/chat/completions',
    upstreamPath: '/v1/chat/completions',
    envelope: 'flat',
    target: 'mistral/mistral-large-latest',
    gate: 'alt-chat-gate',
    fields: { messages },
    answer: FIM_JSON,
    stream: FIM_STREAM,
    usage: FIM_USAGE,
  },
  {
    dialect: 'anthropic-messages',
    path: '/v1/messages',
    upstreamPath: '/v1/messages',
    envelope: 'messages',
    target: 'anthropic/claude-opus-5',
    gate: 'messages-gate',
    fields: { max_tokens: 99, messages },
    answer: MESSAGES_JSON,
    stream: MESSAGES_STREAM,
    usage: MESSAGES_USAGE,
    keyHeader: 'x-api-key',
  },
]

export const DIALECT_GATES: Readonly<Record<string, string>> = Object.fromEntries(
  DIALECTS.map((row) => [row.gate, row.target]),
)

export function requestBody(
  row: DialectRow,
  extra: Readonly<Record<string, unknown>> = {},
): string {
  return JSON.stringify({ model: row.gate, ...row.fields, ...extra })
}
