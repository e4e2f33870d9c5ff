/** Translated answers that break off within a tool call: at their token limit, or for no reason. */
import { describe, expect, test } from 'bun:test'
import { Secret } from '../../src/core/secret.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { json, stream } from '../support/scripted-upstream.ts'
import { parseEvents } from '../support/server-sent-events.ts'

const HALF = {
  index: 0,
  id: 'call_1',
  type: 'function',
  function: { name: 'write', arguments: '{"path":"a.ts","content":"one' },
}
const USAGE = { prompt_tokens: 9, completion_tokens: 5 }
const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason }], usage: null })}\n\n`
const DONE = 'data: [DONE]\n\n'

const MESSAGES = {
  path: '/v1/messages',
  body: {
    ...{ model: 'g', max_tokens: 5, messages: [{ role: 'user', content: 'Write' }] },
    tools: [{ name: 'write', input_schema: { type: 'object' } }],
  },
}

function openGateway(...answers: ReturnType<typeof json>[]): InProcessGateway {
  const owned = (key: string) => ({ secret: new Secret(key), owner: 'account' as const })
  const gateway = new InProcessGateway({
    gates: { g: ['vllm/qwen3', 'openrouter/qwen3'] },
    credentials: { vllm: owned('planted-vllm'), openrouter: owned('planted-other') },
  })
  gateway.upstream.script(...answers)
  return gateway
}

describe('a call that is cut at the token limit is delivered', () => {
  test('whole, as far as its arguments can be read, and no other target is asked', async () => {
    const { index: _, ...call } = HALF
    const message = { role: 'assistant', content: null, tool_calls: [call] }
    const gateway = openGateway(
      json(200, { id: 'c', choices: [{ message, finish_reason: 'length' }], usage: USAGE }),
    )
    const seen = await gateway.ask(MESSAGES)
    expect(seen.status).toBe(200)
    expect(JSON.parse(seen.text)).toMatchObject({
      stop_reason: 'max_tokens',
      content: [{ type: 'tool_use', name: 'write', input: { path: 'a.ts', content: 'one' } }],
    })
    expect(gateway.upstream.sent).toHaveLength(1)
  })

  test('in a stream, as it is', async () => {
    const gateway = openGateway(stream([chunk({ tool_calls: [HALF] }), chunk({}, 'length'), DONE]))
    const seen = await gateway.ask({ ...MESSAGES, body: { ...MESSAGES.body, stream: true } })
    const events = parseEvents(seen.text).map(({ data }) => JSON.parse(data))
    expect(events.find(({ type }) => type === 'message_delta').delta.stop_reason).toBe('max_tokens')
    expect(events.at(-1)).toEqual({ type: 'message_stop' })
  })
})

describe('a stream that ends within a call is broken', () => {
  test.each([
    ['with [DONE] and no reason', [DONE]],
    ['with "stop"', [chunk({}, 'stop'), DONE]],
    ['with "tool_calls"', [chunk({}, 'tool_calls'), DONE]],
    ['without [DONE]', []],
  ])('%s', async (_, rest) => {
    const gateway = openGateway(stream([chunk({ tool_calls: [HALF] }), ...rest]))
    const seen = await gateway.ask({ ...MESSAGES, body: { ...MESSAGES.body, stream: true } })
    const events = parseEvents(seen.text).map(({ data }) => JSON.parse(data))
    expect(events.at(-1).type).toBe('error')
    expect(events.map(({ type }) => type)).not.toContain('message_stop')
  })
})

test('a text that ends with [DONE] and without a reason is delivered', async () => {
  const gateway = openGateway(stream([chunk({ content: 'Rain.' }), DONE]))
  const seen = await gateway.ask({ ...MESSAGES, body: { ...MESSAGES.body, stream: true } })
  const events = parseEvents(seen.text).map(({ data }) => JSON.parse(data))
  expect(events.find(({ type }) => type === 'message_delta').delta.stop_reason).toBe('end_turn')
  expect(events.at(-1)).toEqual({ type: 'message_stop' })
})
