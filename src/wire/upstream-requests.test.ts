import { describe, expect, test } from 'bun:test'
import type { DialectId } from '../core/dialects.ts'
import type {
  AssistantPart,
  ChatMessage,
  ChatRequest,
  JsonRecord,
  JsonValue,
  UserPart,
} from './chat-request.ts'
import { CHAT_UPSTREAMS, chatCodecOf } from './chat-upstreams.fixture.ts'
import type { Feature, ModelTraits } from './codec.ts'
import { isRecord } from './read-json.ts'

const text = (words: string, hint: object = {}) => ({ type: 'text' as const, text: words, ...hint })
const user = (...content: UserPart[]): ChatMessage => ({ role: 'user', content })
const assistant = (...content: AssistantPart[]): ChatMessage => ({ role: 'assistant', content })
const call = (hint: object = {}) =>
  ({ type: 'tool-call', id: 't12345678', name: 'f', arguments: '{}', ...hint }) as const
const result = (members: object = {}, hint: object = {}): ChatMessage => ({
  ...{ role: 'tool', callId: 't12345678', content: [text('so', hint)] },
  ...members,
})

function encode(id: DialectId, members: Partial<ChatRequest>, traits: ModelTraits = {}) {
  const codec = chatCodecOf(id)
  const request: ChatRequest = {
    ...{
      messages: [user(text('Hi'))],
      stream: false,
      extra: {},
      family: 'gatehouse-chat',
      ignored: [],
    },
    ...members,
  }
  return codec.encodeRequest(request, { model: 'm', traits, sealOrigin: 'o' })
}

const schema = { type: 'object' }
const FULL: Partial<ChatRequest> = {
  ...{ maxOutputTokens: 2000, temperature: 0.5, topP: 0.9, topK: 3, stop: ['x'], seed: 7 },
  ...{
    presencePenalty: 0.1,
    frequencyPenalty: 0.2,
    logprobs: true,
    topLogprobs: 2,
    parallelToolCalls: false,
  },
  tools: [{ name: 'f', description: 'd', parameters: schema, strict: true }],
  toolChoice: { type: 'auto' },
  responseFormat: { type: 'json-schema', name: 'n', description: 'd', schema, strict: true },
  ...{ user: 'u', metadata: { a: 'b' }, serviceTier: 'flex', promptCacheKey: 'k', stream: true },
  extra: { x: 1 },
}

interface Encoded {
  readonly id: DialectId
  /** The member that contains the messages. */
  readonly messages: string
  readonly body: JsonRecord
  readonly ignored: readonly Feature[]
}

