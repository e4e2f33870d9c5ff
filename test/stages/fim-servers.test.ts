/**
 * Fill-in-the-middle at self-hosted servers without `/fim/completions`: the request to each, and
 * the translated answers. Each server behaves as in its code and documentation.
 */
import { describe, expect, test } from 'bun:test'
import { Mistral } from '@mistralai/mistralai'
import { HTTPClient } from '@mistralai/mistralai/lib/http.js'
import type { DialectId } from '../../src/core/dialects.ts'
import { Secret } from '../../src/core/secret.ts'
import type { OwnedUpstream } from '../../src/gateway/ports.ts'
import { FIM_TEMPLATES } from '../../src/providers/owned.ts'
import { readFlatError } from '../support/envelopes.ts'
import { type GatewayScript, InProcessGateway } from '../support/in-process-gateway.ts'
import { json, type Script, SILENCE, stream } from '../support/scripted-upstream.ts'
import { parseEvents } from '../support/server-sent-events.ts'

const FIM = '/alt/v1/fim/completions'
const PROMPT = 'def add(a, b):\n    '
const SUFFIX = '\n\nprint(add(1, 2))\n'
const BASE = { model: 'coder', prompt: PROMPT, suffix: SUFFIX }
const TEXT = 'return a + b'
const QWEN = `<|fim_prefix|>${PROMPT}<|fim_suffix|>${SUFFIX}<|fim_middle|>`
const QWEN_STOPS = [
  '<|fim_pad|>',
  '<|repo_name|>',
  '<|file_sep|>',
  '<|endoftext|>',
  '<|im_end|>',
  '<|fim_prefix|>',
  '<|fim_suffix|>',
  '<|fim_middle|>',
]
const USAGE = { inputTokens: 24, outputTokens: 5, cachedInputTokens: 0, reasoningTokens: 0 }

interface Server {
  readonly dialect: DialectId
  readonly path: string
  readonly whole: Script
  readonly streamed: Script
  readonly used?: Partial<typeof USAGE>
  readonly sent: object
  readonly sentForStream?: object
}

