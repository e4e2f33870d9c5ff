/**
 * An assistant turn with reasoning between its texts, through formats that separate text and
 * reasoning: the model gets its turn back in the original order.
 */
import { describe, expect, test } from 'bun:test'
import { Secret } from '../../src/core/secret.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { json, stream } from '../support/scripted-upstream.ts'
import { parseEvents } from '../support/server-sent-events.ts'

const TARGET = 'anthropic/claude-opus-4-8'
const TURN = [
  { type: 'thinking', thinking: 'One.', signature: 'c2lnMQ==' },
  { type: 'text', text: 'Let me see. 👋' },
  { type: 'thinking', thinking: 'Two.', signature: 'c2lnMg==' },
  { type: 'text', text: ' I ask.' },
  { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Ulm' } },
] as const
const USAGE = { input_tokens: 9, output_tokens: 5 }
const WHOLE = json(200, {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-opus-4-8' },
  ...{ content: TURN, stop_reason: 'tool_use', usage: USAGE },
})

const event = (data: { type: string }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const DELTAS = {
  thinking: ({ thinking }: { thinking: string }) => [{ type: 'thinking_delta', thinking }],
  text: ({ text }: { text: string }) => [
    { type: 'text_delta', text: text.slice(0, 3) },
    { type: 'text_delta', text: text.slice(3) },
  ],
  tool_use: ({ input }: { input: object }) => [
    { type: 'input_json_delta', partial_json: JSON.stringify(input) },
  ],
}
const STREAMED = stream([
  event({ type: 'message_start', message: { id: 'msg_1', content: [], usage: USAGE } } as never),
  ...TURN.flatMap((block, index) => {
    const empty = { ...block, text: '', thinking: '', input: {}, signature: '' }
    const deltas: object[] = DELTAS[block.type](block as never)
    if (block.type === 'thinking')
      deltas.push({ type: 'signature_delta', signature: block.signature })
    return [
      { type: 'content_block_start', index, content_block: empty },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ].map((each) => event(each))
  }),
  event({ type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: USAGE } as never),
  event({ type: 'message_stop' }),
])
const SECOND = json(200, {
  ...{ id: 'msg_2', type: 'message', role: 'assistant', model: 'claude-opus-4-8' },
  ...{ content: [{ type: 'text', text: 'Rain.' }], stop_reason: 'end_turn', usage: USAGE },
})

interface Message {
  readonly role: string
  readonly [member: string]: unknown
}

const FUNCTION = { name: 'weather', parameters: { type: 'object' } }
const USER = { role: 'user', content: 'Ulm?' }

const CALLERS = [
  {
    path: '/v1/chat/completions',
    body: {
      model: 'g',
      reasoning_effort: 'high',
      tools: [{ type: 'function', function: FUNCTION }],
    },
    ofWhole: (text: string): Message => JSON.parse(text).choices[0].message,
    // As clients do that keep only what OpenAI's own format has.
    ofStream(text: string): Message {
      const deltas = parseEvents(text).flatMap(({ data }) =>
        data === '[DONE]' ? [] : [JSON.parse(data).choices[0]?.delta ?? {}],
      )
      const calls = deltas.flatMap(({ tool_calls = [] }) => tool_calls)
      return {
        role: 'assistant',
        content: deltas.map(({ content }) => content ?? '').join(''),
        tool_calls: [
          {
            id: calls[0].id,
            type: 'function',
            function: {
              name: calls[0].function.name,
              arguments: calls.map((call) => call.function.arguments).join(''),
            },
          },
        ],
      }
    },
    idOf: ({ tool_calls }: Message) => (tool_calls as readonly { id: string }[])[0]?.id,
  },
  {
    path: '/v3/chat',
    body: { gate_id: 'g', reasoning: { effort: 'high' }, tools: [FUNCTION] },
    ofWhole: (text: string): Message => toTurn(JSON.parse(text)),
    ofStream: (text: string): Message => toTurn(JSON.parse(parseEvents(text).at(-1)?.data ?? '')),
    idOf: ({ tool_calls }: Message) => (tool_calls as readonly { id: string }[])[0]?.id,
  },
] as const

function toTurn({ content, tool_calls }: { content: string; tool_calls: object }): Message {
  return { role: 'assistant', content, tool_calls }
}

describe.each(CALLERS)('$path', ({ path, body, ofWhole, ofStream, idOf }) => {
  test.each([false, true])('thinking keeps its place, streamed: %p', async (isStream) => {
    const gateway = new InProcessGateway({
      gates: { g: [TARGET] },
      credentials: { anthropic: { secret: new Secret('planted-anthropic'), owner: 'account' } },
    })
    gateway.upstream.script(isStream ? STREAMED : WHOLE)
    const first = await gateway.ask({ path, body: { ...body, messages: [USER], stream: isStream } })
    expect(first.status).toBe(200)
    const turn = isStream ? ofStream(first.text) : ofWhole(first.text)
    gateway.upstream.script(SECOND)
    const messages = [USER, turn, { role: 'tool', tool_call_id: idOf(turn), content: 'rain' }]
    const second = await gateway.ask({ path, body: { ...body, messages } })
    expect(second.status).toBe(200)
    const sent = JSON.parse(gateway.upstream.sent.at(-1)?.body ?? '')
    expect(sent.messages[1]).toEqual({ role: 'assistant', content: [...TURN] })
  })
})
