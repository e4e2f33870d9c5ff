/** The same answer in each dialect that chat calls are translated to, whole and streamed. */
import { AWS_STREAM_HEADERS } from './aws-event-stream.ts'
import type { Usage } from './control-plane.ts'
import type { AnswerScript, UpstreamKit } from './upstream-answers/answer-script.ts'
import { bedrockUpstream } from './upstream-answers/bedrock-upstream.ts'
import { mistralUpstream } from './upstream-answers/chat-upstreams.ts'
import {
  anthropicUpstream,
  cohereUpstream,
  geminiUpstream,
} from './upstream-answers/vendor-upstreams.ts'

export interface TranslatedRow {
  readonly dialect: string
  readonly answer: string
  readonly stream: readonly (string | Uint8Array)[]
  readonly streamHeaders?: Readonly<Record<string, string>>
  readonly usage: Usage
}

export const TRANSLATED_TEXT = 'héllo 😀'
const SCRIPT: AnswerScript = {
  text: TRANSLATED_TEXT,
  isTextWhole: true,
  finish: 'stop',
  usage: { input: 11, cached: 3, output: 7, reasoning: 0 },
}
const USAGE: Usage = {
  inputTokens: 11,
  outputTokens: 7,
  cachedInputTokens: 3,
  reasoningTokens: 0,
}

function toRow(dialect: string, kit: UpstreamKit): TranslatedRow {
  const stream = kit.stream(SCRIPT).map((piece) => Buffer.from(piece).toString())
  return { dialect, answer: JSON.stringify(kit.whole(SCRIPT)), stream, usage: USAGE }
}

const gemini = toRow('gemini-generate-content', geminiUpstream)

export const TRANSLATED: readonly TranslatedRow[] = [
  toRow('anthropic-messages', anthropicUpstream),
  // As Google frames them.
  { ...gemini, stream: gemini.stream.map((event) => String(event).replaceAll('\n', '\r\n')) },
  toRow('cohere-chat', cohereUpstream),
  toRow('mistral-chat', mistralUpstream),
  {
    ...toRow('bedrock-converse', bedrockUpstream),
    stream: bedrockUpstream.stream(SCRIPT),
    streamHeaders: AWS_STREAM_HEADERS,
  },
]
