import { afterAll, describe, expect, test } from 'bun:test'
import { startSandbox } from '../start-sandbox.ts'

const sandbox = startSandbox()
afterAll(() => sandbox.stop())

interface Part {
  text?: string
  thought?: boolean
  thoughtSignature?: string
  functionCall?: { name: string; args: object }
}
interface Response_ {
  candidates: { content: { parts?: Part[]; role: string }; finishReason?: string }[]
  usageMetadata: Record<string, number>
  modelVersion: string
}

const NEWER = 'echo-reasoning'

function post(model: string, body: object, method = 'generateContent') {
  return fetch(`${sandbox.url}/gemini/v1beta/models/${model}:${method}`, {
    method: 'POST',
    headers: { 'x-goog-api-key': 'any' },
    body: JSON.stringify(body),
  })
}

async function ask(model: string, body: object): Promise<Response_> {
  const answer = await post(model, body)
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(text)
  return JSON.parse(text)
}

async function stream(model: string, body: object): Promise<Response_[]> {
  const text = await (await post(model, body, 'streamGenerateContent?alt=sse')).text()
  expect(text).toEndWith('\r\n\r\n')
  return text
    .split('\r\n\r\n')
    .slice(0, -1)
    .map((event) => JSON.parse(event.slice('data: '.length)))
}

const partsOf = (...pieces: Response_[]) =>
  pieces.flatMap((piece) => piece.candidates[0]?.content.parts ?? [])
const user = (...parts: object[]) => ({ role: 'user', parts })
const model = (...parts: object[]) => ({ role: 'model', parts })
const hello = { contents: [user({ text: 'Hi' })] }
const declare = (name: string, parameters: object = { type: 'OBJECT' }) => ({ name, parameters })
const tools = [
  {
    functionDeclarations: [
      declare('get_weather', { type: 'OBJECT', properties: { city: { type: 'STRING' } } }),
      declare('now'),
    ],
  },
]
const question = user({ text: 'Use get_weather for "Ulm", then now.' })
const loop = { contents: [question], tools }
const results = user(
  { functionResponse: { name: 'get_weather', response: { result: 'sun' } } },
  { functionResponse: { name: 'now', response: { hour: 12 } } },
)

test('an answer and its stream have the same content', async () => {
  const whole = await ask('echo', hello)
  expect(whole).toMatchObject({
    candidates: [
      {
        content: { parts: [{ text: 'Sandbox echo: Hi' }], role: 'model' },
        finishReason: 'STOP',
        index: 0,
      },
    ],
    modelVersion: 'sandbox-echo',
  })
  const pieces = await stream('echo', hello)
  expect(
    partsOf(...pieces)
      .map((part) => part.text)
      .join(''),
  ).toBe('Sandbox echo: Hi')
  expect(pieces.map((piece) => piece.candidates[0]?.finishReason)).toEqual([
    ...Array(pieces.length - 1).fill(undefined),
    'STOP',
  ])
  expect(pieces.at(-1)?.usageMetadata).toEqual(whole.usageMetadata)
})

test('thoughts are counted apart from the answer, and shown on request', async () => {
  const { usageMetadata: counts } = await ask(NEWER, hello)
  expect(counts.thoughtsTokenCount).toBeGreaterThan(0)
  expect(counts.totalTokenCount).toBe(
    (counts.promptTokenCount ?? 0) +
      (counts.candidatesTokenCount ?? 0) +
      (counts.thoughtsTokenCount ?? 0),
  )
  const shown = {
    ...hello,
    generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: 99 } },
  }
  for (const name of ['echo', NEWER]) expect(partsOf(await ask(name, shown))[0]?.thought).toBe(true)
  const last = partsOf(...(await stream(NEWER, hello))).at(-1)
  expect([last?.text, typeof last?.thoughtSignature]).toEqual(['', 'string'])
})