const functionOf = (members: object) => ({ type: 'function', function: members })
const f = { name: 'f', description: 'd', parameters: schema }
const namedFormat = { name: 'n', description: 'd', schema, strict: true }
const SAMPLING = { temperature: 0.5, top_p: 0.9 }
const PENALTIES = { presence_penalty: 0.1, frequency_penalty: 0.2 }
const TABLE: readonly Encoded[] = [
  {
    id: 'openai-chat',
    messages: 'messages',
    body: {
      ...{ model: 'm', ...SAMPLING, ...PENALTIES, max_tokens: 2000, stop: ['x'], seed: 7 },
      ...{
        logprobs: true,
        top_logprobs: 2,
        tools: [functionOf({ ...f, strict: true })],
        tool_choice: 'auto',
      },
      parallel_tool_calls: false,
      response_format: { type: 'json_schema', json_schema: namedFormat },
      ...{ user: 'u', metadata: { a: 'b' }, prompt_cache_key: 'k' },
      ...{ stream: true, stream_options: { include_usage: true } },
    } as JsonRecord,
    ignored: ['serviceTier', 'topK'],
  },
  {
    id: 'openai-responses',
    messages: 'input',
    body: {
      ...{ model: 'm', ...SAMPLING, max_output_tokens: 2000, top_logprobs: 2 },
      include: ['message.output_text.logprobs'],
      tools: [{ type: 'function', ...f, strict: true }],
      ...{ tool_choice: 'auto', parallel_tool_calls: false },
      text: { format: { type: 'json_schema', ...namedFormat } },
      ...{ user: 'u', metadata: { a: 'b' }, prompt_cache_key: 'k', stream: true, store: false },
    },
    ignored: ['topK', 'stop', 'seed', 'presencePenalty', 'frequencyPenalty', 'serviceTier'],
  },
  {
    id: 'anthropic-messages',
    messages: 'messages',
    body: {
      ...{ model: 'm', ...SAMPLING, max_tokens: 2000, top_k: 3, stop_sequences: ['x'] },
      tools: [{ name: 'f', description: 'd', input_schema: schema, strict: true }],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      output_config: { format: { type: 'json_schema', schema } },
      ...{ metadata: { user_id: 'u' }, stream: true },
    },
    ignored: [
      ...([
        'seed',
        'presencePenalty',
        'frequencyPenalty',
        'logprobs',
        'topLogprobs',
        'metadata',
      ] as const),
      ...(['promptCacheKey', 'serviceTier'] as const),
    ],
  },
  {
    id: 'gemini-generate-content',
    messages: 'contents',
    body: {
      generationConfig: {
        ...{
          maxOutputTokens: 2000,
          temperature: 0.5,
          topP: 0.9,
          topK: 3,
          stopSequences: ['x'],
          seed: 7,
        },
        ...{ presencePenalty: 0.1, frequencyPenalty: 0.2 },
        ...{ responseMimeType: 'application/json', responseJsonSchema: schema },
      },
      tools: [
        { functionDeclarations: [{ name: 'f', description: 'd', parametersJsonSchema: schema }] },
      ],
      toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
    },
    ignored: [
      ...([
        'logprobs',
        'topLogprobs',
        'user',
        'metadata',
        'serviceTier',
        'promptCacheKey',
      ] as const),
      ...(['parallelToolCalls', 'tool.strict'] as const),
    ],
  },
  {
    id: 'cohere-chat',
    messages: 'messages',
    body: {
      ...{
        model: 'm',
        max_tokens: 2000,
        temperature: 0.5,
        p: 0.9,
        k: 3,
        stop_sequences: ['x'],
        seed: 7,
      },
      ...{ ...PENALTIES, logprobs: true, tools: [functionOf(f)], strict_tools: true, stream: true },
    } as JsonRecord,
    ignored: [
      ...(['topLogprobs', 'user', 'metadata', 'serviceTier', 'promptCacheKey'] as const),
      ...(['responseFormat', 'parallelToolCalls'] as const),
    ],
  },
  {
    id: 'mistral-chat',
    messages: 'messages',
    body: {
      ...{ model: 'm', ...SAMPLING, ...PENALTIES, max_tokens: 2000, stop: ['x'], random_seed: 7 },
      tools: [functionOf({ ...f, strict: true })],
      ...{ tool_choice: 'auto', parallel_tool_calls: false },
      response_format: { type: 'json_schema', json_schema: namedFormat },
      ...{ metadata: { a: 'b' }, prompt_cache_key: 'k', stream: true },
    } as JsonRecord,
    ignored: ['topK', 'logprobs', 'topLogprobs', 'user', 'serviceTier'],
  },
  {
    id: 'bedrock-converse',
    messages: 'messages',
    body: {
      inferenceConfig: { maxTokens: 2000, stopSequences: ['x'], temperature: 0.5, topP: 0.9 },
      toolConfig: {
        tools: [
          {
            toolSpec: { name: 'f', description: 'd', inputSchema: { json: schema }, strict: true },
          },
        ],
        toolChoice: { auto: {} },
      },
      outputConfig: {
        textFormat: {
          type: 'json_schema',
          structure: { jsonSchema: { schema: '{"type":"object"}', name: 'n', description: 'd' } },
        },
      },
    },
    ignored: [
      ...([
        'topK',
        'seed',
        'presencePenalty',
        'frequencyPenalty',
        'logprobs',
        'topLogprobs',
      ] as const),
      ...(['user', 'metadata', 'promptCacheKey', 'serviceTier', 'parallelToolCalls'] as const),
    ],
  },
]
const IDS = TABLE.map(({ id }) => id)

