/** An upstream that answers in OpenAI Responses, for future translation. */
import type { JsonRecord } from '../../../src/wire/chat-request.ts'
import { type AnswerScript, halves, SEAL, sse, type UpstreamKit, USAGE } from './answer-script.ts'

const typed = (type: string, members: object) => sse(type, { type, ...members })

function toItems({ reasoning, text, calls = [] }: AnswerScript): JsonRecord[] {
  return [
    ...(reasoning === undefined
      ? []
      : [
          {
            type: 'reasoning',
            id: 'rs_1',
            summary: [{ type: 'summary_text', text: reasoning }],
            encrypted_content: SEAL,
          },
        ]),
    ...(text === undefined
      ? []
      : [
          {
            type: 'message',
            id: 'msg_1',
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text, annotations: [] }],
          },
        ]),
    ...calls.map(({ id, ...called }, index) => ({
      type: 'function_call',
      id: `fc_${index}`,
      call_id: id,
      status: 'completed',
      ...called,
    })),
  ]
}

function toResponse(script: AnswerScript): JsonRecord {
  const isCut = script.finish === 'length' || script.finish === 'content_filter'
  const reason = script.finish === 'length' ? 'max_output_tokens' : 'content_filter'
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1_767_225_600,
    model: 'model-1',
    status: isCut ? 'incomplete' : 'completed',
    incomplete_details: isCut ? { reason } : null,
    output: toItems(script),
    usage: {
      input_tokens: USAGE.input,
      input_tokens_details: { cached_tokens: USAGE.cached },
      output_tokens: USAGE.output,
      output_tokens_details: { reasoning_tokens: USAGE.reasoning },
      total_tokens: USAGE.input + USAGE.output,
    },
  }
}

function streamItem(item: JsonRecord, output_index: number, script: AnswerScript): Uint8Array[] {
  const at = { item_id: item.id, output_index }
  const begun = {
    message: { content: [] },
    reasoning: { summary: [] },
    function_call: { arguments: '' },
  }
  const deltas = {
    message: () =>
      halves(script.text ?? '').map((delta) =>
        typed('response.output_text.delta', { ...at, content_index: 0, delta, logprobs: [] }),
      ),
    reasoning: () => [
      typed('response.reasoning_summary_text.delta', {
        ...at,
        summary_index: 0,
        delta: script.reasoning,
      }),
    ],
    function_call: () => [
      typed('response.function_call_arguments.delta', { ...at, delta: item.arguments }),
    ],
  }
  const type = item.type as keyof typeof deltas
  return [
    typed('response.output_item.added', { output_index, item: { ...item, ...begun[type] } }),
    ...deltas[type](),
    typed('response.output_item.done', { output_index, item }),
  ]
}

export const responsesUpstream: UpstreamKit = {
  name: 'OpenAI Responses',
  kept: SEAL,
  failure: typed('response.failed', {
    response: {
      id: 'resp_1',
      status: 'failed',
      error: { code: 'server_error', message: 'probe-failure' },
    },
  }),
  whole: toResponse,
  stream(script) {
    const response = toResponse(script)
    const items = toItems(script)
    return [
      typed('response.created', {
        response: { ...response, status: 'in_progress', output: [], usage: null },
      }),
      ...items.flatMap((item, index) => streamItem(item, index, script)),
      typed(`response.${String(response.status)}`, { response }),
    ]
  },
}
