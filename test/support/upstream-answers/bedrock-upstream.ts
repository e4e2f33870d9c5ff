import { EventStreamCodec } from '@smithy/eventstream-codec'
import type { FinishReason } from '../../../src/wire/chat-answer.ts'
import {
  type AnswerScript,
  halves,
  SEAL,
  textPieces,
  type UpstreamKit,
  USAGE,
} from './answer-script.ts'

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString('utf8'),
  (text) => Buffer.from(text),
)

function frame(headers: Readonly<Record<string, string>>, body: object): Uint8Array {
  return codec.encode({
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, { type: 'string', value }]),
    ),
    body: Buffer.from(JSON.stringify(body)),
  })
}

const event = (type: string, body: object) =>
  frame(
    { ':message-type': 'event', ':event-type': type, ':content-type': 'application/json' },
    body,
  )

const REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'content_filtered',
}
/** Bedrock does not count reasoning separately. */
const toUsage = ({ usage = USAGE }: AnswerScript) => ({
  inputTokens: usage.input - usage.cached,
  cacheReadInputTokens: usage.cached,
  outputTokens: usage.output,
  totalTokens: usage.input + usage.output,
})

function blockDeltas(script: AnswerScript) {
  const { reasoning, text, calls = [] } = script
  return [
    ...(reasoning === undefined
      ? []
      : [
          {
            start: undefined,
            deltas: [
              { reasoningContent: { text: reasoning } },
              { reasoningContent: { signature: SEAL } },
            ],
          },
        ]),
    ...(text === undefined
      ? []
      : [{ start: undefined, deltas: textPieces(script).map((piece) => ({ text: piece })) }]),
    ...calls.map((call) => ({
      start: { toolUse: { toolUseId: call.id, name: call.name } },
      deltas:
        call.arguments === '{}'
          ? []
          : halves(call.arguments).map((input) => ({ toolUse: { input } })),
    })),
  ]
}

export const bedrockUpstream: UpstreamKit = {
  name: 'Bedrock Converse',
  kept: SEAL,
  failure: frame(
    { ':message-type': 'exception', ':exception-type': 'modelStreamErrorException' },
    { message: 'probe-failure' },
  ),
  whole: (script) => {
    const { reasoning, text, calls = [], finish } = script
    return {
      output: {
        message: {
          role: 'assistant',
          content: [
            ...(reasoning === undefined
              ? []
              : [{ reasoningContent: { reasoningText: { text: reasoning, signature: SEAL } } }]),
            ...(text === undefined ? [] : [{ text }]),
            ...calls.map((call) => ({
              toolUse: { toolUseId: call.id, name: call.name, input: JSON.parse(call.arguments) },
            })),
          ],
        },
      },
      stopReason: REASONS[finish],
      usage: toUsage(script),
      metrics: { latencyMs: 1 },
    }
  },
  stream: (script) => [
    event('messageStart', { role: 'assistant' }),
    ...blockDeltas(script).flatMap(({ start, deltas }, contentBlockIndex) => [
      ...(start === undefined ? [] : [event('contentBlockStart', { contentBlockIndex, start })]),
      ...deltas.map((delta) => event('contentBlockDelta', { contentBlockIndex, delta })),
      event('contentBlockStop', { contentBlockIndex }),
    ]),
    event('messageStop', { stopReason: REASONS[script.finish] }),
    event('metadata', { usage: toUsage(script), metrics: { latencyMs: 1 } }),
  ],
}