test('the table lists every dialect with an upstream codec', () => {
  expect(IDS.toSorted()).toEqual(CHAT_UPSTREAMS.toSorted())
})

describe.each(TABLE)('$id', ({ id, messages, body, ignored }) => {
  test('has every setting under its name, or names it', () => {
    const encoded = encode(id, FULL)
    const { [messages]: _, ...settings } = encoded.body
    expect(settings).toEqual(body)
    expect(encoded.ignored.toSorted()).toEqual(ignored.toSorted())
  })

  test('has no members beyond the request’s', () => {
    const { body: bare, ignored: none } = encode(id, {})
    expect(none).toEqual([])
    const required = ['model', messages, 'store', 'max_tokens']
    expect(Object.keys(bare).filter((name) => !required.includes(name))).toEqual([])
  })

  test('treats the text format as no format, and takes tools without a description or arguments', () => {
    const plain = encode(id, { responseFormat: { type: 'text' } })
    expect(plain.ignored).toEqual([])
    expect(JSON.stringify(plain.body)).not.toContain('json')
    const { body: offered } = encode(id, { tools: [{ name: 'f' }] })
    expect(JSON.stringify(offered)).not.toMatch(/description|undefined|null/)
    expect(JSON.stringify(offered)).toContain('"name":"f"')
  })

  // The required tool does not exist.
  test.each([{ type: 'required' }, { type: 'tool', name: 'f' }] as const)(
    'never sends a required tool choice as an optional one: %j',
    (toolChoice) => {
      const offered = encode(id, { tools: [{ name: 'f' }], toolChoice }).body
      const wished = encode(id, { tools: [{ name: 'f' }], toolChoice: { type: 'auto' } }).body
      expect(offered).not.toEqual(wished)
    },
  )
})

const pdf = { type: 'data' as const, mediaType: 'application/pdf', base64: 'AA==' }
const png = { type: 'data' as const, mediaType: 'image/png', base64: 'AA==' }
const seal = { seal: { type: 'encrypted' as const, value: 'e', origin: 'elsewhere' } }
/** A feature that a message or a tool may have. */
interface Place {
  readonly feature: Feature
  readonly of: string
  readonly hint: object
  readonly write: (hint: object) => Partial<ChatRequest>
}

const QUESTION = user(text('q'))
const CACHED: Readonly<Record<string, Place['write']>> = {
  instructions: (hint) => ({
    messages: [{ role: 'system', content: [text('a', hint)] }, QUESTION],
  }),
  'a user’s words': (hint) => ({ messages: [user(text('a', hint))] }),
  'an image': (hint) => ({ messages: [user({ type: 'image', source: png, ...hint })] }),
  'a file': (hint) => ({ messages: [user({ type: 'file', source: pdf, ...hint })] }),
  'an answer': (hint) => ({
    messages: [user(text('a')), assistant(text('b', hint)), user(text('c'))],
  }),
  'a call': (hint) => ({ messages: [QUESTION, assistant(call(hint)), result()] }),
  'a result': (hint) => ({ messages: [QUESTION, assistant(call()), result(hint)] }),
  'a result’s words': (hint) => ({ messages: [QUESTION, assistant(call()), result({}, hint)] }),
  'a tool': (hint) => ({ tools: [{ name: 'f', ...hint }] }),
}
const PLACES: readonly Place[] = [
  ...Object.entries(CACHED).map(([of, write]): Place => {
    return { feature: 'cache', of, hint: { cache: { ttl: '1h' } }, write }
  }),
  {
    ...{ feature: 'message.name', of: 'a user', hint: { name: 'ann' } },
    write: (hint) => ({ messages: [{ ...user(text('a')), ...hint }] }),
  },
  {
    ...{ feature: 'message.name', of: 'an assistant', hint: { name: 'bot' } },
    write: (hint) => ({
      messages: [QUESTION, { ...assistant(text('a')), ...hint }, user(text('b'))],
    }),
  },
  {
    ...{ feature: 'image.detail', of: 'an image', hint: { detail: 'low' } },
    write: (hint) => ({ messages: [user({ type: 'image', source: png, ...hint })] }),
  },
  {
    ...{ feature: 'toolResult.isError', of: 'a result', hint: { isError: true } },
    write: (hint) => ({ messages: [QUESTION, assistant(call()), result(hint)] }),
  },
  {
    ...{ feature: 'tool.strict', of: 'a tool', hint: { strict: true } },
    write: (hint) => ({ tools: [{ name: 'f', ...hint }] }),
  },
  {
    ...{ feature: 'seals', of: 'a call', hint: seal },
    write: (hint) => ({ messages: [QUESTION, assistant(call(hint)), result()] }),
  },
  {
    ...{ feature: 'seals', of: 'reasoning', hint: seal },
    write: (hint) => ({
      messages: [
        QUESTION,
        assistant({ type: 'reasoning', text: '', ...hint }, text('a')),
        user(text('b')),
      ],
    }),
  },
]

