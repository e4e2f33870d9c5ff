/**
 * Parts of an upstream's answer beside text and calls: images reach callers whose dialect has a
 * place for images, and losses are named in a header or a comment of the stream.
 */
import { describe, expect, test } from 'bun:test'
import { Secret } from '../../src/core/secret.ts'
// Loaded beforehand, because loading takes real time, which the scripted clock ignores.
import '../../src/net/sign-aws.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { json, type Script, stream } from '../support/scripted-upstream.ts'
import { parseEvents } from '../support/server-sent-events.ts'

type Json = Readonly<Record<string, unknown>>

const PNG = 'iVBORw0KGgo='
const URL = `data:image/png;base64,${PNG}`
const sse = (...events: readonly object[]) =>
  stream(events.map((event) => `data: ${JSON.stringify(event)}\n\n`))

const gemini = (parts: readonly object[], members: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', ...members }],
  usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 5 },
})
const geminiPair = (...parts: readonly object[]) => [
  json(200, gemini(parts)),
  sse(...parts.map((part) => gemini([part], { finishReason: null })), gemini([{ text: '' }])),
]

const message = (members: object) => ({
  id: 'c',
  choices: [{ index: 0, message: { role: 'assistant', ...members }, finish_reason: 'stop' }],
})
const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: 'c',
  choices: [{ index: 0, delta, finish_reason }],
})
const chatPair = (...deltas: readonly Json[]) => [
  json(200, message(Object.assign({}, ...deltas))),
  stream([
    ...[...deltas.map((delta) => chunk(delta)), chunk({}, 'stop')].map(
      (data) => `data: ${JSON.stringify(data)}\n\n`,
    ),
    'data: [DONE]\n\n',
  ]),
]

const response = (output: readonly object[]) => ({
  ...{ id: 'r', object: 'response', status: 'completed', output },
  usage: { input_tokens: 9, output_tokens: 5 },
})
const responsesPair = (...output: readonly Json[]) => [
  json(200, response(output)),
  sse(
    { type: 'response.created', response: { id: 'r' } },
    ...output.flatMap((item, output_index) => [
      { type: 'response.output_item.added', output_index, item: { ...item, content: [] } },
      { type: 'response.output_item.done', output_index, item },
    ]),
    { type: 'response.completed', response: response(output) },
  ),
]

const inlineData = { mimeType: 'image/png', data: PNG }
const image = { type: 'image_url', image_url: { url: URL } }
const said = (text: string, members: object = {}) => ({
  type: 'message',
  content: [{ type: 'output_text', text, ...members }],
})

interface Row {
  readonly target: string
  readonly answers: readonly Script[]
  readonly text: string
}

const WITH_IMAGE: Readonly<Record<string, Row>> = {
  'an image of Gemini': {
    target: 'gemini/gemini-2.5-flash-image',
    answers: geminiPair({ text: 'Here.' }, { inlineData }),
    text: 'Here.',
  },
  'an image of Gemini, signed': {
    target: 'gemini/gemini-3-pro-image-preview',
    answers: geminiPair({ text: 'Here.' }, { inlineData, thoughtSignature: 'c2ln' }),
    text: 'Here.',
  },
  'an image of Gemini alone': {
    target: 'gemini/gemini-2.5-flash-image',
    answers: geminiPair({ inlineData }),
    text: '',
  },
  'images of a chat answer': {
    target: 'openrouter/google/gemini-2.5-flash-image',
    answers: chatPair({ content: 'Here.' }, { images: [image] }),
    text: 'Here.',
  },
  'an image in the content of a chat answer': {
    target: 'vllm/some-model',
    answers: chatPair({ content: [{ type: 'text', text: 'Here.' }, image] }),
    text: 'Here.',
  },
  'the call of an image': {
    target: 'openai/gpt-5',
    answers: responsesPair(said('Here.'), {
      ...{ type: 'image_generation_call', id: 'ig_1', status: 'completed', result: PNG },
    }),
    text: 'Here.',
  },
}

const USER = { role: 'user', content: 'Draw.' }
const BODIES: Readonly<Record<string, Json>> = {
  '/v1/chat/completions': { model: 'g' },
  '/v1/messages': { model: 'g', max_tokens: 99 },
  '/v3/chat': { gate_id: 'g' },
}

async function ask(path: string, { target, answers }: Row, isStream: boolean) {
  const [provider = ''] = target.split('/')
  const secret = new Secret('planted-key')
  const gateway = new InProcessGateway({
    gates: { g: [target] },
    credentials: { [provider]: { secret, owner: 'account' } },
  })
  gateway.upstream.script(answers[isStream ? 1 : 0] ?? [])
  const body = { ...BODIES[path], messages: [USER], stream: isStream }
  return await gateway.ask({ path, body })
}

function namesIn({ headers, text }: Awaited<ReturnType<typeof ask>>, isStream: boolean): string[] {
  if (!isStream) return headers['x-gatehouse-ignored']?.split(', ') ?? []
  return [...text.matchAll(/^: x-gatehouse-ignored: (.*)$/gm)].map(([, name = '']) => name)
}

