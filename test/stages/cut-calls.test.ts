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

const CHAT = ['vllm/qwen3', 'openrouter/qwen3'] as const

function openGateway(...answers: ReturnType<typeof json>[]): InProcessGateway {
  return openGatewayTo(CHAT, ...answers)
}

function openGatewayTo(
  targets: readonly string[],
  ...answers: ReturnType<typeof json>[]
): InProcessGateway {
  const owned = (key: string) => ({ secret: new Secret(key), owner: 'account' as const })
  const gateway = new InProcessGateway({
    gates: { g: targets },
    credentials: {
      ...{ vllm: owned('planted-vllm'), openrouter: owned('planted-other') },
      mistral: owned('planted-mistral'),
    },
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

describe('a stream of Mistral is broken', () => {
  const text = chunk({ content: 'Rain.' })
  const call = chunk({ tool_calls: [HALF] })
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ['within a call, with [DONE] and no reason', [call, DONE]],
    ['within a call, with "stop"', [call, chunk({}, 'stop'), DONE]],
    ['within a call, with "tool_calls"', [call, chunk({}, 'tool_calls'), DONE]],
    ['within a call, without [DONE]', [call]],
    ['within a text, without a reason and [DONE]', [text]],
    ['within its reason', [text, chunk({}, 'stop').slice(0, -20)]],
  ]

  describe.each(['/v1/messages', '/v1/chat/completions', '/v3/chat'])('for %s', (path) => {
    test.each(rows)('%s', async (_, pieces) => {
      const gateway = openGatewayTo(['mistral/mistral-large-latest'], stream(pieces))
      const gate = path === '/v3/chat' ? { gate_id: 'g' } : { model: 'g', max_tokens: 5 }
      const messages = [{ role: 'user', content: 'Write' }]
      const seen = await gateway.ask({ path, body: { ...gate, messages, stream: true } })
      const data = parseEvents(seen.text).map((event) => event.data)
      const errors = data.filter((each) => each.includes('"error"'))
      expect(errors).toHaveLength(1)
      expect(seen.text).not.toMatch(/message_stop|chat\.completed|"finish_reason":"/)
    })
  })
})

test('a text of Mistral that ends with its reason and without [DONE] is delivered', async () => {
  const pieces = [chunk({ content: 'Rain.' }), chunk({}, 'stop')]
  const gateway = openGatewayTo(['mistral/mistral-large-latest'], stream(pieces))
  const seen = await gateway.ask({ ...MESSAGES, body: { ...MESSAGES.body, stream: true } })
  expect(parseEvents(seen.text).at(-1)?.event).toBe('message_stop')
})
