/**
 * Requests that a vendor's model would refuse are adapted: losses are named in
 * `x-gatehouse-ignored` and refused for strict callers, lossless changes in `x-gatehouse-adapted`.
 */
import { describe, expect, test } from 'bun:test'
import { ask, CHAT, MESSAGES, OWN, STRICT, USER } from '../support/ask-fitted.ts'

interface LostRow {
  readonly title: string
  readonly path: string
  readonly target: string
  readonly members: object
  readonly ignored: string
  readonly sends?: object
  readonly lacks?: string
}

const effort = (path: string, word: string) =>
  path === MESSAGES
    ? { thinking: { type: 'adaptive' }, output_config: { effort: word } }
    : { reasoning_effort: word }

const LOST: readonly LostRow[] = [
  ...[
    ['openai/gpt-5', 'xhigh', 'high'],
    ['openai/gpt-5-mini-2025-08-07', 'max', 'high'],
    ['openai/gpt-5-pro', 'low', 'high'],
    ['openai/o3', 'xhigh', 'high'],
    ['openai/gpt-5.1', 'minimal', 'none'],
    ['openai/gpt-5.1', 'xhigh', 'high'],
    ['openai/gpt-5.2', 'minimal', 'none'],
    ['openai/gpt-5.1-codex', 'none', 'low'],
  ].map(([target = '', word = '', sent = '']) => ({
    title: `effort ${word} to ${target}`,
    path: MESSAGES,
    target,
    members: effort(MESSAGES, word),
    ignored: 'output_config.effort',
    sends: { reasoning: { effort: sent } },
  })),
  ...(
    [
      [
        'gemini/gemini-3-pro',
        'xhigh',
        { generationConfig: { thinkingConfig: { thinkingLevel: 'HIGH' } } },
      ],
      [
        'gemini/gemini-3-pro',
        'minimal',
        { generationConfig: { thinkingConfig: { thinkingLevel: 'LOW' } } },
      ],
      [
        'gemini/gemini-2.5-pro',
        'max',
        { generationConfig: { thinkingConfig: { thinkingBudget: 24_576 } } },
      ],
      ['anthropic/claude-opus-4-8', 'minimal', { output_config: { effort: 'low' } }],
      [
        'bedrock/openai.gpt-oss-120b-1:0',
        'xhigh',
        { additionalModelRequestFields: { reasoning_effort: 'high' } },
      ],
      ['cohere/command-a-reasoning-08-2025', 'xhigh', { thinking: { type: 'enabled' } }],
    ] as const
  ).map(([target, word, sends]) => ({
    title: `effort ${word} to ${target}, which has no such word`,
    path: CHAT,
    target,
    members: effort(CHAT, word),
    ignored: 'reasoning_effort',
    sends,
  })),
  {
    title: 'a thinking budget above that of Gemini 2.5 Flash',
    path: MESSAGES,
    target: 'gemini/gemini-2.5-flash',
    members: { max_tokens: 60_000, thinking: { type: 'enabled', budget_tokens: 31_999 } },
    ignored: 'thinking.budget_tokens',
    sends: { generationConfig: { thinkingConfig: { thinkingBudget: 24_576 } } },
  },
  {
    title: 'a thinking budget above that of Gemini 2.5 Pro',
    path: MESSAGES,
    target: 'gemini/gemini-2.5-pro',
    members: { max_tokens: 60_000, thinking: { type: 'enabled', budget_tokens: 52_428 } },
    ignored: 'thinking.budget_tokens',
    sends: { generationConfig: { thinkingConfig: { thinkingBudget: 32_768 } } },
  },
  ...['gemini-2.5-flash', 'gemini-2.5-pro', 'gemini-3-pro'].map((model) => ({
    title: `penalties to ${model}`,
    path: CHAT,
    target: `gemini/${model}`,
    members: { presence_penalty: 0.2, frequency_penalty: 0.3 },
    ignored: 'presence_penalty',
    lacks: 'Penalty',
  })),
  ...[
    ['openai/o3', 'low'],
    ['openai/gpt-5', 'minimal'],
    ['openai/gpt-5-codex', 'low'],
  ].map(([target = '', sent = '']) => ({
    title: `effort none to ${target}`,
    path: OWN,
    target,
    members: { reasoning: { effort: 'none' } },
    ignored: 'reasoning.effort',
    sends: { reasoning: { effort: sent } },
  })),
  ...['o1', 'o3-mini'].map((model) => ({
    title: `parallel calls to ${model}`,
    path: MESSAGES,
    target: `openai/${model}`,
    members: {
      tools: [{ name: 'look', input_schema: { type: 'object', properties: {} } }],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    },
    ignored: 'tool_choice.disable_parallel_tool_use',
    lacks: 'parallel_tool_calls',
  })),
  ...[
    ['openai/gpt-4o', MESSAGES, 16_384, 'max_completion_tokens'],
    ['anthropic/claude-sonnet-4-5', CHAT, 64_000, 'max_tokens'],
    ['anthropic/claude-3-haiku-20240307', CHAT, 4096, 'max_tokens'],
  ].map(([target, path, most, member]) => ({
    title: `more output tokens than ${String(target)} writes`,
    path: String(path),
    target: String(target),
    members: { [path === CHAT ? 'max_completion_tokens' : 'max_tokens']: 200_000 },
    ignored: path === CHAT ? 'max_completion_tokens' : 'max_tokens',
    sends: { [String(member)]: most },
  })),
  {
    title: 'the choice of a search that translation leaves out',
    path: MESSAGES,
    target: 'openai/gpt-4o',
    members: {
      tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 8 }],
      tool_choice: { type: 'tool', name: 'web_search' },
    },
    ignored: 'tool_choice',
    lacks: 'tool_choice',
  },
  ...['anthropic/claude-opus-4-6', 'bedrock/anthropic.claude-opus-4-6-v1'].map((target) => ({
    title: `a conversation that the assistant ends, to ${target}`,
    path: CHAT,
    target,
    members: { messages: [USER, { role: 'assistant', content: 'So' }] },
    ignored: 'messages.role',
  })),
]

