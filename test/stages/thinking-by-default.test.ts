/**
 * Targets that reason by default: how reasoning is turned off, or named where the vendor has no
 * such setting.
 */
import { describe, expect, test } from 'bun:test'
import { Secret } from '../../src/core/secret.ts'
import type { Credential } from '../../src/gateway/ports.ts'
// Loaded beforehand, because loading takes real time, which the scripted clock ignores.
import '../../src/net/sign-aws.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { json } from '../support/scripted-upstream.ts'

const CREDENTIAL: Credential = { secret: new Secret('planted-key'), owner: 'account' }
const USER = { role: 'user', content: 'Ulm?' }

const CHAT = { choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }] }
const CLAUDE = {
  ...{ id: 'm', type: 'message', role: 'assistant', model: 'c', stop_reason: 'end_turn' },
  ...{ content: [{ type: 'text', text: 'Hi' }], usage: { input_tokens: 1, output_tokens: 1 } },
}
const CONVERSE = {
  output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
  ...{ stopReason: 'end_turn', usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } },
}
const GEMINI = { candidates: [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }] }

const ANSWERS = {
  anthropic: CLAUDE,
  bedrock: CONVERSE,
  gemini: GEMINI,
} as const satisfies Record<string, object>

function answerOf(provider: string): object {
  return provider === 'anthropic' || provider === 'bedrock' || provider === 'gemini'
    ? ANSWERS[provider]
    : CHAT
}

const ASKED = {
  '/v1/chat/completions': { model: 'g', messages: [USER], reasoning_effort: 'none' },
  '/v3/chat': { gate_id: 'g', messages: [USER], reasoning: { effort: 'none' } },
  '/v1/messages': {
    ...{ model: 'g', max_tokens: 99, messages: [USER] },
    thinking: { type: 'disabled' },
  },
} as const

async function ask(target: string, path: string, body: object, isStrict = false) {
  const [provider = ''] = target.split('/')
  const gateway = new InProcessGateway({
    gates: { g: [target] },
    credentials: { [provider]: CREDENTIAL },
  })
  gateway.upstream.script(json(200, answerOf(provider)))
  const headers = isStrict ? { 'x-gatehouse-strict': 'true' } : {}
  const { status, headers: answered } = await gateway.ask({ path, body, headers })
  const sent = JSON.parse(gateway.upstream.sent.at(-1)?.body ?? '{}')
  return { status, ignored: answered['x-gatehouse-ignored'] ?? '', sent }
}

function isRelayed(path: string, target: string): boolean {
  if (path === '/v1/messages') return target.startsWith('anthropic/')
  return path === '/v1/chat/completions' && !/^(?:anthropic|bedrock|gemini)\//.test(target)
}

const OFF = { thinking: { type: 'disabled' } }

describe.each(Object.entries(ASKED))('%s', (path, body) => {
  test.each([
    ['anthropic/claude-opus-5', OFF],
    ['anthropic/claude-opus-4-8', OFF],
    ['anthropic/claude-sonnet-4-5', OFF],
    ['anthropic/claude-haiku-5-5', OFF],
    ['anthropic/claude-sonnet-5-5', { thinking: { type: 'between_tools' } }],
    ['bedrock/anthropic.claude-opus-5', { additionalModelRequestFields: OFF }],
    ['bedrock/eu.anthropic.claude-sonnet-4-5-20250929-v1:0', { additionalModelRequestFields: OFF }],
    ['gemini/gemini-2.5-flash', { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } }],
    ['deepseek/deepseek-chat', OFF],
    ['openrouter/qwen/qwen3-235b', { reasoning: { effort: 'none' } }],
    ['vllm/Qwen/Qwen3-8B', { chat_template_kwargs: { enable_thinking: false } }],
    ['vllm/deepseek-ai/DeepSeek-V3.1', { chat_template_kwargs: { thinking: false } }],
    ['ollama/qwen3', { reasoning_effort: 'none' }],
  ])('none to %s sends what turns it off, strictly too', async (target, members) => {
    if (isRelayed(path, target)) return
    const { status, ignored, sent } = await ask(target, path, body, true)
    expect([status, ignored]).toEqual([200, ''])
    expect(sent).toMatchObject(members)
    expect(sent).not.toHaveProperty('output_config')
  })

  test.each([
    ['anthropic/claude-opus-5-5', undefined],
    ['anthropic/claude-fable-5-1', undefined],
    ['bedrock/anthropic.claude-mythos-5', undefined],
    ['gemini/gemini-2.5-pro', { thinkingBudget: 128 }],
    ['gemini/gemini-3-flash-preview', { thinkingLevel: 'MINIMAL' }],
    ['gemini/gemini-3.1-pro', { thinkingLevel: 'LOW' }],
    ['openrouter/openai/gpt-oss-120b', undefined],
  ])('none to %s, which cannot but think, is named', async (target, thinkingConfig) => {
    if (isRelayed(path, target)) return
    const { status, ignored, sent } = await ask(target, path, body)
    expect(status).toBe(200)
    expect(ignored).toMatch(/reasoning|thinking/)
    expect(sent.thinking).toBeUndefined()
    expect(sent.additionalModelRequestFields).toBeUndefined()
    expect(sent.reasoning_effort).toBeUndefined()
    expect(sent.generationConfig?.thinkingConfig).toEqual(thinkingConfig)
  })
})

