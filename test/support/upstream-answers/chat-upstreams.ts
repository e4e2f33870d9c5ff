/** Upstreams that answer in the shape of chat completions: OpenAI's own and Mistral's. */
import type { JsonRecord } from '../../../src/wire/chat-request.ts'
import {
  type AnswerScript,
  sse,
  THOUGHT,
  textPieces,
  type UpstreamKit,
  USAGE,
} from './answer-script.ts'

const head = { id: 'probe-1', created: 1_767_225_600, model: 'model-1' }
const toUsage = ({ usage = USAGE }: AnswerScript) => ({
  prompt_tokens: usage.input,
  completion_tokens: usage.output,
  total_tokens: usage.input + usage.output,
  prompt_tokens_details: { cached_tokens: usage.cached },
})

interface Vendor {
  readonly name: string
  readonly toUsage: (script: AnswerScript) => JsonRecord
  readonly hasFilter: boolean
  readonly contentOf: (script: AnswerScript) => readonly JsonRecord[]
  readonly kept: string | undefined
}

function chatShaped(vendor: Vendor): UpstreamKit {
  const toCall = (call: NonNullable<AnswerScript['calls']>[number], index: number) => ({
    index,
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  })
  const chunk = (delta: object, finish_reason: string | null = null, members: object = {}) =>
    sse(undefined, {
      ...head,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason }],
      ...members,
    })
  return {
    name: vendor.name,
    kept: vendor.kept,
    failure: sse(undefined, { error: { message: 'probe-failure', type: 'server_error' } }),
    whole(script) {
      if (script.finish === 'content_filter' && !vendor.hasFilter) return undefined
      const pieces = vendor.contentOf(script)
      const lists = pieces.flatMap(({ content }) => (Array.isArray(content) ? content : []))
      const texts = pieces.flatMap(({ content }) => (typeof content === 'string' ? [content] : []))
      const message = {
        role: 'assistant',
        ...Object.assign({}, ...pieces),
        content:
          lists.length > 0
            ? [...lists, ...texts.map((text) => ({ type: 'text', text }))]
            : texts.join('') || null,
        ...(script.calls === undefined ? {} : { tool_calls: script.calls.map(toCall) }),
      }
      const choices = [{ index: 0, message, finish_reason: script.finish }]
      return { ...head, object: 'chat.completion', choices, usage: vendor.toUsage(script) }
    },
    stream: (script) => [
      chunk({ role: 'assistant', content: '' }),
      ...vendor.contentOf(script).map((delta) => chunk(delta)),
      ...(script.calls ?? []).map((call, index) => chunk({ tool_calls: [toCall(call, index)] })),
      chunk({ content: '' }, script.finish, { usage: vendor.toUsage(script) }),
      Buffer.from('data: [DONE]\n\n'),
    ],
  }
}

const textsOf = (script: AnswerScript) => textPieces(script).map((content) => ({ content }))

export const openaiUpstream = chatShaped({
  name: 'OpenAI Chat',
  toUsage: (script) => ({
    ...toUsage(script),
    completion_tokens_details: { reasoning_tokens: (script.usage ?? USAGE).reasoning },
  }),
  hasFilter: true,
  contentOf: (script) => [
    ...(script.reasoning === undefined ? [] : [{ reasoning_content: script.reasoning }]),
    ...textsOf(script),
  ],
  kept: undefined,
})

export const mistralUpstream = chatShaped({
  name: 'Mistral chat',
  toUsage,
  hasFilter: false,
  contentOf: (script) => [
    ...(script.reasoning === undefined
      ? []
      : [
          { content: [{ type: 'thinking', thinking: [{ type: 'text', text: script.reasoning }] }] },
        ]),
    ...textsOf(script),
  ],
  kept: THOUGHT,
})
