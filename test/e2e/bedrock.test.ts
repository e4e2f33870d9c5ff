/**
 * An unmodified OpenAI client whose gate's target is Bedrock: loops and binary streams, by API key
 * and by AWS signature.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { AWS_STREAM_HEADERS, awsEvent, awsException } from '../support/aws-event-stream.ts'
import { awsSignatureOf } from '../support/aws-signature.ts'
import { createGate, waitForLogRow } from '../support/control-plane.ts'
import {
  type CapturedRequest,
  type RawUpstream,
  startRawUpstream,
} from '../support/raw-upstream.ts'
import { jsonAnswer, streamAnswer } from '../support/scripted-answers.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

const API_KEY = 'ABSKplanted-bedrock-0123456789'
const SIGNING = {
  accessKeyId: 'ASIAPLANTED123456789',
  secretAccessKey: 'planted/secret+0123456789abcdefghijklmnop',
  sessionToken: 'planted-session-token/0123456789==',
}
const MODEL = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const PROFILE =
  'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-7'

interface Scene {
  readonly name: string
  readonly credential: string
  checkCredential(request: CapturedRequest): Promise<void>
}

const SCENES: readonly Scene[] = [
  {
    name: 'an API key',
    credential: API_KEY,
    checkCredential: async ({ headers }) => expect(headers.authorization).toBe(`Bearer ${API_KEY}`),
  },
  {
    name: 'an AWS credential',
    credential: Object.values(SIGNING).join(':'),
    checkCredential: async (request) => {
      expect(request.headers['x-amz-security-token']).toBe(SIGNING.sessionToken)
      expect(request.headers.authorization).toBe(
        await awsSignatureOf(request, {
          region: 'us-east-1',
          service: 'bedrock',
          credentials: SIGNING,
        }),
      )
      expect(request.headers.authorization).toContain(
        'content-type;host;x-amz-date;x-amz-security-token',
      )
      expect(request.head).not.toContain(SIGNING.secretAccessKey)
    },
  },
]

const tools: OpenAI.Chat.ChatCompletionTool[] = [
  { type: 'function', function: { name: 'weather', parameters: { type: 'object' } } },
  { type: 'function', function: { name: 'now' } },
]
const question: OpenAI.Chat.ChatCompletionMessageParam = {
  role: 'user',
  content: 'Weather and time?',
}

interface Block {
  readonly text?: string
  readonly reasoningContent?: {
    readonly reasoningText: { readonly text: string; readonly signature: string }
  }
  readonly toolUse?: { readonly toolUseId: string; readonly name: string; readonly input: object }
}
const thinking = (signature: string): Block => ({
  reasoningContent: { reasoningText: { text: 'Two calls, then.', signature } },
})
const toolUse = (toolUseId: string, name: string, input: object): Block => ({
  toolUse: { toolUseId, name, input },
})
const USAGE = {
  inputTokens: 10,
  cacheReadInputTokens: 80,
  cacheWriteInputTokens: 10,
  outputTokens: 7,
}
const answer = (content: readonly Block[], stopReason: string) => ({
  output: { message: { role: 'assistant', content } },
  stopReason,
  usage: USAGE,
  metrics: { latencyMs: 1 },
})
const FIRST = [
  thinking('c2lnbmF0dXJl'),
  toolUse('tooluse_1', 'weather', { city: 'Ulm' }),
  toolUse('tooluse_2', 'now', {}),
]
const SECOND = [thinking('c2Vjb25k'), toolUse('tooluse_3', 'weather', { city: 'Bonn' })]
const ANSWERS = [
  answer(FIRST, 'tool_use'),
  answer(SECOND, 'tool_use'),
  answer([{ text: 'Sunny.' }], 'end_turn'),
] as const

function asStream({ output, stopReason }: (typeof ANSWERS)[number]): Uint8Array[] {
  const blocks = output.message.content.flatMap((block, contentBlockIndex) => {
    const delta = (members: object) =>
      awsEvent('contentBlockDelta', { contentBlockIndex, delta: members, p: 'abcdefghijkl' })
    const stop = awsEvent('contentBlockStop', { contentBlockIndex })
    if (block.text !== undefined) return [delta({ text: block.text }), stop]
    if (block.reasoningContent !== undefined) {
      const { text, signature } = block.reasoningContent.reasoningText
      return [
        delta({ reasoningContent: { text } }),
        delta({ reasoningContent: { signature } }),
        stop,
      ]
    }
    const { input, ...named } = block.toolUse ?? { input: {} }
    const written = JSON.stringify(input)
    const pieces = written === '{}' ? [] : [written.slice(0, 4), written.slice(4)]
    return [
      awsEvent('contentBlockStart', { contentBlockIndex, start: { toolUse: named } }),
      ...pieces.map((piece) => delta({ toolUse: { input: piece } })),
      stop,
    ]
  })
  return [
    awsEvent('messageStart', { role: 'assistant' }),
    ...blocks,
    awsEvent('messageStop', { stopReason }),
    awsEvent('metadata', { usage: USAGE, metrics: { latencyMs: 1 } }),
  ]
}

const binary = (pieces: readonly Uint8Array[]) =>
  streamAnswer(pieces, { headers: AWS_STREAM_HEADERS })

/**
 * What a call was refused with. The SDK's promises are lazy: awaiting is what sends the request.
 */