describe('Messages to Bedrock', () => {
  const fields = async (model: string, members: object) => {
    const body = { model: 'g', max_tokens: 9000, messages: [USER], ...members }
    const { status, sent } = await ask(`bedrock/anthropic.${model}`, '/v1/messages', body)
    expect(status).toBe(200)
    return sent.additionalModelRequestFields
  }
  test.each([
    [{ thinking: { type: 'adaptive' } }, { thinking: { type: 'adaptive' } }],
    [
      { thinking: { type: 'adaptive', display: 'summarized' } },
      { thinking: { type: 'adaptive', display: 'summarized' } },
    ],
    [
      { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
      { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
    ],
    [{ output_config: { effort: 'high' } }, { output_config: { effort: 'high' } }],
    [{}, undefined],
  ])('%j keeps its display and adds no effort', async (members, sent) => {
    expect(await fields('claude-opus-5', members)).toEqual(sent)
  })

  test('a budget keeps its display, and an effort alone asks for no budget', async () => {
    const thinking = { type: 'enabled', budget_tokens: 2000, display: 'omitted' }
    expect(await fields('claude-sonnet-4-5-20250929-v1:0', { thinking })).toEqual({ thinking })
    const alone = { output_config: { effort: 'high' } }
    expect(await fields('claude-sonnet-4-5-20250929-v1:0', alone)).toBeUndefined()
  })
})

describe.each([
  ['nothing', {}],
  ['none', { reasoning_effort: 'none' }],
])('a caller that asks for %s', (_, members) => {
  test.each(['anthropic/claude-opus-5', 'bedrock/anthropic.claude-opus-5'])(
    'sends the thinking of %s back in its loop, strictly too',
    async (target) => {
      const [provider = ''] = target.split('/')
      const gateway = new InProcessGateway({
        gates: { g: [target] },
        credentials: { [provider]: CREDENTIAL },
      })
      const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }]
      const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }
      const reasoningContent = { reasoningText: { text: 'Hm.', signature: 'c2ln' } }
      gateway.upstream.script(
        json(
          200,
          provider === 'bedrock'
            ? {
                ...CONVERSE,
                stopReason: 'tool_use',
                output: {
                  message: {
                    role: 'assistant',
                    content: [
                      { reasoningContent },
                      { toolUse: { toolUseId: 't1', name: 'f', input: {} } },
                    ],
                  },
                },
              }
            : {
                ...CLAUDE,
                stop_reason: 'tool_use',
                content: [thinking, { type: 'tool_use', id: 't1', name: 'f', input: {} }],
              },
        ),
      )
      const path = '/v1/chat/completions'
      const headers = { 'x-gatehouse-strict': 'true' }
      const body = { model: 'g', tools, ...members }
      const first = await gateway.ask({ path, headers, body: { ...body, messages: [USER] } })
      expect(first.status).toBe(200)
      const { message } = JSON.parse(first.text).choices[0]
      gateway.upstream.script(json(200, answerOf(provider)))
      const result = { role: 'tool', tool_call_id: message.tool_calls[0].id, content: 'rain' }
      const messages = [USER, message, result]
      const second = await gateway.ask({ path, headers, body: { ...body, messages } })
      expect([second.status, second.headers['x-gatehouse-ignored']]).toEqual([200, undefined])
      const sent = JSON.parse(gateway.upstream.sent.at(-1)?.body ?? '')
      expect(sent.messages[1].content[0]).toEqual(
        provider === 'bedrock' ? { reasoningContent } : thinking,
      )
    },
  )
})

describe('how thinking is to be read is named where the target cannot be told', () => {
  const thinking = { type: 'adaptive', display: 'summarized' }
  const body = { ...ASKED['/v1/messages'], thinking, output_config: { effort: 'low' } }

  test.each([
    ['openai/gpt-5', 'thinking.display'],
    ['mistral/mistral-medium-latest', 'thinking.display'],
    ['cohere/command-a-reasoning-08-2025', 'thinking.display'],
    ['bedrock/openai.gpt-oss-120b-1:0', 'thinking.display'],
    // One name stands for all of reasoning.
    ['deepseek/deepseek-reasoner', 'thinking'],
    ['openrouter/some/model', 'thinking'],
    ['cohere/command-a', 'thinking'],
  ])('%s', async (target, name) => {
    const { status, ignored } = await displayed(target, body)
    expect(status).toBe(200)
    expect(ignored.split(', ')).toContain(name)
    expect(ignored.match(/thinking/g)).toHaveLength(1)
  })

  test('openai/gpt-5 shows no thinking that was not asked for', async () => {
    const omitted = { ...body, thinking: { type: 'adaptive', display: 'omitted' } }
    expect((await displayed('openai/gpt-5', omitted)).ignored).toBe('')
  })

  test.each(['anthropic/claude-opus-5', 'gemini/gemini-3-pro-preview'])(
    '%s is told',
    async (to) => {
      expect((await displayed(to, body)).ignored).not.toContain('thinking')
    },
  )
})

const RESPONSE = { id: 'r', object: 'response', status: 'completed', output: [] }
const COHERE = { message: { content: [{ type: 'text', text: 'Hi' }] }, finish_reason: 'COMPLETE' }

async function displayed(target: string, body: object) {
  const [provider = ''] = target.split('/')
  const gateway = new InProcessGateway({
    gates: { g: [target] },
    credentials: { [provider]: CREDENTIAL },
  })
  const answer =
    provider === 'openai' ? RESPONSE : provider === 'cohere' ? COHERE : answerOf(provider)
  gateway.upstream.script(json(200, answer))
  const { status, headers } = await gateway.ask({ path: '/v1/messages', body })
  return { status, ignored: headers['x-gatehouse-ignored'] ?? '' }
}
