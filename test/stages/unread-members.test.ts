/**
 * Members below the top level that a translation does not read: named for every caller, refused for
 * strict callers, and ignored where nothing is translated.
 */
import { describe, expect, test } from 'bun:test'
import { CHAT_JSON, MESSAGES_JSON, RESPONSES_JSON } from '../support/dialect-samples.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { json } from '../support/scripted-upstream.ts'
import { TRANSLATED } from '../support/translated-samples.ts'

// Loaded beforehand, because loading takes real time, which the scripted clock ignores.
await import('../../src/net/sign-aws.ts')

const answerOf = (dialect: string) =>
  TRANSLATED.find((row) => row.dialect === dialect)?.answer ?? ''
const SHARED = [
  ['gemini/gemini-2.5-pro', answerOf('gemini-generate-content')],
  ['bedrock/amazon.nova-pro-v1:0', answerOf('bedrock-converse')],
  ['cohere/command-a', answerOf('cohere-chat')],
  ['mistral/mistral-large-latest', answerOf('mistral-chat')],
] as const

const CHAT = '/v1/chat/completions'
const MESSAGES = '/v1/messages'
const TRANSLATING = [
  ...SHARED.map((row) => [CHAT, ...row] as const),
  [CHAT, 'anthropic/claude-opus-4-8', MESSAGES_JSON] as const,
  ...SHARED.map((row) => [MESSAGES, ...row] as const),
  [MESSAGES, 'openai/gpt-4o', CHAT_JSON] as const,
  [MESSAGES, 'openai/gpt-5', RESPONSES_JSON] as const,
]
const NATIVE = [
  [CHAT, 'openai/gpt-4o', CHAT_JSON],
  [MESSAGES, 'anthropic/claude-opus-4-8', MESSAGES_JSON],
] as const

const STRICT = { 'x-gatehouse-strict': 'true' }
const BETAS = { 'anthropic-beta': 'context-1m-2025-08-07,effort-2025-11-24' }

async function ask(
  [path, target, answer]: readonly [string, string, string],
  members: object,
  headers: Record<string, string> = {},
) {
  const gateway = new InProcessGateway({ gates: { g: [target] }, upstream: [json(200, answer)] })
  const body = {
    model: 'g',
    max_tokens: 64,
    messages: [{ role: 'user', content: 'hi' }],
    ...members,
  }
  const seen = await gateway.ask({ path, headers, body })
  return { seen, sent: gateway.upstream.sent }
}

const UNREAD = { messages: [{ role: 'user', content: [{ type: 'text', text: 'hi', x_new: 1 }] }] }
const NAME = 'messages[].content[].x_new'

describe('a member of a part that nobody reads', () => {
  test.each(TRANSLATING)('is named: %s to %s', async (path, target, answer) => {
    const way = [path, target, answer] as const
    const { seen, sent } = await ask(way, UNREAD)
    expect(seen).toMatchObject({ status: 200, headers: { 'x-gatehouse-ignored': NAME } })
    expect(sent).toHaveLength(1)
  })

  test.each(TRANSLATING)(
    'is refused for a strict caller: %s to %s',
    async (path, target, answer) => {
      const way = [path, target, answer] as const
      const { seen, sent } = await ask(way, UNREAD, STRICT)
      expect(seen.status).toBe(400)
      expect(seen.text).toContain(NAME)
      expect(sent).toHaveLength(0)
    },
  )

  test.each(NATIVE)(
    'passes where nothing is translated: %s to %s',
    async (path, target, answer) => {
      const way = [path, target, answer] as const
      const { seen, sent } = await ask(way, UNREAD, STRICT)
      expect(seen.status).toBe(200)
      expect(seen.headers).not.toHaveProperty('x-gatehouse-ignored')
      expect(sent[0]?.body).toContain('"x_new":1')
    },
  )
})

describe('what the header of features asks for', () => {
  const NAMES = 'anthropic-beta.context-1m-2025-08-07, anthropic-beta.effort-2025-11-24'
  const OF_MESSAGES = TRANSLATING.filter(([path]) => path === MESSAGES)

  test.each(OF_MESSAGES)('is named: %s to %s', async (path, target, answer) => {
    const way = [path, target, answer] as const
    const { seen } = await ask(way, {}, BETAS)
    expect(seen).toMatchObject({ status: 200, headers: { 'x-gatehouse-ignored': NAMES } })
  })

  test.each(OF_MESSAGES)(
    'is refused for a strict caller: %s to %s',
    async (path, target, answer) => {
      const way = [path, target, answer] as const
      const { seen, sent } = await ask(way, {}, { ...BETAS, ...STRICT })
      expect(seen.status).toBe(400)
      expect(seen.text).toContain('anthropic-beta.context-1m-2025-08-07')
      expect(sent).toHaveLength(0)
    },
  )

  test('passes where nothing is translated', async () => {
    const [, way] = NATIVE
    const { seen, sent } = await ask(way, {}, { ...BETAS, ...STRICT })
    expect(seen.status).toBe(200)
    expect(seen.headers).not.toHaveProperty('x-gatehouse-ignored')
    expect(sent[0]?.headers).toMatchObject(BETAS)
  })
})

describe('names are bounded in number and length', () => {
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`x_${at}_${'é'.repeat(200)}`, at]))
  const way = [CHAT, 'anthropic/claude-opus-4-8', MESSAGES_JSON] as const

  test.each([
    ['at the top level', many(100)],
    ['in a message', { messages: [{ role: 'user', content: 'hi', ...many(100) }] }],
  ])('%s', async (_, members) => {
    const { seen } = await ask(way, members)
    expect(seen.status).toBe(200)
    expect(seen.headers['x-gatehouse-ignored']?.length).toBeLessThanOrEqual(1024)
    expect(seen.headers['x-gatehouse-ignored']).toEndWith(', and-more')
    const refused = await ask(way, members, STRICT)
    expect(refused.seen.status).toBe(400)
    expect(refused.seen.text.length).toBeLessThan(4096)
  })
})