test.each(['json', 'stream'])(
  'a loop of parallel calls with a signature on the first, by %s',
  async (way) => {
    const parts =
      way === 'json' ? partsOf(await ask(NEWER, loop)) : partsOf(...(await stream(NEWER, loop)))
    const calls = parts.filter((part) => part.functionCall !== undefined)
    expect(calls.map((part) => part.functionCall)).toEqual([
      { name: 'get_weather', args: { city: 'Ulm' } },
      { name: 'now', args: {} },
    ])
    expect(calls.map((part) => part.thoughtSignature !== undefined)).toEqual([true, false])
    const second = await ask(NEWER, { ...loop, contents: [question, model(...calls), results] })
    expect(partsOf(second)[0]?.text).toBe('Sandbox echo of tool outputs: sun; {"hour":12}')
  },
)

async function refusalOf(name: string, body: object): Promise<string> {
  const answer = await post(name, body)
  const { error } = (await answer.json()) as {
    error: { code: number; message: string; status: string }
  }
  expect([answer.status, error.code, error.status]).toEqual([400, 400, 'INVALID_ARGUMENT'])
  return error.message
}

describe('a signature', async () => {
  const [first, other] = partsOf(await ask(NEWER, loop))
  if (first?.functionCall === undefined || other === undefined) throw new Error('no calls')
  const going = (...parts: object[]) => ({
    ...loop,
    contents: [question, model(...parts), results],
  })
  const { thoughtSignature = '', ...unsigned } = first
  const flipped = thoughtSignature.replace(/.(?=.{30}$)/, (letter) => (letter === 'A' ? 'B' : 'A'))

  test('that is missing is refused by a newer model, and not by an older one', async () => {
    expect(await refusalOf(NEWER, going(unsigned, other))).toContain(
      'Function call is missing a thought_signature in functionCall parts.',
    )
    expect((await post('echo', going(unsigned, other))).status).toBe(200)
  })

  test('that is missing before the user’s last question is accepted', async () => {
    const contents = [
      question,
      model(unsigned, other),
      results,
      model({ text: 'Sun.' }),
      user({ text: 'Hi' }),
    ]
    expect((await post(NEWER, { ...loop, contents })).status).toBe(200)
  })

  test('that is altered, foreign or on another part is refused by every model', async () => {
    for (const name of ['echo', NEWER]) {
      for (const parts of [
        [{ ...unsigned, thoughtSignature: flipped }, other],
        [{ ...unsigned, thoughtSignature: 'EpAICo0I' }, other],
        [{ ...unsigned, thoughtSignature: '' }, other],
        [unsigned, { ...other, thoughtSignature }],
      ])
        expect(await refusalOf(name, going(...parts))).toBe('Corrupted thought signature.')
    }
  })

  test('that stands in for histories of other models is accepted', async () => {
    const foreign = { ...unsigned, thoughtSignature: 'skip_thought_signature_validator' }
    expect((await post(NEWER, going(foreign, other))).status).toBe(200)
  })
})

const call = model({ functionCall: { name: 'now', args: {} } })
const reply = user({ functionResponse: { name: 'now', response: {} } })
const config = (generationConfig: object) => ({ ...hello, generationConfig })

test.each<[string, object, string]>([
  ['no contents', {}, 'contents is not specified'],
  ['an unknown member', { ...hello, foo: 1 }, 'Unknown name "foo": Cannot find field.'],
  [
    'an unknown setting',
    config({ max_tokens: 1 }),
    `Unknown name "max_tokens" at 'generation_config'`,
  ],
  [
    'a role of OpenAI’s',
    { contents: [{ role: 'assistant', parts: [{ text: 'x' }] }] },
    'valid role: user, model',
  ],
  ['no parts', { contents: [user()] }, 'must not be empty'],
  ['a part of nothing', { contents: [user({})] }, 'required oneof field'],
  [
    'a result that is not an object',
    { contents: [question, call, user({ functionResponse: { name: 'now', response: 'x' } })] },
    'Struct',
  ],
  [
    'a result without a call',
    { contents: [question, reply] },
    'function response turn comes immediately after',
  ],
  [
    'a call after a call',
    { contents: [question, call, call] },
    'function call turn comes immediately after',
  ],
  [
    'fewer results than calls',
    { contents: [question, model(...call.parts, ...call.parts), reply] },
    'number of function response parts',
  ],
  [
    'a call at the end',
    { contents: [question, call] },
    'single turn requests end with a user role',
  ],
  ['six stop texts', config({ stopSequences: [...'abcdef'] }), 'at most 5'],
  [
    'a level for an older model',
    config({ thinkingConfig: { thinkingLevel: 'LOW' } }),
    'not supported for this model',
  ],
  ['a schema without JSON', config({ responseSchema: {} }), 'application/json'],
  [
    'a foreign word in a schema',
    {
      ...hello,
      tools: [{ functionDeclarations: [declare('a', { additionalProperties: false })] }],
    },
    'additionalProperties',
  ],
  [
    'a choice of no tool',
    {
      ...loop,
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['x'] } },
    },
    'subset',
  ],
])('%s is refused', async (_, body, message) => {
  expect(await refusalOf('echo', body)).toContain(message)
})

