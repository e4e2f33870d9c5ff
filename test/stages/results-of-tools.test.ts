/**
 * Tool results with more than text arrive complete or are refused by name, because an empty result
 * would tell the model that its tool found nothing.
 */
import { describe, expect, test } from 'bun:test'
import { CHAT_JSON, RESPONSES_JSON } from '../support/dialect-samples.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { json } from '../support/scripted-upstream.ts'
import { TRANSLATED } from '../support/translated-samples.ts'

// Loaded beforehand, because loading takes real time, which the scripted clock ignores.
await import('../../src/net/sign-aws.ts')

const answerOf = (dialect: string) =>
  TRANSLATED.find((row) => row.dialect === dialect)?.answer ?? ''
const COHERE = ['cohere/command-a', answerOf('cohere-chat')] as const
const OTHERS = [
  ['openai/gpt-4o', CHAT_JSON],
  ['openai/gpt-5', RESPONSES_JSON],
  ['gemini/gemini-2.5-pro', answerOf('gemini-generate-content')],
  ['bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0', answerOf('bedrock-converse')],
  ['mistral/mistral-large-latest', answerOf('mistral-chat')],
] as const
const TARGETS = [...OTHERS, COHERE]

async function send(target: string, answer: string, ...content: object[]) {
  const gateway = new InProcessGateway({ gates: { g: [target] }, upstream: [json(200, answer)] })
  const messages = [
    { role: 'user', content: 'Look.' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content }] },
  ]
  const tools = [{ name: 'look', input_schema: { type: 'object' } }]
  const body = { model: 'g', max_tokens: 64, tools, messages }
  const seen = await gateway.ask({ path: '/v1/messages', body })
  return { seen, sent: gateway.upstream.sent[0]?.body ?? '' }
}

const text = (words: string) => ({ type: 'text', text: words })
const SEARCH = {
  type: 'search_result',
  title: 'The title',
  source: 'https://example.test/page',
  content: [text('First words.'), text('Second words.')],
}
const CONTENT = {
  type: 'document',
  source: { type: 'content', content: [text('First words.'), text('Second words.')] },
}
const WORDS = {
  type: 'document',
  source: { type: 'content', content: 'First words. Second words.' },
}
const PDF = {
  type: 'document',
  source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjQ=' },
}

const FOUND = { type: 'tool_reference', tool_name: 'find_weather' }
const BROWSER = {
  type: 'browser_state',
  tabs: [{ tab_id: 't1', title: 'The title', url: 'https://example.test/page', active: true }],
  state_changes: [{ type: 'tab_opened', tab_id: 't1' }],
}

describe.each(TARGETS)('to %s', (target, answer) => {
  test.each([
    ['a reference to a tool', FOUND, ['find_weather']],
    ['the tabs of a browser', BROWSER, ['The title', 'https://example.test/page', 'tab_opened']],
  ])('%s arrives as text', async (_, block, words) => {
    const { seen, sent } = await send(target, answer, block)
    expect(seen.status).toBe(200)
    expect(seen.headers).not.toHaveProperty('x-gatehouse-ignored')
    for (const word of words) expect(sent).toContain(word)
  })

  test('a block of an unknown kind is refused alone, and named beside others', async () => {
    const unknown = { type: 'hologram', data: 'x' }
    const alone = await send(target, answer, unknown)
    expect([alone.seen.status, alone.sent]).toEqual([400, ''])
    expect(alone.seen.text).toContain('messages[2].content[0].content[0].type')
    const beside = await send(target, answer, unknown, text('See it.'))
    expect(beside.seen.headers['x-gatehouse-ignored']).toContain('type=hologram')
    expect(beside.sent).toContain('See it.')
  })

  test.each([
    ['a search result', SEARCH, ['The title', 'https://example.test/page']],
    ['a document of blocks', CONTENT, []],
    ['a document of words', WORDS, []],
  ])('%s keeps its text', async (_, block, more) => {
    const { seen, sent } = await send(target, answer, block)
    expect(seen.status).toBe(200)
    expect(seen.headers).not.toHaveProperty('x-gatehouse-ignored')
    for (const words of ['First words.', 'Second words.', ...more]) expect(sent).toContain(words)
  })
})

test.each(OTHERS)('a PDF that a tool gave reaches %s', async (target, answer) => {
  const { seen, sent } = await send(target, answer, PDF)
  expect(seen.status).toBe(200)
  expect(sent).toContain('JVBERi0xLjQ=')
})

test('Chat Completions get it after the result, as the user’s', async () => {
  const { sent } = await send('openai/gpt-4o', CHAT_JSON, text('See it.'), PDF)
  expect(JSON.parse(sent).messages.slice(-2)).toMatchObject([
    { role: 'tool', content: 'See it.' },
    { role: 'user', content: [{ type: 'file' }] },
  ])
})

describe('an image that a tool gave', () => {
  const data = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } }
  const address = { type: 'image', source: { type: 'url', url: 'https://example.test/a.png' } }
  const ANSWER = answerOf('gemini-generate-content')
  const inlineData = { mimeType: 'image/png', data: 'AA==' }

  test('stands within the result for Gemini 3, and its address beside it', async () => {
    const { seen, sent } = await send('gemini/gemini-3-pro-preview', ANSWER, data, address)
    expect(seen.status).toBe(200)
    expect(JSON.parse(sent).contents.at(-1).parts).toEqual([
      { functionResponse: { name: 'look', response: { result: '' }, parts: [{ inlineData }] } },
      { fileData: { fileUri: 'https://example.test/a.png', mimeType: 'image/png' } },
    ])
  })

  test('stands beside the result for earlier models', async () => {
    const { sent } = await send('gemini/gemini-2.5-pro', ANSWER, data)
    expect(JSON.parse(sent).contents.at(-1).parts).toEqual([
      { functionResponse: { name: 'look', response: { result: '' } } },
      { inlineData },
    ])
  })
})

describe('a vendor that takes no documents', () => {
  test('is asked with the text beside one, which is named', async () => {
    const { seen, sent } = await send(...COHERE, text('See it.'), PDF)
    expect(seen.status).toBe(200)
    expect(seen.headers['x-gatehouse-ignored']).toBe('messages.content.document')
    expect(sent).toContain('See it.')
  })

  test('is not asked where nothing would be left of the result', async () => {
    const { seen, sent } = await send(...COHERE, PDF)
    expect(seen.status).toBe(400)
    expect(seen.text).toContain('no documents as results of tools')
    expect(sent).toBe('')
  })
})

test('sound alone as a result is refused by its place', async () => {
  const gateway = new InProcessGateway({ gates: { g: ['anthropic/claude-opus-5'] } })
  const sound = { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } }
  const call = { id: 'call_1', type: 'function', function: { name: 'listen', arguments: '{}' } }
  const messages = [
    { role: 'user', content: 'Listen.' },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'call_1', content: [sound] },
  ]
  const seen = await gateway.ask({
    path: '/v1/chat/completions',
    body: { model: 'g', messages },
  })
  expect(seen.status).toBe(400)
  expect(seen.text).toContain('messages[2].content')
})