describe('what is lost', () => {
  test.each([...LOST])('$title', async ({ path, target, members, ignored, sends, lacks }) => {
    const { seen, sent, body } = await ask(path, target, members)
    expect(seen.status).toBe(200)
    expect(seen.headers['x-gatehouse-ignored']?.split(', ') ?? []).toContain(ignored)
    if (sends !== undefined) expect(body).toMatchObject(sends)
    if (lacks !== undefined) expect(sent).not.toContain(lacks)
    const strict = await ask(path, target, members, STRICT)
    expect(strict.seen.status).toBe(400)
    expect(strict.sent).toBe('')
  })
})

describe('what is equivalent', () => {
  const longId = JSON.stringify({ device_id: 'd'.repeat(64), session_id: 's'.repeat(64) })

  test('a long user id becomes a short one, the same each time', async () => {
    const members = { metadata: { user_id: longId } }
    const first = await ask(MESSAGES, 'openai/gpt-4o', members, STRICT)
    const second = await ask(MESSAGES, 'openai/gpt-4o', members, STRICT)
    expect(first.seen.headers['x-gatehouse-adapted']).toContain('metadata.user_id')
    expect(first.body.user).toMatch(/^[0-9a-f]{32}$/)
    expect(second.body.user).toBe(first.body.user)
  })

  test.each(['anthropic/claude-opus-4-6', 'bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0'])(
    'text of white space alone is left out: %s',
    async (target) => {
      const messages = [
        USER,
        { role: 'assistant', content: '\n ' },
        { role: 'user', content: 'go' },
      ]
      const { seen, sent, body } = await ask(CHAT, target, { messages }, STRICT)
      expect(seen.status).toBe(200)
      expect(seen.headers['x-gatehouse-adapted']).toBe('messages.content')
      expect(sent).not.toContain('\\n')
      expect(body.messages.map(({ role }: { role: string }) => role)).toEqual(['user'])
    },
  )

  test('a conversation that a call begins gets an opening turn at Gemini', async () => {
    const call = { id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } }
    const messages = [
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: 'x' },
    ]
    const { seen, body } = await ask(CHAT, 'gemini/gemini-2.5-pro', { messages }, STRICT)
    expect(seen.headers['x-gatehouse-adapted']).toBe('messages.role')
    expect(body.contents[0].role).toBe('user')
  })

  test('a long id of a call is shortened alike in the call and its result', async () => {
    const id = `toolu_${'x'.repeat(90)}`
    const messages = [
      USER,
      { role: 'assistant', content: [{ type: 'tool_use', id, name: 'look', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'x' }] },
    ]
    const { body } = await ask(MESSAGES, 'openai/gpt-4o', { messages }, STRICT)
    const [call] = body.messages[1].tool_calls
    expect(call.id.length).toBeLessThanOrEqual(64)
    expect(body.messages[2].tool_call_id).toBe(call.id)
  })

  test('a text file becomes text for Claude, whose base64 documents are PDFs', async () => {
    const file_data = `data:text/csv;base64,${Buffer.from('a,b\n1,2').toString('base64')}`
    const content = [{ type: 'file', file: { filename: 'sums.csv', file_data } }]
    const messages = [{ role: 'user', content }]
    const { seen, body } = await ask(CHAT, 'anthropic/claude-opus-4-6', { messages }, STRICT)
    expect(seen.headers['x-gatehouse-adapted']).toBe('messages.content.file')
    expect(body.messages[0].content).toEqual([{ type: 'text', text: 'sums.csv:\na,b\n1,2' }])
  })

  const result = { type: 'tool_result', tool_use_id: 'c1', content: 'x' }
  const afterTool = [
    USER,
    { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'look', input: {} }] },
    { role: 'user', content: [result, { type: 'text', text: 'reminder' }] },
    { role: 'user', content: 'go on' },
  ]

  test.each(['', ' '])(
    'Bedrock gets one turn of the user around an empty turn: %p',
    async (content) => {
      const messages = [USER, { role: 'assistant', content }, { role: 'user', content: 'go' }]
      const target = 'bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0'
      const { body } = await ask(CHAT, target, { messages }, STRICT)
      expect(body.messages).toEqual([{ role: 'user', content: [{ text: 'hi' }, { text: 'go' }] }])
    },
  )

  test.each(['vllm/Qwen/Qwen3.5-35B-A3B', 'groq/qwen/qwen3-32b'])(
    'instructions come first where the template demands it: %s',
    async (target) => {
      const messages = [
        ...[USER, { role: 'assistant', content: 'Yes?' }],
        ...[{ role: 'system', content: 'In German.' }, USER],
      ]
      const { seen, body } = await ask(MESSAGES, target, { messages })
      expect(seen.headers['x-gatehouse-adapted']).toBe('messages.role')
      expect(body.messages[0]).toMatchObject({ role: 'system', content: 'In German.' })
    },
  )

  test.each(['vllm/mistralai/Devstral-Small-2-24B', 'nvidia/mistralai/mistral-small-4'])(
    'an assistant stands between a result and the user, whose turns are one: %s',
    async (target) => {
      const { seen, body } = await ask(MESSAGES, target, { messages: afterTool }, STRICT)
      expect(seen.status).toBe(200)
      expect(body.messages.map(({ role }: { role: string }) => role)).toEqual([
        ...['user', 'assistant', 'tool', 'assistant', 'user'],
      ])
    },
  )

  test('Mistral gets an assistant between a result and the user, and instructions first', async () => {
    const call = { id: 'call00001', type: 'function', function: { name: 'look', arguments: '{}' } }
    const messages = [
      ...[USER, { role: 'assistant', tool_calls: [call] }],
      { role: 'tool', tool_call_id: 'call00001', content: 'x' },
      ...[{ role: 'system', content: 'In German.' }, USER],
    ]
    const { seen, body } = await ask(CHAT, 'mistral/mistral-large-latest', { messages }, STRICT)
    expect(seen.headers['x-gatehouse-adapted']).toBe('messages.role')
    const sent: readonly { role: string; content: string }[] = body.messages
    expect(sent.map(({ role }) => role)).toEqual([
      ...['system', 'user', 'assistant', 'tool', 'assistant', 'user'],
    ])
    expect(sent[4]?.content).toBe(' ')
  })

  test.each([MESSAGES, CHAT])(
    'Bedrock gets an opening turn before the assistant: %s',
    async (path) => {
      const messages = [{ role: 'assistant', content: 'Hello!' }, USER]
      const target = 'bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0'
      const { seen, body } = await ask(path, target, { messages }, STRICT)
      expect(seen.headers['x-gatehouse-adapted']).toBe('messages.role')
      expect(body.messages[0]).toEqual({ role: 'user', content: [{ text: '.' }] })
      expect(body.messages[1].role).toBe('assistant')
    },
  )

  test('other open models get the conversation as it is', async () => {
    const { seen, body } = await ask(MESSAGES, 'vllm/llama-4', { messages: afterTool }, STRICT)
    expect(seen.headers).not.toHaveProperty('x-gatehouse-adapted')
    expect(body.messages.map(({ role }: { role: string }) => role)).toEqual([
      ...['user', 'assistant', 'tool', 'user', 'user'],
    ])
  })

  test('a penalty of 0 asks for nothing, so its loss is not named', async () => {
    const members = { presence_penalty: 0 }
    const { seen } = await ask(CHAT, 'gemini/gemini-2.5-flash', members, STRICT)
    expect(seen.status).toBe(200)
    expect(seen.headers).not.toHaveProperty('x-gatehouse-ignored')
  })
})

test('more than four stop sequences are refused for OpenAI, because their loss changes answers', async () => {
  const members = { stop_sequences: ['a', 'b', 'c', 'd', 'e', 'f'] }
  const { seen, sent } = await ask(MESSAGES, 'openai/gpt-4o', members)
  expect(seen.status).toBe(400)
  expect(seen.text).toContain('at most 4 stop sequences')
  expect(sent).toBe('')
})

test('values that the model accepts pass unchanged', async () => {
  const { seen, body } = await ask(MESSAGES, 'openai/gpt-5', {
    ...effort(MESSAGES, 'high'),
    metadata: { user_id: 'short' },
  })
  expect(seen.headers).not.toHaveProperty('x-gatehouse-ignored')
  expect(seen.headers).not.toHaveProperty('x-gatehouse-adapted')
  expect(body).toMatchObject({ reasoning: { effort: 'high' } })
})