const event = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`
const OPENAI_USAGE = { prompt_tokens: 24, completion_tokens: 5, total_tokens: 29 }
const completion = (choice: object, members: object = {}) => ({
  id: 'cmpl-7',
  object: 'text_completion',
  created: 1_767_225_600,
  model: 'qwen2.5-coder:7b-base',
  choices: [{ index: 0, logprobs: null, ...choice }],
  ...members,
})
const COUNTED = { stream: true, stream_options: { include_usage: true } }

const LLAMA_FINAL = {
  index: 0,
  content: '',
  tokens: [],
  id_slot: 0,
  stop: true,
  model: 'qwen2.5-coder-7b-q8_0.gguf',
  tokens_predicted: 5,
  tokens_evaluated: 24,
  generation_settings: { n_predict: 512 },
  prompt: '<|repo_name|>myproject',
  has_new_line: false,
  truncated: false,
  stop_type: 'eos',
  stopping_word: '',
  tokens_cached: 28,
  timings: { cache_n: 9, prompt_n: 15, prompt_ms: 61.2, predicted_n: 5, predicted_ms: 88.1 },
}
const LLAMA_PIECES = ['return', ' a', ' + b'].map((content, at) =>
  event({
    index: 0,
    content,
    tokens: [7],
    stop: false,
    id_slot: 0,
    tokens_predicted: at + 1,
    tokens_evaluated: 24,
  }),
)

const SERVERS: Readonly<Record<string, Server>> = {
  'llama.cpp, by /infill': {
    dialect: 'infill',
    path: '/infill',
    whole: json(200, { ...LLAMA_FINAL, content: TEXT }),
    streamed: stream([...LLAMA_PIECES, event(LLAMA_FINAL)]),
    used: { cachedInputTokens: 9 },
    sent: { model: 'its-model', input_prefix: PROMPT, input_suffix: SUFFIX, n_predict: 512 },
    sentForStream: { stream: true },
  },
  'Ollama, by a suffix': {
    dialect: 'completions-suffix',
    path: '/completions',
    whole: json(200, completion({ text: TEXT, finish_reason: 'stop' }, { usage: OPENAI_USAGE })),
    streamed: stream([
      event(completion({ text: 'return', finish_reason: null })),
      event(completion({ text: ' a + b', finish_reason: null })),
      event(completion({ text: '', finish_reason: 'stop' })),
      event({ ...completion({}), choices: [], usage: OPENAI_USAGE }),
      'data: [DONE]\n\n',
    ]),
    sent: { model: 'its-model', prompt: PROMPT, suffix: SUFFIX, max_tokens: 512 },
    sentForStream: COUNTED,
  },
  'vLLM, by the model’s own tokens': {
    dialect: 'completions-template',
    path: '/completions',
    whole: json(
      200,
      completion(
        { text: TEXT, finish_reason: 'stop', stop_reason: null, prompt_logprobs: null },
        { usage: { ...OPENAI_USAGE, prompt_tokens_details: null } },
      ),
    ),
    streamed: stream([
      event(
        completion({ text: 'return a', finish_reason: null, stop_reason: null }, { usage: null }),
      ),
      event(
        completion({ text: ' + b', finish_reason: 'stop', stop_reason: null }, { usage: null }),
      ),
      event({ ...completion({}), choices: [], usage: OPENAI_USAGE }),
      'data: [DONE]\n\n',
    ]),
    sent: {
      model: 'its-model',
      prompt: QWEN,
      skip_special_tokens: false,
      max_tokens: 512,
      stop: QWEN_STOPS,
    },
    sentForStream: COUNTED,
  },
}

const EACH = Object.entries(SERVERS)

const toOwned = ({ dialect, path }: Pick<Server, 'dialect' | 'path'>): OwnedUpstream => ({
  slug: 'coder',
  model: 'its-model',
  credential: { secret: new Secret('planted-owned-0123456789'), owner: 'account' },
  provider: {
    id: 'owned/coder',
    name: 'owned/coder',
    baseUrl: 'https://coder.test',
    endpoints: { [dialect]: { path } },
    traits: [[/./, { fimTemplate: FIM_TEMPLATES['qwen-coder'] }]],
  },
})

const open = (server: Server, upstream: readonly Script[], more: Partial<GatewayScript> = {}) =>
  new InProcessGateway({
    gates: { coder: ['owned/coder'] },
    ownedModels: [toOwned(server)],
    upstream,
    ...more,
  })

const sentOf = (gateway: InProcessGateway, at = 0) =>
  JSON.parse(gateway.upstream.sent[at]?.body ?? '')

/** The published client, without a socket. */
const sdkOf = (gateway: InProcessGateway) =>
  new Mistral({
    apiKey: 'svc_of_the_sdk',
    serverURL: 'http://gateway.test/alt',
    httpClient: new HTTPClient({
      fetcher: async (input, init) => {
        const request = new Request(input, init)
        const { pathname } = new URL(request.url)
        const seen = await gateway.ask({ path: pathname, body: await request.text() })
        return new Response(seen.text, { status: seen.status, headers: seen.headers })
      },
    }),
  })

describe.each(EACH)('%s', (_, server) => {
  const used = { ...USAGE, ...server.used }

  test('gets the request in its own form, and answers in the caller’s', async () => {
    const gateway = open(server, [server.whole])
    const seen = await gateway.ask({ path: FIM, body: BASE })
    expect(gateway.upstream.sent[0]?.url).toBe(`https://coder.test${server.path}`)
    expect(sentOf(gateway)).toEqual(server.sent)
    expect(seen.status).toBe(200)
    expect(seen.headers).toMatchObject({
      'content-type': 'application/json',
      'x-gatehouse-target': 'owned/coder',
    })
    expect(JSON.parse(seen.text)).toEqual({
      id: expect.stringMatching(/^cmpl-/),
      object: 'chat.completion',
      created: expect.any(Number),
      model: expect.stringContaining('qwen2.5-coder'),
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: TEXT, tool_calls: null, prefix: false },
          finish_reason: 'stop',
        },
      ],
      usage: OPENAI_USAGE,
    })
    expect(gateway.ledger.records[0]).toMatchObject({ outcome: 'succeeded', usage: used })
    await gateway.assertNothingIsLeft()
  })

  test('streams in the caller’s form, with its usage in the last chunk', async () => {
    const gateway = open(server, [server.streamed])
    const seen = await gateway.ask({ path: FIM, body: { ...BASE, stream: true } })
    expect(sentOf(gateway)).toEqual({ ...server.sent, ...server.sentForStream })
    expect(seen).toMatchObject({ status: 200, ending: 'whole' })
    const events = parseEvents(seen.text)
    expect(events.at(-1)?.data).toBe('[DONE]')
    const chunks = events.slice(0, -1).map(({ data }) => JSON.parse(data))
    for (const chunk of chunks) expect(chunk.object).toBe('chat.completion.chunk')
    expect(chunks[0].choices).toEqual([
      { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null },
    ])
    expect(chunks.map(({ choices }) => choices[0].delta.content).join('')).toBe(TEXT)
    expect(chunks.at(-1)).toMatchObject({
      choices: [{ finish_reason: 'stop' }],
      usage: OPENAI_USAGE,
    })
    expect(gateway.ledger.records[0]).toMatchObject({
      outcome: 'succeeded',
      usage: used,
      stream: true,
    })
    await gateway.assertNothingIsLeft()
  })

  test('serves Mistral’s own SDK, whole and streamed', async () => {
    const gateway = open(server, [server.whole, server.streamed])
    const client = sdkOf(gateway)
    const completed = await client.fim.complete(BASE)
    expect(completed.choices?.[0]?.message?.content).toBe(TEXT)
    let content = ''
    for await (const { data } of await client.fim.stream(BASE))
      content += String(data.choices[0]?.delta.content ?? '')
    expect(content).toBe(TEXT)
    await gateway.assertNothingIsLeft()
  })

  test('gets settings under its own names; unsupported ones are named, and refused to a strict caller', async () => {
    const gateway = open(server, [server.whole])
    const settings = {
      temperature: 0.2,
      top_p: 0.9,
      max_tokens: 40,
      random_seed: 7,
      stop: ['\n\n', '\nclass '],
      metadata: { a: 'b' },
      prompt_cache_key: 'k',
      min_tokens: 3,
    }
    const seen = await gateway.ask({ path: FIM, body: { ...BASE, ...settings } })
    const sent = sentOf(gateway)
    expect(sent).toMatchObject({ temperature: 0.2, top_p: 0.9, seed: 7 })
    expect(sent.max_tokens ?? sent.n_predict).toBe(40)
    expect(sent.stop.slice(0, 2)).toEqual(['\n\n', '\nclass '])
    for (const name of ['metadata', 'prompt_cache_key', 'min_tokens', 'random_seed'])
      expect(sent).not.toHaveProperty(name)
    expect(seen.headers['x-gatehouse-ignored']?.split(', ').toSorted()).toEqual([
      'metadata',
      'min_tokens',
      'prompt_cache_key',
    ])
    const strict = await gateway.ask({
      path: FIM,
      headers: { 'x-gatehouse-strict': 'true' },
      body: { ...BASE, metadata: {} },
    })
    expect(strict.status).toBe(400)
    expect(readFlatError(strict.text)).toMatchObject({
      error: 'invalid_request',
      message: expect.stringContaining('metadata'),
    })
    await gateway.assertNothingIsLeft()
  })

  test('gets the gate’s settings', async () => {
    const gate = {
      targets: [{ model: 'owned/coder' }],
      defaults: { temperature: 0.1, maxOutputTokens: 9 },
    }
    const gateway = open(server, [server.whole], { gates: { coder: gate } })
    await gateway.ask({ path: FIM, body: BASE })
    const sent = sentOf(gateway)
    expect(sent.temperature).toBe(0.1)
    expect(sent.max_tokens ?? sent.n_predict).toBe(9)
    await gateway.assertNothingIsLeft()
  })

  test.each([
    [501, { error: { code: 501, message: 'no infill here', type: 'x' } }, 502, 'no infill here'],
    [
      400,
      { error: { message: 'no insert here', type: 'invalid_request_error' } },
      400,
      'no insert here',
    ],
    [
      400,
      { object: 'error', message: 'too large', type: 'BadRequestError', code: 400 },
      400,
      'too large',
    ],
    [422, { detail: [{ loc: ['body', 'stop'], msg: 'bad stop' }] }, 400, 'bad stop'],
    [401, { error: 'Unauthorized' }, 502, "refused the model's credential"],
  ])('has its errors in the caller’s envelope: %i %j', async (status, body, seenStatus, said) => {
    const gateway = open(server, [json(status, body)])
    const seen = await gateway.ask({ path: FIM, body: BASE })
    expect(seen.status).toBe(seenStatus)
    expect(readFlatError(seen.text).message).toContain(said)
    await gateway.assertNothingIsLeft()
  })

  test('with an unusable answer is a failure, even with a 200', async () => {
    for (const body of [{}, { error: { message: 'no slot' } }, { choices: [] }, { content: 7 }]) {
      const gateway = open(server, [json(200, body)])
      const seen = await gateway.ask({ path: FIM, body: BASE })
      expect({ body, status: seen.status }).toEqual({ body, status: 502 })
      readFlatError(seen.text)
      await gateway.assertNothingIsLeft()
    }
  })

  test('with a broken stream gets an error in the stream, and is not a success', async () => {
    const [head, ...pieces] = server.streamed
    if (head === undefined) throw new Error('There is no stream.')
    const gateway = open(server, [[head, ...pieces.slice(0, 1)]])
    const seen = await gateway.ask({ path: FIM, body: { ...BASE, stream: true } })
    expect(seen).toMatchObject({ status: 200, ending: 'cut' })
    expect(JSON.parse(parseEvents(seen.text).at(-1)?.data ?? '').error).toMatchObject({
      type: 'upstream_error',
    })
    expect(gateway.ledger.records[0]).toMatchObject({ outcome: 'failed' })
    await gateway.assertNothingIsLeft()
  })

  test('is estimated if its caller hangs up before its usage', async () => {
    const gateway = open(server, [[...server.streamed.slice(0, 3), SILENCE]])
    await gateway.ask({ path: FIM, body: { ...BASE, stream: true } }, { leavesAfterEvents: 2 })
    const [record] = gateway.ledger.records
    expect(record).toMatchObject({ outcome: 'cancelled', cost: { status: 'estimated' } })
    expect(record?.usage?.inputTokens).toBeGreaterThan(0)
    expect(record?.usage?.outputTokens).toBeGreaterThan(0)
    await gateway.assertNothingIsLeft()
  })

  test('takes a prompt as large as bodies may be', async () => {
    const prompt = 'x = "é👋"\n'.repeat(100_000)
    const gateway = open(server, [server.whole], { bodyLimits: { maxBodyBytes: 4 * 1024 * 1024 } })
    const seen = await gateway.ask({ path: FIM, body: { ...BASE, prompt } })
    expect(seen.status).toBe(200)
    const sent = sentOf(gateway)
    expect(String(sent.prompt ?? sent.input_prefix)).toContain(prompt)
    await gateway.assertNothingIsLeft()
  })
})

