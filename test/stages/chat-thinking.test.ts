/**
 * Reasoning of a chat-only server in the tool loop of a Messages caller: the server gets its
 * reasoning back in the same member, or the loss is named.
 */
import { describe, expect, test } from 'bun:test'
import { Secret } from '../../src/core/secret.ts'
import type { Credential } from '../../src/gateway/ports.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { json, stream } from '../support/scripted-upstream.ts'
import { parseEvents } from '../support/server-sent-events.ts'

const MESSAGES = '/v1/messages'
const THINKING = 'The weather in Ulm… I shall ask.'
const TOOL_CALL = {
  id: 'call_1',
  type: 'function',
  function: { name: 'weather', arguments: '{"city":"Ulm"}' },
}
const USAGE = { prompt_tokens: 9, completion_tokens: 5 }
const SECOND = json(200, {
  id: 'c2',
  choices: [{ message: { role: 'assistant', content: 'Rain.' }, finish_reason: 'stop' }],
  usage: USAGE,
})

const whole = (member: string) =>
  json(200, {
    id: 'c1',
    choices: [
      {
        message: { role: 'assistant', content: null, [member]: THINKING, tool_calls: [TOOL_CALL] },
        finish_reason: 'tool_calls',
      },
    ],
    usage: USAGE,
  })

const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c1', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
const streamed = (member: string) =>
  stream([
    chunk({ role: 'assistant', content: '' }),
    ...[THINKING.slice(0, 9), THINKING.slice(9)].map((text) => chunk({ [member]: text })),
    chunk({ tool_calls: [{ index: 0, ...TOOL_CALL }] }),
    chunk({}, 'tool_calls'),
    'data: [DONE]\n\n',
  ])

interface Block {
  readonly type: string
  readonly [member: string]: unknown
}

const TOOLS = [{ name: 'weather', input_schema: { type: 'object' } }]
const FIRST = { max_tokens: 99, tools: TOOLS, messages: [{ role: 'user', content: 'Ulm?' }] }

const goOn = (gate: string, blocks: readonly Block[], stream = false) => ({
  ...FIRST,
  model: gate,
  stream,
  messages: [
    ...FIRST.messages,
    { role: 'assistant', content: blocks },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: idOf(blocks), content: 'rain' }],
    },
  ],
})

function idOf(blocks: readonly Block[]): unknown {
  return blocks.find(({ type }) => type === 'tool_use')?.id
}

function collect(text: string): Block[] {
  const blocks: Record<string, unknown>[] = []
  for (const { data } of parseEvents(text)) {
    const event = JSON.parse(data)
    if (event.type === 'content_block_start') blocks[event.index] = { ...event.content_block }
    const block = blocks[event.index]
    const { delta } = event
    if (event.type !== 'content_block_delta' || block === undefined) continue
    if (delta.type === 'thinking_delta') block.thinking = String(block.thinking) + delta.thinking
    if (delta.type === 'signature_delta') block.signature = delta.signature
    if (delta.type === 'input_json_delta') block.input = JSON.parse(delta.partial_json)
  }
  return blocks as unknown as Block[]
}

const credential = (key: string): Credential => ({ secret: new Secret(key), owner: 'account' })
const openGateway = (targets: Readonly<Record<string, string>>) =>
  new InProcessGateway({
    gates: Object.fromEntries(Object.entries(targets).map(([gate, target]) => [gate, [target]])),
    credentials: { vllm: credential('planted-vllm'), openrouter: credential('planted-other') },
  })

async function firstTurn(
  gateway: InProcessGateway,
  { member, isStream }: { readonly member: string; readonly isStream: boolean },
): Promise<readonly Block[]> {
  gateway.upstream.script(isStream ? streamed(member) : whole(member))
  const body = { ...FIRST, model: 'qwen', stream: isStream }
  const seen = await gateway.ask({ path: MESSAGES, body })
  expect(seen.status).toBe(200)
  const blocks: readonly Block[] = isStream ? collect(seen.text) : JSON.parse(seen.text).content
  expect(blocks.map(({ type }) => type)).toEqual(['thinking', 'tool_use'])
  expect(blocks[0]).toMatchObject({ thinking: THINKING })
  return blocks
}