describe.each([false, true])('streamed: %p', (isStream) => {
  describe.each(Object.entries(WITH_IMAGE))('%s', (kind, row) => {
    // Chat callers get the bytes of other targets unchanged.
    const callers = row.target.startsWith('gemini/') ? ['/v1/chat/completions'] : []
    test.each(callers)('stands in `images` for callers of %s', async (path) => {
      const seen = await ask(path, row, isStream)
      expect(seen.status).toBe(200)
      expect(namesIn(seen, isStream)).toEqual([])
      const parts: Json[] = isStream
        ? parseEvents(seen.text)
            .filter(({ data }) => data !== '[DONE]')
            .map(({ data }) => JSON.parse(data).choices[0]?.delta ?? {})
        : [JSON.parse(seen.text).choices[0].message]
      expect(parts.map(({ content }) => content ?? '').join('')).toBe(row.text)
      expect(parts.flatMap(({ images = [] }) => images)).toEqual([{ index: 0, ...image }])
    })

    test.each(['/v1/messages', '/v3/chat'])('is named for callers of %s', async (path) => {
      const seen = await ask(path, row, isStream)
      expect(seen.status).toBe(200)
      const isLate = isStream && path === '/v1/messages' && kind.endsWith('signed')
      const signature = isLate ? ['answer.signature'] : []
      expect(namesIn(seen, isStream)).toEqual(['answer.images', ...signature])
      expect(seen.text).not.toContain(PNG)
      if (row.text !== '') expect(seen.text).toContain(row.text)
      if (isStream) expect(seen.text).toMatch(/message_stop|chat\.completed/)
    })
  })
})

const LOST: Readonly<Record<string, readonly [names: readonly string[], row: Row]>> = {
  'code that ran at Gemini': [
    ['answer.parts[].executableCode', 'answer.parts[].codeExecutionResult'],
    {
      target: 'gemini/gemini-2.5-pro',
      answers: geminiPair(
        { executableCode: { language: 'PYTHON', code: '1' } },
        { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
        { text: 'One.' },
      ),
      text: 'One.',
    },
  ],
  'sound of Gemini, and an image of its thoughts': [
    ['answer.parts[].inlineData'],
    {
      target: 'gemini/gemini-2.5-pro',
      answers: geminiPair(
        { inlineData: { mimeType: 'audio/L16', data: 'AA==' } },
        { inlineData, thought: true },
        { text: 'One.' },
      ),
      text: 'One.',
    },
  ],
  'members of a chat message': [
    ['answer.message.annotations', 'answer.message.audio'],
    {
      target: 'openrouter/some/model',
      answers: chatPair(
        { content: 'One.', tool_calls: [], function_call: null },
        { annotations: [{ type: 'url_citation' }] },
        { annotations: [{ type: 'url_citation' }], audio: { id: 'a' } },
      ),
      text: 'One.',
    },
  ],
  'members of a message of Mistral, which takes none back': [
    ['answer.message.content[].type=reference', 'answer.message.reasoning_details'],
    {
      target: 'mistral/mistral-large-latest',
      answers: chatPair({
        ...{ content: [{ type: 'text', text: 'One.' }, { type: 'reference' }], prefix: false },
        reasoning_details: [{ type: 'reasoning.text' }],
      }),
      text: 'One.',
    },
  ],
  'sources beside the choices': [
    ['answer.citations'],
    {
      target: 'perplexity/sonar',
      answers: [
        json(200, { ...message({ content: 'One.' }), citations: ['https://a.test'] }),
        sse(
          { ...chunk({ content: 'On' }), citations: ['https://a.test'] },
          { ...chunk({ content: 'e.' }), citations: ['https://a.test'] },
          chunk({}, 'stop'),
        ),
      ],
      text: '',
    },
  ],
  'items of tools that nobody asked for': [
    ['answer.output[].type=web_search_call', 'answer.output[].content[].annotations'],
    {
      target: 'openai/gpt-5',
      answers: responsesPair(
        { type: 'web_search_call', id: 'ws_1', status: 'completed' },
        said('One.', { annotations: [{ type: 'url_citation' }] }),
      ),
      text: 'One.',
    },
  ],
}

describe.each(['/v1/messages', '/v3/chat'])('for %s', (path) => {
  describe.each(Object.entries(LOST))('%s', (_, [names, row]) => {
    test.each([false, true])('are named once, streamed: %p', async (isStream) => {
      const seen = await ask(path, row, isStream)
      expect(seen.status).toBe(200)
      expect(namesIn(seen, isStream).sort()).toEqual([...names].sort())
      expect(seen.text).toContain(row.text)
    })
  })
})

test('names are bounded, and no name breaks a comment', async () => {
  const members = Object.fromEntries(
    Array.from({ length: 50 }, (_, at) => [`member\n\ndata: ${at}`, at]),
  )
  const row = { target: 'vllm/m', answers: chatPair({ content: 'One.', ...members }), text: '' }
  for (const isStream of [false, true]) {
    const seen = await ask('/v1/messages', row, isStream)
    const names = namesIn(seen, isStream)
    expect(names.length).toBeLessThanOrEqual(33)
    expect(names[0]).toContain('answer.message.member%0A%0Adata')
  }
})