describe.each(IDS)('%s names every loss:', (id) => {
  // Cohere refuses a document as a whole.
  const places = PLACES.filter(({ of }) => id !== 'cohere-chat' || of !== 'a file')

  test.each(places)('$feature of $of is sent or named', ({ feature, hint, write }) => {
    const plain = encode(id, write({}))
    const asked = encode(id, write(hint))
    expect(plain.ignored).toEqual([])
    if (JSON.stringify(asked.body) === JSON.stringify(plain.body))
      expect(asked.ignored).toEqual([feature])
    else expect(asked.ignored.filter((other) => other !== feature)).toEqual([])
  })

  test('an image with the default detail has nothing to name', () => {
    const part: UserPart = { type: 'image', source: png, detail: 'auto' }
    expect(encode(id, { messages: [user(part)] }).ignored).toEqual([])
  })
})

test.each(['anthropic-messages', 'bedrock-converse'] as const)(
  '%s, which checks signatures, gets no unsigned thinking, and names it',
  (id) => {
    const hm: AssistantPart = { type: 'reasoning', text: 'hm' }
    const { body, ignored } = encode(id, {
      messages: [user(text('q')), assistant(hm, text('a')), user(text('b'))],
    })
    expect(ignored).toEqual(['reasoningParts'])
    expect(JSON.stringify(body)).not.toContain('hm')
  },
)

