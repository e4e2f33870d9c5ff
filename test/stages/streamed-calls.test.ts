/**
 * Tool calls in a translated stream, as servers of OpenAI's format write them, read by the
 * published SDKs.
 */
import { describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { Secret } from '../../src/core/secret.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { stream } from '../support/scripted-upstream.ts'
import { parseEvents } from '../support/server-sent-events.ts'

interface Piece {
  readonly index?: number
  readonly id?: string
  readonly name?: string
  readonly arguments?: string
}

interface Call {
  readonly name: string
  readonly input: unknown
}

const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c1', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
const toChunk = ({ index, id, ...made }: Piece) =>
  chunk({ tool_calls: [{ index, id, type: 'function', function: made }] })

const A = { index: 0, id: 'call_a', name: 'read' }
const B = { index: 1, id: 'call_b', name: 'write' }
const CASES: readonly (readonly [string, readonly Piece[], readonly Call[]])[] = [
  [
    'every call has the index 0, with an id and a name of its own',
    [
      { ...A, arguments: '{"path":"a"}' },
      { ...B, index: 0, arguments: '{"path":"b"}' },
    ],
    [
      { name: 'read', input: { path: 'a' } },
      { name: 'write', input: { path: 'b' } },
    ],
  ],
  [
    'pieces of two calls alternate',
    [
      { ...A, arguments: '' },
      { ...B, arguments: '' },
      { index: 0, arguments: '{"x"' },
      { index: 1, arguments: '{"y":' },
      { index: 0, arguments: ':1}' },
      { index: 1, arguments: '2}' },
    ],
    [
      { name: 'read', input: { x: 1 } },
      { name: 'write', input: { y: 2 } },
    ],
  ],
  [
    'arguments come after the next call has begun',
    [A, B, { index: 1, arguments: '{"y":2}' }, { index: 0, arguments: '{"x":1}' }],
    [
      { name: 'read', input: { x: 1 } },
      { name: 'write', input: { y: 2 } },
    ],
  ],
  [
    'id and name are repeated in every piece',
    [
      { ...A, arguments: '{"x"' },
      { ...A, arguments: ':1}' },
    ],
    [{ name: 'read', input: { x: 1 } }],
  ],
  [
    'a call without arguments stands before one that has some',
    [A, { ...B, arguments: '{"y":2}' }],
    [
      { name: 'read', input: {} },
      { name: 'write', input: { y: 2 } },
    ],
  ],
]

const upstream = (pieces: readonly Piece[]) =>
  stream([
    chunk({ role: 'assistant', content: '' }),
    ...pieces.map(toChunk),
    chunk({}, 'tool_calls'),
    'data: [DONE]\n\n',
  ])

function openGateway(pieces: readonly Piece[]): InProcessGateway {
  const gateway = new InProcessGateway({
    gates: { g: ['vllm/qwen3'] },
    credentials: { vllm: { secret: new Secret('planted-vllm'), owner: 'account' } },
  })
  gateway.upstream.script(upstream(pieces))
  return gateway
}

const TOOLS = ['read', 'write'].map((name) => ({ name, input_schema: { type: 'object' } }))

async function accumulate(body: string, step: number): Promise<readonly Call[]> {
  const bytes = Buffer.from(body)
  const pieces = Array.from({ length: Math.ceil(bytes.length / step) }, (_, index) =>
    bytes.subarray(index * step, (index + 1) * step),
  )
  const answer = new Response(
    new ReadableStream({
      start(controller) {
        for (const piece of pieces) controller.enqueue(piece)
        controller.close()
      },
    }),
    { headers: { 'content-type': 'text/event-stream' } },
  )
  const client = new Anthropic({ apiKey: 'any', fetch: async () => answer })
  const { content } = await client.messages
    .stream({ model: 'g', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] })
    .finalMessage()
  return content.flatMap((block) =>
    block.type === 'tool_use' ? [{ name: block.name, input: block.input }] : [],
  )
}

describe('a stream in which', () => {
  test.each(CASES)('%s reaches Messages callers as whole calls', async (_, pieces, calls) => {
    const gateway = openGateway(pieces)
    const { text } = await gateway.ask({
      path: '/v1/messages',
      body: {
        model: 'g',
        max_tokens: 99,
        stream: true,
        tools: TOOLS,
        messages: [{ role: 'user', content: 'Hi' }],
      },
    })
    expect(await accumulate(text, 1)).toEqual(calls)
    expect(await accumulate(text, 1_000)).toEqual(calls)
    const open: number[] = []
    for (const { data } of parseEvents(text)) {
      const event = JSON.parse(data)
      if (event.type === 'content_block_start') open.push(event.index)
      if (event.type === 'content_block_stop') expect(open.pop()).toBe(event.index)
      expect(open.length).toBeLessThanOrEqual(1)
    }
  })

  test.each(CASES)('%s reaches v3 callers as whole calls', async (_, pieces, calls) => {
    const gateway = openGateway(pieces)
    const tools = TOOLS.map(({ name, input_schema }) => ({ name, parameters: input_schema }))
    const { text } = await gateway.ask({
      path: '/v3/chat',
      body: { gate_id: 'g', stream: true, tools, messages: [{ role: 'user', content: 'Hi' }] },
    })
    const whole = JSON.parse(parseEvents(text).at(-1)?.data ?? '')
    const made = whole.tool_calls as readonly { name: string; arguments: string }[]
    expect(made.map((call) => ({ name: call.name, input: JSON.parse(call.arguments) }))).toEqual([
      ...calls,
    ])
  })
})
