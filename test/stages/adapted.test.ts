/**
 * `x-gatehouse-adapted` names lossless changes of a translation, which strict callers accept;
 * `x-gatehouse-ignored` names losses, which strict callers refuse.
 */
import { describe, expect, test } from 'bun:test'
import { CHAT_JSON, MESSAGES_JSON, RESPONSES_JSON } from '../support/dialect-samples.ts'
import { InProcessGateway, type Seen } from '../support/in-process-gateway.ts'
import { json } from '../support/scripted-upstream.ts'
import { TRANSLATED } from '../support/translated-samples.ts'

// Loaded beforehand, because loading takes real time, which the scripted clock ignores.
await import('../../src/net/sign-aws.ts')

const answerOf = (dialect: string) =>
  TRANSLATED.find((row) => row.dialect === dialect)?.answer ?? ''

const TRANSLATING = [
  ['openai/gpt-4o', CHAT_JSON],
  ['openai/gpt-5', RESPONSES_JSON],
  ['groq/llama-3.3-70b-versatile', CHAT_JSON],
  ['gemini/gemini-2.5-pro', answerOf('gemini-generate-content')],
  ['bedrock/amazon.nova-pro-v1:0', answerOf('bedrock-converse')],
  ['cohere/command-a', answerOf('cohere-chat')],
  ['mistral/mistral-large-latest', answerOf('mistral-chat')],
] as const

const STRICT = { 'x-gatehouse-strict': 'true' }

interface Asked {
  readonly seen: Seen
  readonly sent: string
}

async function ask(
  target: string,
  answer: string,
  request: { path: string; body: object; headers?: Record<string, string> },
): Promise<Asked> {
  const gateway = new InProcessGateway({ gates: { g: [target] }, upstream: [json(200, answer)] })
  const { path, body, headers = {} } = request
  const seen = await gateway.ask({ path, headers, body: { model: 'g', ...body } })
  return { seen, sent: gateway.upstream.sent[0]?.body ?? '' }
}

const attribution = (build: string) =>
  `x-anthropic-billing-header: cc_version=2.1.332.${build}; cc_entrypoint=cli; cch=${build};`
const INSTRUCTIONS = { type: 'text', text: 'You are a tester.' }
const claudeCode = (...system: object[]) => ({
  path: '/v1/messages',
  headers: STRICT,
  body: { max_tokens: 64, system, messages: [{ role: 'user', content: 'hi' }] },
})

describe('the attribution block of Claude Code', () => {
  test.each(TRANSLATING)(
    'is left out and named: %s gets the same bytes',
    async (target, answer) => {
      const bodies = new Set<string>()
      for (const build of ['11b', '7f3']) {
        const block = { type: 'text', text: attribution(build) }
        const { seen, sent } = await ask(target, answer, claudeCode(block, INSTRUCTIONS))
        expect(seen).toMatchObject({ status: 200, headers: { 'x-gatehouse-adapted': 'system[0]' } })
        expect(seen.headers).not.toHaveProperty('x-gatehouse-ignored')
        bodies.add(sent)
      }
      expect(bodies.size).toBe(1)
      const [body] = bodies
      expect(body).toContain('You are a tester.')
      expect(body).not.toContain('billing-header')
    },
  )

  test.each(TRANSLATING)(
    'may be all that there is of the instructions: %s',
    async (target, answer) => {
      const alone = await ask(target, answer, claudeCode({ type: 'text', text: attribution('1') }))
      const without = await ask(target, answer, claudeCode())
      expect(alone.seen.status).toBe(200)
      expect(alone.sent).toBe(without.sent)
    },
  )

  test('does not take along what follows its line', async () => {
    const text = `${attribution('1')}\n\nYou are a tester.`
    const { sent } = await ask('openai/gpt-4o', CHAT_JSON, claudeCode({ type: 'text', text }))
    expect(JSON.parse(sent).messages[0]).toEqual({ role: 'system', content: 'You are a tester.' })
  })

  test('stays where it does not stand first', async () => {
    const block = { type: 'text', text: attribution('1') }
    const { seen, sent } = await ask('openai/gpt-4o', CHAT_JSON, claudeCode(INSTRUCTIONS, block))
    expect(seen.headers).not.toHaveProperty('x-gatehouse-adapted')
    expect(sent).toContain('billing-header')
  })

  test('passes untouched to the vendor that asks for it', async () => {
    const block = { type: 'text', text: attribution('1') }
    const { seen, sent } = await ask(
      'anthropic/claude-opus-4-8',
      MESSAGES_JSON,
      claudeCode(block, INSTRUCTIONS),
    )
    expect(seen.status).toBe(200)
    expect(seen.headers).not.toHaveProperty('x-gatehouse-adapted')
    expect(JSON.parse(sent).system).toEqual([block, INSTRUCTIONS])
  })
})

const TOOLS = ['weather', 'time'].map((name) => ({ type: 'function', function: { name } }))

test.each([
  [
    'a tool demanded by name is the only one that is offered',
    'cohere/command-a',
    answerOf('cohere-chat'),
    { tools: TOOLS, tool_choice: { type: 'function', function: { name: 'time' } } },
    'tools',
  ],
  [
    'a conversation that its assistant begins gets an opening',
    'bedrock/amazon.nova-pro-v1:0',
    answerOf('bedrock-converse'),
    {
      messages: [
        { role: 'assistant', content: 'Hello.' },
        { role: 'user', content: 'hi' },
      ],
    },
    'messages.role',
  ],
])('%s: named, and no loss', async (_, target, answer, members, named) => {
  const { seen } = await ask(target, answer, {
    path: '/v1/chat/completions',
    headers: STRICT,
    body: { messages: [{ role: 'user', content: 'hi' }], ...members },
  })
  expect(seen).toMatchObject({ status: 200, headers: { 'x-gatehouse-adapted': named } })
  expect(seen.headers).not.toHaveProperty('x-gatehouse-ignored')
})

test('a loss beside it is still refused for a strict caller, by its own name alone', async () => {
  const request = claudeCode({ type: 'text', text: attribution('1') })
  const body = { ...request.body, top_k: 3 }
  const { seen } = await ask('openai/gpt-4o', CHAT_JSON, { ...request, body })
  expect(seen.status).toBe(400)
  expect(seen.text).toContain('top_k')
  expect(seen.text).not.toContain('system[0]')
})