const lastTurn = (gateway: InProcessGateway) =>
  JSON.parse(gateway.upstream.sent.at(-1)?.body ?? '').messages[1]

describe('a chat-only server’s thinking returns in its original member', () => {
  test.each(
    ['reasoning_content', 'reasoning'].flatMap((member) => [
      { member, isStream: false },
      { member, isStream: true },
    ]),
  )('%p, for strict callers too', async (turn) => {
    const gateway = openGateway({ qwen: 'vllm/qwen3' })
    const blocks = await firstTurn(gateway, turn)
    gateway.upstream.script(SECOND)
    const seen = await gateway.ask({
      path: MESSAGES,
      headers: { 'x-gatehouse-strict': 'true' },
      body: goOn('qwen', blocks),
    })
    expect(seen.status).toBe(200)
    expect(seen.headers).not.toHaveProperty('x-gatehouse-ignored')
    expect(lastTurn(gateway)).toEqual({
      role: 'assistant',
      content: null,
      [turn.member]: THINKING,
      tool_calls: [TOOL_CALL],
    })
    await gateway.assertNothingIsLeft()
  })
})

describe('thinking that cannot return is named, and a strict call is refused for it', () => {
  const changed = (blocks: readonly Block[], signature: string) =>
    blocks.map((block) => (block.type === 'thinking' ? { ...block, signature } : block))
  const cases: readonly (readonly [
    string,
    string,
    string,
    (blocks: readonly Block[]) => readonly Block[],
  ])[] = [
    ['at another server', 'other', 'messages.content.signature', (blocks) => blocks],
    ['without a signature', 'qwen', 'messages.content.thinking', (blocks) => changed(blocks, '')],
    [
      'signed by somebody else',
      'qwen',
      'messages.content.signature',
      (blocks) => changed(blocks, 'EqMB'),
    ],
  ]
  test.each(cases)('%s', async (_, gate, named, change) => {
    const gateway = openGateway({ qwen: 'vllm/qwen3', other: 'openrouter/qwen3' })
    const blocks = change(
      await firstTurn(gateway, { member: 'reasoning_content', isStream: false }),
    )
    gateway.upstream.script(SECOND)
    const seen = await gateway.ask({ path: MESSAGES, body: goOn(gate, blocks) })
    expect(seen).toMatchObject({ status: 200, headers: { 'x-gatehouse-ignored': named } })
    expect(gateway.upstream.sent.at(-1)?.body).not.toContain('Ulm…')
    const strict = { 'x-gatehouse-strict': '1' }
    const refused = await gateway.ask({ path: MESSAGES, headers: strict, body: goOn(gate, blocks) })
    expect(refused.status).toBe(400)
    expect(refused.text).toContain(named)
    await gateway.assertNothingIsLeft()
  })
})

test('thinking of a chat-only server is left out when the conversation goes on at Anthropic', async () => {
  const gateway = openGateway({ qwen: 'vllm/qwen3', claude: 'anthropic/claude-sonnet-4-5' })
  const blocks = await firstTurn(gateway, { member: 'reasoning', isStream: true })
  gateway.upstream.script(
    json(200, {
      type: 'message',
      role: 'assistant',
      content: [],
      usage: { input_tokens: 1, output_tokens: 1 },
    }),
  )
  const seen = await gateway.ask({ path: MESSAGES, body: goOn('claude', blocks) })
  expect(seen).toMatchObject({
    status: 200,
    headers: { 'x-gatehouse-ignored': 'messages.content.thinking' },
  })
  expect(lastTurn(gateway).content.map(({ type }: Block) => type)).toEqual(['tool_use'])
  await gateway.assertNothingIsLeft()
})