describe('reasoning', () => {
  const WORDS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'unheard-of'] as const
  const BUDGETS = [0, 1024, 2048, 2049, 8192, 8193] as const
  const THREE = ['low', 'low', 'low', 'medium', 'medium', 'high']
  interface Asked {
    readonly id: DialectId
    readonly mode: ModelTraits['reasoning'] & string
    /** The member of the body that asks for reasoning. */
    readonly at: string
    /** The expected value for each word, and for each budget. */
    readonly byWord: readonly unknown[]
    readonly byBudget: readonly unknown[]
  }
  const TOKENS = [undefined, 1024, 2048, 8192, 16_384, 32_000, 32_000, undefined]
  const EFFORTS = [undefined, 'low', 'low', 'medium', 'high', 'xhigh', 'max', undefined]
  const FIELDS = 'additionalModelRequestFields'
  const THINKING = 'generationConfig.thinkingConfig'
  const enabled = (token_budget?: number) => ({
    type: 'enabled',
    ...(token_budget === undefined ? {} : { token_budget }),
  })
  const ASKED: readonly Asked[] = [
    {
      ...{ id: 'openai-chat', mode: 'effort', at: 'reasoning_effort', byBudget: THREE },
      byWord: WORDS,
    },
    {
      ...{ id: 'openai-responses', mode: 'effort', at: 'reasoning.effort', byBudget: THREE },
      byWord: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'xhigh', 'unheard-of'],
    },
    {
      ...{ id: 'anthropic-messages', mode: 'budget', at: 'thinking.budget_tokens', byWord: TOKENS },
      byBudget: [1024, ...BUDGETS.slice(1)],
    },
    {
      ...{ id: 'anthropic-messages', mode: 'adaptive', at: 'output_config.effort' },
      ...{ byWord: EFFORTS, byBudget: THREE },
    },
    {
      ...{ id: 'gemini-generate-content', mode: 'level', at: `${THINKING}.thinkingLevel` },
      byWord: ['LOW', 'LOW', 'LOW', 'MEDIUM', 'HIGH', 'HIGH', 'HIGH', undefined],
      byBudget: THREE.map((word) => word.toUpperCase()),
    },
    {
      ...{ id: 'gemini-generate-content', mode: 'budget', at: `${THINKING}.thinkingBudget` },
      ...{ byWord: [0, 512, 1024, 8192, 24_576, 24_576, 24_576, undefined], byBudget: BUDGETS },
    },
    {
      ...{ id: 'cohere-chat', mode: 'budget', at: 'thinking' },
      byWord: [
        ...[{ type: 'disabled' }, enabled(512), enabled(1024), enabled(8192)],
        ...[enabled(), enabled(), enabled(), enabled()],
      ],
      byBudget: [{ type: 'disabled' }, ...BUDGETS.slice(1).map(enabled)],
    },
    {
      ...{ id: 'mistral-chat', mode: 'effort', at: 'reasoning_effort' },
      byWord: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'xhigh', undefined],
      byBudget: ['none', ...THREE.slice(1)],
    },
    {
      ...{
        id: 'bedrock-converse',
        mode: 'effort',
        at: `${FIELDS}.reasoning_effort`,
        byBudget: THREE,
      },
      byWord: [undefined, 'low', 'low', 'medium', 'high', 'high', 'high', undefined],
    },
    {
      ...{ id: 'bedrock-converse', mode: 'budget', at: `${FIELDS}.thinking.budget_tokens` },
      ...{ byWord: TOKENS, byBudget: [1024, ...BUDGETS.slice(1)] },
    },
    {
      ...{ id: 'bedrock-converse', mode: 'adaptive', at: `${FIELDS}.output_config.effort` },
      ...{ byWord: EFFORTS, byBudget: THREE },
    },
  ]

  test.each([...ASKED])('is requested from $id by $mode', ({ id, mode, at, byWord, byBudget }) => {
    const ask = (reasoning: NonNullable<ChatRequest['reasoning']>) => {
      const { body, ignored } = encode(id, { reasoning }, { reasoning: mode })
      let found: JsonValue | undefined = body
      for (const step of at.split('.')) found = isRecord(found) ? found[step] : undefined
      return { found, ignored }
    }
    expect<unknown>(WORDS.map((effort) => ask({ effort }).found)).toEqual([...byWord])
    expect<unknown>(BUDGETS.map((budgetTokens) => ask({ budgetTokens }).found)).toEqual([
      ...byBudget,
    ])
    for (const [index, effort] of WORDS.entries())
      if (effort !== 'none' && byWord[index] === undefined)
        expect(ask({ effort }).ignored).toEqual(['reasoning'])
    expect(ask({ effort: 'low' }).ignored).toEqual([])
  })

  test.each(IDS)(
    'is named by %s for a model without reasoning, unless the effort is none',
    (id) => {
      expect(encode(id, { reasoning: { effort: 'low' } }).ignored).toEqual(['reasoning'])
      expect(encode(id, { reasoning: { budgetTokens: 2048 } }).ignored).toEqual(['reasoning'])
      expect(encode(id, { reasoning: { effort: 'none' } }).ignored).toEqual([])
      expect(encode(id, { reasoning: { effort: 'none' } }).body).toEqual(encode(id, {}).body)
    },
  )
})

describe.each(IDS.filter((id) => id !== 'bedrock-converse'))('a stream of %s', (id) => {
  const decode = (bytes: string) => {
    const decoder = chatCodecOf(id).createEventDecoder()
    return [...decoder.push(Buffer.from(bytes)), ...decoder.end()]
  }

  test('without events is empty and not complete', () => {
    expect(decode('')).toEqual([])
    expect(decode(': comment\n\ndata:\n\ndata:  \n\nevent: x\n\n')).toEqual([])
  })

  test.each(['{"half', '[]', '7', 'oops'])('with %s as an event is broken', (data) => {
    expect(decode(`data: ${data}\n\n`)).toEqual([
      { type: 'error', message: 'The upstream sent an event that is not valid JSON.' },
    ])
  })
})