test('limits, stop texts, JSON, choices and names with underscores are obeyed', async () => {
  const one = async (generationConfig: object) =>
    (await ask('echo', config(generationConfig))).candidates[0]
  expect((await one({ max_output_tokens: 1 }))?.finishReason).toBe('MAX_TOKENS')
  expect((await one({ stop_sequences: [' echo'] }))?.content.parts).toEqual([{ text: 'Sandbox' }])
  const schema = { type: 'OBJECT', properties: { a: { type: 'INTEGER' } } }
  expect(
    (await one({ responseMimeType: 'application/json', responseSchema: schema }))?.content.parts,
  ).toEqual([{ text: '{"a":1}' }])
  expect((await ask('echo', config({ candidateCount: 2 }))).candidates).toHaveLength(2)
  expect((await ask(NEWER, config({ maxOutputTokens: 10 }))).candidates[0]).toEqual({
    content: { role: 'model' },
    finishReason: 'MAX_TOKENS',
    index: 0,
  } as never)
  const forced = { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['now'] } }
  expect(partsOf(await ask('echo', { ...loop, ...hello, toolConfig: forced }))).toEqual([
    { functionCall: { name: 'now', args: {} } },
  ])
})

test('errors have Google’s statuses, and the time to wait among their details', async () => {
  for (const [name, status, word] of [
    ['429-30', 429, 'RESOURCE_EXHAUSTED'],
    ['500', 500, 'INTERNAL'],
    ['overloaded', 503, 'UNAVAILABLE'],
    ['401', 401, 'UNAUTHENTICATED'],
    ['gemini-0', 404, 'NOT_FOUND'],
  ] as const) {
    const answer = await post(name, hello)
    const { error } = (await answer.json()) as { error: { status: string; details?: unknown } }
    expect([answer.status, error.status]).toEqual([status, word])
    if (status === 429)
      expect(error.details).toEqual([
        { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '30s' },
      ])
  }
})

test('keys: by header or address; a bad one is 400, a missing one 403', async () => {
  const url = `${sandbox.url}/gemini/v1beta/models/echo:generateContent`
  const send = async (address: string, headers: Record<string, string> = {}) =>
    (await fetch(address, { method: 'POST', headers, body: JSON.stringify(hello) })).status
  expect(await send(`${url}?key=any`)).toBe(200)
  expect(await send(url, { authorization: 'Bearer any' })).toBe(200)
  expect(await send(url, { 'x-goog-api-key': 'sandbox-bad-key' })).toBe(400)
  expect(await send(url)).toBe(403)
})

test('embeddings: one for each text, of the requested length', async () => {
  const content = { parts: [{ text: 'Hi' }] }
  const requests = [{ content, outputDimensionality: 16 }, { content }]
  const { embeddings } = (await (
    await post('echo', { requests }, 'batchEmbedContents')
  ).json()) as {
    embeddings: { values: number[] }[]
  }
  expect(embeddings.map(({ values }) => values.length)).toEqual([16, 768])
  expect((await post('echo', { requests: [] }, 'batchEmbedContents')).status).toBe(400)
  expect((await post('429', { requests }, 'batchEmbedContents')).status).toBe(429)
})