async function failureOf(call: PromiseLike<unknown>): Promise<unknown> {
  try {
    await call
  } catch (failure) {
    return failure
  }
  throw new Error('the call succeeded')
}

let upstream: RawUpstream
beforeAll(async () => {
  upstream = await startRawUpstream()
})
afterEach(() => upstream.reset())
afterAll(() => upstream.stop())
const sent = () => JSON.parse(upstream.last().text)

describe.each(SCENES)('with $name', ({ credential, checkCredential }) => {
  let gatehouse: Gatehouse
  let openai: OpenAI
  beforeAll(async () => {
    gatehouse = await startGatehouse({
      environment: { BEDROCK_BASE_URL: upstream.url, BEDROCK_API_KEY: credential },
    })
    await createGate(gatehouse, 'claude', [`bedrock/${MODEL}`])
    await createGate(gatehouse, 'profile', [`bedrock/${PROFILE}`])
    openai = new OpenAI({ baseURL: `${gatehouse.url}/v1`, apiKey: gatehouse.key, maxRetries: 0 })
  })
  afterAll(async () => {
    const output = gatehouse.output()
    for (const secret of [API_KEY, SIGNING.secretAccessKey, SIGNING.sessionToken])
      expect(output).not.toContain(secret)
    await gatehouse.remove()
  })

  async function runLoop(
    ask: (history: OpenAI.Chat.ChatCompletionMessageParam[]) => Promise<OpenAI.Chat.ChatCompletion>,
  ): Promise<string | null | undefined> {
    const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [question]
    for (let round = 0; round < 3; round += 1) {
      const message = (await ask(messages)).choices[0]?.message
      if (message === undefined) throw new Error('no answer')
      messages.push(message)
      for (const call of message.tool_calls ?? [])
        messages.push({
          role: 'tool',
          tool_call_id: call.id,
          content: `result of ${call.id.slice(0, 9)}`,
        })
      for (const request of upstream.requests) await checkCredential(request)
    }
    return messages.findLast((message) => message.role === 'assistant')?.content as string
  }

  function expectWholeHistory(): void {
    const told = (ids: readonly string[]) => ({
      role: 'user',
      content: ids.map((toolUseId) => ({
        toolResult: { toolUseId, content: [{ text: `result of ${toolUseId}` }] },
      })),
    })
    expect(sent()).toMatchObject({
      messages: [
        { role: 'user', content: [{ text: 'Weather and time?' }] },
        { role: 'assistant', content: FIRST },
        told(['tooluse_1', 'tooluse_2']),
        { role: 'assistant', content: SECOND },
        told(['tooluse_3']),
      ],
      inferenceConfig: { maxTokens: 16_384 + 8192 },
      additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 16_384 } },
    })
  }

  test('a tool loop of three turns keeps signed reasoning and parallel calls', async () => {
    for (const whole of ANSWERS) upstream.answerOnce(jsonAnswer(200, whole))
    const last = await runLoop((messages) =>
      openai.chat.completions.create({
        model: 'claude',
        reasoning_effort: 'high',
        tools,
        messages,
      }),
    )
    expect(last).toBe('Sunny.')
    expect(upstream.last().path).toBe(`/model/${encodeURIComponent(MODEL)}/converse`)
    expectWholeHistory()
  })

  test('the same loop streamed through the SDK’s own accumulator', async () => {
    for (const whole of ANSWERS) upstream.answerOnce(binary(asStream(whole)))
    const last = await runLoop((messages) =>
      openai.chat.completions
        .stream({ model: 'claude', reasoning_effort: 'high', tools, messages })
        .finalChatCompletion(),
    )
    expect(last).toBe('Sunny.')
    expect(upstream.last().path).toBe(`/model/${encodeURIComponent(MODEL)}/converse-stream`)
    expectWholeHistory()
  })

  test('a model named by an ARN stays one part of the path', async () => {
    upstream.answer(jsonAnswer(200, ANSWERS[2]))
    await openai.chat.completions.create({
      model: 'profile',
      messages: [question],
      reasoning_effort: 'low',
    })
    expect(upstream.last().path).toBe(
      '/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Ainference-profile%2Fus.anthropic.claude-opus-4-7/converse',
    )
    expect(sent().additionalModelRequestFields).toEqual({
      thinking: { type: 'adaptive' },
      output_config: { effort: 'low' },
    })
    await checkCredential(upstream.last())
  })

  test('usage is streamed on request, and counted with cached tokens', async () => {
    upstream.answer(binary(asStream(ANSWERS[2])))
    const { data, response } = await openai.chat.completions
      .create({
        model: 'claude',
        stream: true,
        stream_options: { include_usage: true },
        messages: [question],
        seed: 1,
      })
      .withResponse()
    const chunks: OpenAI.Chat.ChatCompletionChunk[] = []
    for await (const chunk of data) chunks.push(chunk)
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: {
        prompt_tokens: 100,
        completion_tokens: 7,
        prompt_tokens_details: { cached_tokens: 80 },
      },
    })
    expect(response.headers.get('content-type')).toStartWith('text/event-stream')
    expect(response.headers.get('x-gatehouse-ignored')).toBe('seed')
    expect(
      await waitForLogRow(gatehouse, response.headers.get('x-request-id') ?? ''),
    ).toMatchObject({
      target: `bedrock/${MODEL}`,
      usage: { inputTokens: 100, outputTokens: 7, cachedInputTokens: 80 },
    })
  })

  test('a stream that is cut, damaged or reports a failure is a failure for the caller', async () => {
    const pieces = asStream(ANSWERS[2])
    const beginning = pieces.slice(0, 2)
    const failure = awsException('throttlingException', 'Too many tokens')
    const read = async () => {
      const stream = await openai.chat.completions.create({
        model: 'claude',
        stream: true,
        messages: [question],
      })
      for await (const _ of stream);
    }
    upstream.answerOnce(binary(beginning))
    expect(String(await failureOf(read()))).toContain('before it was complete')
    upstream.answerOnce(binary([...beginning, failure]))
    expect(String(await failureOf(read()))).toContain('Too many tokens')
    const damaged = Buffer.from(pieces.at(-1) ?? [])
    damaged[damaged.length - 1] = (damaged.at(-1) ?? 0) ^ 1
    upstream.answerOnce(binary([...beginning, damaged]))
    expect(String(await failureOf(read()))).toContain('a damaged event')
    upstream.answerOnce(binary([failure]))
    expect(await failureOf(read())).toMatchObject({ status: 429 })
    upstream.answerOnce(streamAnswer(pieces))
    expect(String(await failureOf(read()))).toContain('text/event-stream')
  })

  test('a caller of the Messages interface keeps its cache’s borders, and its thinking, in a loop', async () => {
    const ask = async (messages: object[]) => {
      const response = await fetch(`${gatehouse.url}/v1/messages`, {
        method: 'POST',
        headers: { 'x-api-key': gatehouse.key, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'claude',
          max_tokens: 9000,
          thinking: { type: 'enabled', budget_tokens: 2000 },
          system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
          tools: [{ name: 'weather', input_schema: { type: 'object' } }],
          messages,
        }),
      })
      return (await response.json()) as {
        content: { type: string; id?: string }[]
        stop_reason: string
      }
    }
    upstream.answerOnce(jsonAnswer(200, ANSWERS[1]))
    upstream.answerOnce(jsonAnswer(200, ANSWERS[2]))
    const asked = { role: 'user', content: 'Weather?' }
    const first = await ask([asked])
    expect(first).toMatchObject({
      content: [
        { type: 'thinking', thinking: 'Two calls, then.' },
        { type: 'tool_use', name: 'weather' },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: expect.any(Number), output_tokens: 7 },
    })
    const results = first.content.flatMap(({ type, id }) =>
      type === 'tool_use' ? [{ type: 'tool_result', tool_use_id: id, content: 'sun' }] : [],
    )
    const second = await ask([
      asked,
      { role: 'assistant', content: first.content },
      { role: 'user', content: results },
    ])
    expect(second).toMatchObject({
      content: [{ type: 'text', text: 'Sunny.' }],
      stop_reason: 'end_turn',
    })
    expect(sent()).toMatchObject({
      system: [{ text: 'Be brief.' }, { cachePoint: { type: 'default' } }],
      messages: [
        { role: 'user' },
        { role: 'assistant', content: SECOND },
        {
          role: 'user',
          content: [{ toolResult: { toolUseId: 'tooluse_3', content: [{ text: 'sun' }] } }],
        },
      ],
      inferenceConfig: { maxTokens: 9000 },
      additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 2000 } },
    })
    await checkCredential(upstream.last())
  })

  test('a refusal keeps its status and its message, without a credential', async () => {
    const echoed = `Malformed: ${credential} ${SIGNING.sessionToken} ${SIGNING.secretAccessKey}`
    upstream.answerOnce(jsonAnswer(400, { message: echoed }))
    const refused = await failureOf(
      openai.chat.completions.create({ model: 'claude', messages: [question] }),
    )
    expect(refused).toMatchObject({ status: 400, error: { type: 'invalid_request_error' } })
    expect(String(refused)).toContain('Malformed')
    for (const secret of credential.split(':')) expect(String(refused)).not.toContain(secret)
    upstream.answerOnce(jsonAnswer(403, { message: echoed }))
    const denied = await failureOf(
      openai.chat.completions.create({ model: 'claude', messages: [question] }),
    )
    expect(denied).toMatchObject({ status: 502, code: 'provider_auth_failed' })
  })
})