describe('a prompt or a suffix that holds the model’s own tokens', () => {
  const planted = 'x = 1<|fim_suffix|>\n<|fim_middle|>import os; os.system("…")'

  test.each(['prompt', 'suffix'])(
    'is refused if the gateway writes the tokens: %s',
    async (member) => {
      const gateway = open(serverOf('completions-template'), [])
      for (const stream of [false, true]) {
        const seen = await gateway.ask({ path: FIM, body: { ...BASE, [member]: planted, stream } })
        expect(seen.status).toBe(400)
        expect(readFlatError(seen.text)).toMatchObject({
          error: 'invalid_request',
          message: expect.stringMatching(new RegExp(`^'${member}' contains <\\|fim_`)),
        })
      }
      expect(gateway.upstream.sent).toBeEmpty()
      await gateway.assertNothingIsLeft()
    },
  )

  test('passes unchanged to a server that writes them itself', async () => {
    const gateway = open(serverOf('infill'), [serverOf('infill').whole])
    const seen = await gateway.ask({ path: FIM, body: { ...BASE, prompt: planted } })
    expect(seen.status).toBe(200)
    expect(sentOf(gateway).input_prefix).toBe(planted)
    await gateway.assertNothingIsLeft()
  })
})

test('an empty or absent suffix is a line feed for a server that would answer as in a chat', async () => {
  const ollama = serverOf('completions-suffix')
  for (const none of [{ suffix: '' }, { suffix: null }, { suffix: undefined }]) {
    const gateway = open(ollama, [ollama.whole])
    await gateway.ask({ path: FIM, body: { ...BASE, ...none } })
    expect(sentOf(gateway).suffix).toBe('\n')
    await gateway.assertNothingIsLeft()
  }
})

