/**
 * The OpenAI Responses dialect: joins reading, composing and writing, and frames the events. Knows
 * no HTTP.
 */
import { composeAnswer } from '../compose-answer.ts'
import { type Answer, type Dialect, type Exchange, encodeBody } from '../dialect.ts'
import { openaiVendor } from './openai-vendor.ts'
import { type ResponsesEvent, STARTED, streamEvents } from './responses-events.ts'
import {
  buildItems,
  buildResponse,
  buildUsage,
  type OutputItem,
  type ResponseState,
} from './responses-object.ts'
import { readResponsesRequest } from './responses-request.ts'

export const responsesDialect: Dialect = { vendor: openaiVendor, answer }

function answer(exchange: Exchange): Answer {
  const request = readResponsesRequest(exchange)
  const composition = composeAnswer(request.prompt, exchange.model.fault)
  const items = buildItems(exchange, request, composition)
  const finished: ResponseState = {
    status: composition.finish === 'length' ? 'incomplete' : 'completed',
    output: items,
    usage: buildUsage(request, composition),
    error: null,
  }
  return {
    json: () =>
      encodeBody(
        (text) =>
          JSON.stringify(buildResponse(exchange, { ...finished, output: withText(items, text) })),
        composition,
      ),
    *frames() {
      let sequence = 0
      for (const event of streamEvents({ exchange, request, composition }, items, finished)) {
        yield encodeFrame(event, sequence++)
      }
    },
    failureFrames: (sent) =>
      failureEvents(exchange).map((event, index) => encodeFrame(event, sent + index)),
  }
}

function withText(items: readonly OutputItem[], text: string): OutputItem[] {
  return items.map((item) =>
    item.type === 'message'
      ? { ...item, content: item.content.map((part) => ({ ...part, text })) }
      : item,
  )
}

function encodeFrame({ type, ...members }: ResponsesEvent, sequence: number): string {
  return (
    `event: ${type}\ndata: ` +
    `${JSON.stringify({ type, sequence_number: sequence, ...members })}\n\n`
  )
}

/**
 * On the wire the error is nested, whatever the published types say; `response.failed` follows it.
 */
function failureEvents(exchange: Exchange): ResponsesEvent[] {
  const code = 'server_error'
  const message = 'The sandbox failed in mid-stream, as it was asked to.'
  const failed: ResponseState = { ...STARTED, status: 'failed', error: { code, message } }
  return [
    { type: 'error', error: { type: 'server_error', code, message, param: null } },
    { type: 'response.failed', response: buildResponse(exchange, failed) },
  ]
}