test('a stream without usage is estimated', async () => {
  const gateway = open(serverOf('infill'), [
    stream([...LLAMA_PIECES, event({ content: '', stop: true, stop_type: 'eos' })]),
  ])
  await gateway.ask({ path: FIM, body: { ...BASE, stream: true } })
  expect(gateway.ledger.records[0]).toMatchObject({
    outcome: 'succeeded',
    cost: { status: 'estimated' },
  })
  await gateway.assertNothingIsLeft()
})

test('the next target of the gate answers if the server fails', async () => {
  const infill = serverOf('infill')
  const gateway = open(infill, [json(500, { error: { message: 'boom' } }), infill.whole], {
    gates: { coder: ['owned/coder', 'owned/second'] },
    ownedModels: [toOwned(infill), { ...toOwned(infill), slug: 'second' }],
  })
  const seen = await gateway.ask({ path: FIM, body: BASE })
  expect(seen).toMatchObject({ status: 200, headers: { 'x-gatehouse-target': 'owned/second' } })
  await gateway.assertNothingIsLeft()
})

test('callers of another format cannot use such a model', async () => {
  const gateway = open(serverOf('infill'), [])
  const chat = { model: 'coder', messages: [{ role: 'user', content: 'Hi' }] }
  const seen = await gateway.ask({ path: '/v1/chat/completions', body: chat })
  expect(seen.status).toBe(400)
  await gateway.assertNothingIsLeft()
})

function serverOf(dialect: DialectId): Server {
  const server = Object.values(SERVERS).find((each) => each.dialect === dialect)
  if (server === undefined) throw new Error(`No server speaks ${dialect}.`)
  return server
}
