/**
 * Rules of single vendors: a request that a vendor would refuse is adapted and named, or refused
 * with the cause.
 */
import { describe, expect } from 'bun:test'
import { MESSAGES_JSON } from '../support/dialect-samples.ts'
import { json, type Script, stream } from '../support/scripted-upstream.ts'
import { parseEvents } from '../support/server-sent-events.ts'
import {
  CHAT,
  CHAT_ANSWER,
  chatBody,
  type ExpectedRequest,
  GATE,
  runRows,
  type StageRow,
} from '../support/stage-rows.ts'

// Loaded beforehand, because loading takes real time, which the scripted clock ignores.
await import('../../src/net/sign-aws.ts')

const MESSAGES = '/v1/messages'
const CONVERSE_ANSWER = json(200, {
  output: { message: { role: 'assistant', content: [{ text: 'ok' }] } },
  stopReason: 'end_turn',
  usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
})
const MESSAGES_ANSWER = json(200, MESSAGES_JSON)

const NO_DETAILS = { cachedInputTokens: 0, reasoningTokens: 0 }

const lacking =
  (member: string): NonNullable<StageRow['check']> =>
  ({ upstream }) =>
    expect(upstream.sent[0]?.body).not.toContain(`"${member}"`)

const messagesBody = (members: object = {}) => chatBody({ max_tokens: 9, ...members })

describe('Claude from 4.5 on never gets temperature and top_p together', () => {
  const sonnet = 'anthropic/claude-sonnet-4-5'
  const converse = 'bedrock/eu.anthropic.claude-sonnet-4-5-20250929-v1:0'
  const both = { temperature: 0.5, top_p: 0.9 }
  const row = (
    name: string,
    target: string,
    {
      gate = {},
      ...more
    }: Pick<StageRow, 'request'> & {
      gate?: object
      sent: ExpectedRequest[]
      ignored: string | null
      lacks?: string
    },
  ): StageRow => ({
    name,
    gateway: { gates: { [GATE]: { targets: [{ model: target }], ...gate } } },
    ...(more.request === undefined ? {} : { request: more.request }),
    upstream: [target === converse ? CONVERSE_ANSWER : MESSAGES_ANSWER],
    seen: { status: 200, headers: { 'x-gatehouse-ignored': more.ignored } },
    sent: more.sent,
    settled: { outcome: 'succeeded' },
    ...(more.lacks === undefined ? {} : { check: lacking(more.lacks) }),
  })
  const kept = [{ json: { temperature: 0.5 } }]
  runRows([
    row('by a chat caller', sonnet, {
      request: { body: chatBody(both) },
      sent: kept,
      ignored: 'top_p',
      lacks: 'top_p',
    }),
    row('by a chat caller, on Bedrock', converse, {
      request: { body: chatBody(both) },
      sent: [{ json: { inferenceConfig: { temperature: 0.5 } } }],
      ignored: 'top_p',
      lacks: 'topP',
    }),
    row('by a gate that decides both, relayed', sonnet, {
      gate: { defaults: { temperature: 0.5, topP: 0.9 } },
      request: { path: MESSAGES, body: messagesBody() },
      sent: kept,
      ignored: 'top_p',
      lacks: 'top_p',
    }),
    row('by a gate beside its caller’s top_p, relayed', sonnet, {
      gate: { defaults: { temperature: 0.5 } },
      request: { path: MESSAGES, body: messagesBody({ top_p: 0.9 }) },
      sent: kept,
      ignored: 'top_p',
      lacks: 'top_p',
    }),
    row('by a gate that decides top_p beside its caller’s temperature, relayed', sonnet, {
      gate: { defaults: { topP: 0.9 } },
      request: { path: MESSAGES, body: messagesBody({ temperature: 0.5 }) },
      sent: kept,
      ignored: 'top_p',
      lacks: 'top_p',
    }),
    row('by a gate, and a strict call does not fail for it', sonnet, {
      gate: { defaults: { temperature: 0.5 } },
      request: { headers: { 'x-gatehouse-strict': 'true' }, body: chatBody({ top_p: 0.9 }) },
      sent: kept,
      ignored: 'top_p',
      lacks: 'top_p',
    }),
    row('and top_p alone is sent', sonnet, {
      gate: { defaults: { topP: 0.9 } },
      request: { path: MESSAGES, body: messagesBody() },
      sent: [{ json: { top_p: 0.9 } }],
      lacks: 'temperature',
      ignored: null,
    }),
    row('but what its own caller says of both is relayed as it is', sonnet, {
      gate: { defaults: { maxOutputTokens: 5 } },
      request: { path: MESSAGES, body: messagesBody(both) },
      sent: [{ json: both }],
      ignored: 'max_tokens',
    }),
  ])
})

describe('requests that a vendor would refuse are adapted and named, or refused here with the cause', () => {
  const CLAUDE = 'anthropic/claude-sonnet-4-5'
  const CONVERSE = 'bedrock/eu.anthropic.claude-sonnet-4-5-20250929-v1:0'
  const COHERE = 'cohere/command-a'
  const MISTRAL = 'mistral/mistral-large-latest'
  const GEMINI = 'gemini/gemini-2.5-flash'
  const system = { role: 'system', content: 'Be kind.' }
  const assistant = { role: 'assistant', content: 'Hello!' }
  const user = { role: 'user', content: 'hi' }
  const adapted = (
    name: string,
    target: string,
    row: {
      members: object
      answer?: Script
      ignored: string | null
      adapted?: string
      sent: object
      lacks?: string
    },
  ): StageRow => ({
    name: `${name}, to ${target}`,
    gateway: { gates: { [GATE]: [target] } },
    request: { body: chatBody(row.members) },
    upstream: [row.answer ?? MESSAGES_ANSWER],
    seen: {
      status: 200,
      headers: {
        'x-gatehouse-ignored': row.ignored,
        'x-gatehouse-adapted': row.adapted ?? null,
      },
    },
    sent: [{ json: row.sent }],
    settled: { outcome: 'succeeded' },
    ...(row.lacks === undefined ? {} : { check: lacking(row.lacks) }),
  })
  const COHERE_ANSWER = json(200, {
    id: 'c',
    finish_reason: 'COMPLETE',
    message: { role: 'assistant', content: [{ type: 'text', text: 'ok' }] },
    usage: { tokens: { input_tokens: 1, output_tokens: 1 } },
  })
  runRows([
    adapted('a stop text of white space', CLAUDE, {
      members: { stop: '\n' },
      ignored: 'stop',
      sent: {},
      lacks: 'stop_sequences',
    }),
    adapted('one of several stop texts', CLAUDE, {
      members: { stop: ['END', ' \t'] },
      ignored: 'stop',
      sent: { stop_sequences: ['END'] },
    }),
    adapted('a stop text of white space', CONVERSE, {
      members: { stop: ['\n\n', 'END'] },
      answer: CONVERSE_ANSWER,
      ignored: 'stop',
      sent: { inferenceConfig: { stopSequences: ['END'] } },
    }),
    adapted('a conversation that the assistant begins', CONVERSE, {
      members: { messages: [system, assistant, user] },
      answer: CONVERSE_ANSWER,
      ignored: null,
      adapted: 'messages.role',
      sent: {
        messages: [
          { role: 'user', content: [{ text: '.' }] },
          { role: 'assistant', content: [{ text: 'Hello!' }] },
          { role: 'user', content: [{ text: 'hi' }] },
        ],
      },
    }),
    adapted('a temperature beyond the scale', COHERE, {
      members: { temperature: 1.5 },
      answer: COHERE_ANSWER,
      ignored: 'temperature',
      sent: { temperature: 1 },
    }),
    adapted('a prediction', MISTRAL, {
      members: {
        prediction: {
          type: 'content',
          content: [
            { type: 'text', text: 'let ' },
            { type: 'text', text: 'x' },
          ],
        },
      },
      answer: CHAT_ANSWER,
      ignored: null,
      sent: { prediction: { type: 'content', content: 'let x' } },
    }),
    ...[CLAUDE, CONVERSE, COHERE, MISTRAL, GEMINI].map(
      (target): StageRow => ({
        name: `instructions alone, to ${target}`,
        gateway: { gates: { [GATE]: [target] } },
        request: {
          body: chatBody({ messages: [system, { role: 'developer', content: 'Briefly.' }] }),
        },
        seen: {
          status: 400,
          json: {
            error: {
              type: 'invalid_request_error',
              code: 'invalid_value',
              param: 'messages',
              message: expect.stringContaining('contains only instructions'),
            },
          },
        },
        settled: { outcome: 'failed', status: 400, errorKind: 'invalid_request' },
      }),
    ),
  ])

  runRows(
    [
      { path: '/alt/v1/fim/completions', body: { model: GATE, prompt: 'x', stream: null } },
      { path: '/alt/v1/chat/completions', body: chatBody({ stream: null }) },
    ].map((request) => ({
      name: `a stream that is null is not forwarded: ${request.path}`,
      gateway: { gates: { [GATE]: [MISTRAL] } },
      request,
      upstream: [CHAT_ANSWER],
      seen: { status: 200, headers: { 'x-gatehouse-ignored': null } },
      sent: [{}],
      check: lacking('stream'),
      settled: { outcome: 'succeeded' as const, stream: false },
    })),
  )
})

describe('oddities of a vendor’s answer are understood', () => {
  const MISTRAL = 'mistral/mistral-large-latest'
  const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
  const piece = data({
    id: 'c',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta: { content: 'He' }, finish_reason: null }],
  })
  const error = data({
    object: 'error',
    message: 'Busy now.',
    type: 'x',
    param: null,
    code: '3505',
  })
  const DONE = 'data: [DONE]\n\n'
  const streaming = (path: string, members: object = {}) => ({
    gateway: { gates: { [GATE]: [MISTRAL] } },
    request: {
      path,
      body: { ...chatBody(members), prompt: path.includes('fim') ? 'x' : undefined, stream: true },
    },
  })
  const failed = { outcome: 'failed' as const, errorKind: 'upstream_error' as const }
  runRows(
    [CHAT, '/alt/v1/chat/completions', '/alt/v1/fim/completions', '/v3/chat'].flatMap((path) => {
      const members = path === '/v3/chat' ? { model: undefined, gate_id: GATE } : {}
      return [
        {
          name: `Mistral’s error in a stream’s first event is a status: ${path}`,
          ...streaming(path, members),
          upstream: [stream([error, DONE])],
          seen: { status: 502, contains: ['Busy now.'] },
          sent: [{}],
          settled: { ...failed, status: 502 },
        },
        {
          name: `Mistral’s error in a stream ends it as failed: ${path}`,
          ...streaming(path, members),
          upstream: [stream([piece, error, DONE])],
          seen: {
            status: 200,
            contains: ['He', 'Busy now.'],
            ending: path.startsWith('/alt') ? ('whole' as const) : ('cut' as const),
          },
          sent: [{}],
          settled: { ...failed, status: 200 },
        },
      ]
    }),
  )

  runRows([
    {
      name: 'cached tokens that Moonshot reports beside the details are cached',
      upstream: [
        json(200, {
          choices: [
            { index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' },
          ],
          usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12, cached_tokens: 8 },
        }),
      ],
      seen: { status: 200 },
      sent: [{}],
      settled: {
        outcome: 'succeeded',
        usage: { inputTokens: 10, outputTokens: 2, cachedInputTokens: 8, reasoningTokens: 0 },
      },
    },
    ...[
      { delay: '34.4s', seconds: '35' },
      { delay: '7s', seconds: '7' },
      { delay: 'soon', seconds: null },
      { delay: '-1s', seconds: null },
    ].map(
      ({ delay, seconds }): StageRow => ({
        name: `Gemini’s retryDelay of ${delay} is ${seconds} in Retry-After, and its 429 a rate limit`,
        gateway: { gates: { [GATE]: ['gemini/gemini-2.5-flash'] } },
        upstream: [
          json(429, [
            {
              error: {
                code: 429,
                message: 'Quota exceeded.',
                status: 'RESOURCE_EXHAUSTED',
                details: [
                  { '@type': 'type.googleapis.com/google.rpc.Help', links: [] },
                  { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: delay },
                ],
              },
            },
          ]),
        ],
        seen: {
          status: 429,
          headers: { 'retry-after': seconds },
          json: { error: { type: 'rate_limit_error', message: 'Quota exceeded.' } },
        },
        sent: [{}],
        settled: { ...failed, status: 429 },
      }),
    ),
    {
      name: 'a translated 400 is the caller’s own in its type too',
      gateway: { gates: { [GATE]: ['anthropic/claude-opus-5'] } },
      upstream: [
        json(400, { type: 'error', error: { type: 'invalid_request_error', message: 'bad' } }),
      ],
      seen: { status: 400, json: { error: { type: 'invalid_request_error', message: 'bad' } } },
      sent: [{}],
      settled: { ...failed, status: 400 },
    },
  ])
})

describe('a full context is recognisable, whatever the vendor’s words', () => {
  const nested = (message: string, members: object = {}) => ({
    error: { message, type: 'invalid_request_error', param: null, code: null, ...members },
  })
  const VENDORS: readonly (readonly [target: string, status: number, body: object])[] = [
    [
      'anthropic/claude-opus-5',
      400,
      { type: 'error', ...nested('prompt is too long: 9 tokens > 8 maximum') },
    ],
    [
      'anthropic/claude-opus-5',
      400,
      {
        type: 'error',
        ...nested('input length and `max_tokens` exceed context limit: 9 + 8 > 10'),
      },
    ],
    ['bedrock/anthropic.claude-opus-5', 400, { message: 'Input is too long for requested model.' }],
    [
      'cohere/command-a',
      400,
      { message: 'too many tokens: total number of tokens in the prompt cannot exceed 8' },
    ],
    [
      'gemini/gemini-2.5-flash',
      400,
      {
        error: {
          code: 400,
          message: 'The input token count (9) exceeds the maximum number of tokens allowed (8).',
          status: 'INVALID_ARGUMENT',
        },
      },
    ],
    [
      'mistral/large',
      400,
      {
        object: 'error',
        message: 'Prompt contains 9 tokens, too large for model with 8 maximum context length',
        type: 'invalid_request_error',
        code: '3051',
      },
    ],
    [
      'openai/gpt-4o',
      400,
      nested("This model's maximum context length is 8 tokens.", {
        code: 'context_length_exceeded',
      }),
    ],
    ['groq/llama', 413, nested('Please reduce the length of the messages or completion.')],
    [
      'xai/grok',
      400,
      nested("This model's maximum prompt length is 8 but the request contains 9 tokens."),
    ],
    [
      'ollama/llama3',
      400,
      nested('the request exceeds the available context size', {
        type: 'exceed_context_size_error',
      }),
    ],
  ]
  const inStream = (_: number, body: object) => stream([`data: ${JSON.stringify(body)}\n\n`])
  const refused = (status: number) => ({
    sent: [{}],
    settled: {
      outcome: 'failed' as const,
      status,
      errorKind: 'upstream_error' as const,
      attempts: 1,
    },
  })
  runRows(
    VENDORS.flatMap(([target, status, body]): StageRow[] => [
      {
        name: `by its code to chat callers: ${target}, ${JSON.stringify(body).slice(0, 60)}`,
        gateway: { gates: { [GATE]: [target] } },
        upstream: [json(status, body)],
        seen: {
          status,
          json: { error: { code: 'context_length_exceeded' } },
        },
        ...refused(status),
      },
      {
        name: `by its first words to Messages callers: ${target}, ${JSON.stringify(body).slice(0, 60)}`,
        gateway: { gates: { [GATE]: [target] } },
        request: { path: MESSAGES, body: messagesBody() },
        upstream: [json(status, body)],
        seen: {
          status: 400,
          json: {
            type: 'error',
            error: {
              message: expect.stringMatching(
                /^prompt is too long|exceed context limit: 9 \+ 8 > 10$/,
              ),
            },
          },
        },
        ...refused(400),
      },
    ]),
  )
  runRows([
    ...(
      [
        [json, false],
        [json, true],
        [inStream, true],
      ] as const
    ).map(
      ([answer, streamed]): StageRow => ({
        name: `by the figures that make a Messages client ask for less: ${answer === json ? 'refused' : 'in the first event'}, stream ${streamed}`,
        gateway: { gates: { [GATE]: ['vllm/qwen'] } },
        request: { path: MESSAGES, body: messagesBody({ max_tokens: 32_000, stream: streamed }) },
        upstream: [
          answer(
            400,
            nested(
              "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 40960 tokens and your request has 12115 input tokens (32000 > 40960 - 12115).",
            ),
          ),
        ],
        seen: {
          status: 400,
          json: {
            type: 'error',
            error: {
              type: 'invalid_request_error',
              message: 'input length and `max_tokens` exceed context limit: 12115 + 32000 > 40960',
            },
          },
        },
        ...refused(400),
      }),
    ),
    {
      name: 'by what the provider behind OpenRouter says',
      gateway: { gates: { [GATE]: ['openrouter/claude'] } },
      request: { path: MESSAGES, body: messagesBody() },
      // https://github.com/egoist/chatwise-releases/issues/917
      upstream: [
        json(400, {
          error: {
            message: 'Provider returned error',
            code: 400,
            metadata: {
              raw: '{"message":"input length and `max_tokens` exceed context limit: 149674 + 64000 > 204658, decrease input length or `max_tokens` and try again"}',
              provider_name: 'Amazon Bedrock',
            },
          },
        }),
      ],
      seen: { status: 400, contains: ['exceed context limit: 149674 + 64000 > 204658'] },
      ...refused(400),
    },
    {
      name: 'by its code to Responses callers',
      gateway: { gates: { [GATE]: ['openai/gpt-5'] } },
      request: { path: '/v1/responses', body: { model: GATE, input: 'x' } },
      upstream: [
        json(400, nested('Your input exceeds the context window of this model.', { extra: 1 })),
      ],
      seen: { status: 400, json: { error: { code: 'context_length_exceeded', extra: 1 } } },
      ...refused(400),
    },
    ...[
      { path: CHAT, body: chatBody({ stream: true }), told: '"code":"context_length_exceeded"' },
      {
        path: MESSAGES,
        body: messagesBody({ stream: true }),
        told: '"prompt is too long: Your input',
      },
    ].map(
      ({ told, ...request }): StageRow => ({
        name: `as a status, where a stream begins with it: ${request.path}`,
        gateway: { gates: { [GATE]: [request.path === CHAT ? 'openai/gpt-4o' : 'openai/gpt-5'] } },
        request,
        upstream: [
          stream([
            `event: error\ndata: ${JSON.stringify({ type: 'error', ...nested('Your input exceeds the context window.') })}\n\n`,
          ]),
        ],
        seen: { status: 400, contains: [told] },
        ...refused(400),
      }),
    ),
    {
      name: 'in the vendor’s own bytes, where they say so already',
      upstream: [
        json(400, '{ "error":{"message":"Too much","type":"t", "code":"context_length_exceeded"}}'),
      ],
      seen: {
        status: 400,
        text: '{ "error":{"message":"Too much","type":"t", "code":"context_length_exceeded"}}',
      },
      ...refused(400),
    },
    {
      name: 'and nothing else counts as one',
      upstream: [json(400, nested('max_tokens is too large.', { code: 'odd' }))],
      seen: { status: 400, json: { error: { code: 'odd', message: 'max_tokens is too large.' } } },
      ...refused(400),
    },
  ])
})

describe('several answers to one request come from Mistral too', () => {
  const MISTRAL = 'mistral/mistral-large-latest'
  const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
  const choice = (index: number, content: string) => ({
    index,
    message: { role: 'assistant', content },
    finish_reason: index === 0 ? 'stop' : 'length',
  })
  const delta = (index: number, content: string, finish_reason: string | null = null) => ({
    index,
    delta: { content },
    finish_reason,
  })
  const chunk = (choices: object[], members: object = {}) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices, ...members })}\n\n`
  const gateway = { gates: { [GATE]: [MISTRAL] } }
  runRows([
    {
      name: 'whole',
      gateway,
      request: { body: chatBody({ n: 2 }) },
      upstream: [json(200, { id: 'c', choices: [choice(0, 'one'), choice(1, 'two')], usage })],
      seen: {
        status: 200,
        headers: { 'x-gatehouse-ignored': null },
        json: {
          choices: [
            { index: 0, message: { content: 'one' }, finish_reason: 'stop' },
            { index: 1, message: { content: 'two' }, finish_reason: 'length' },
          ],
        },
      },
      sent: [{ json: { n: 2 } }],
      settled: { outcome: 'succeeded', usage: { ...NO_DETAILS, inputTokens: 3, outputTokens: 4 } },
    },
    {
      name: 'as streams, each under its own index',
      gateway,
      request: { body: chatBody({ n: 2, stream: true }) },
      upstream: [
        stream([
          chunk([delta(0, 'a')]),
          chunk([delta(1, 'x')]),
          chunk([delta(0, 'b', 'stop'), delta(1, 'y')]),
          chunk([delta(1, 'z', 'length')], { usage }),
          'data: [DONE]\n\n',
        ]),
      ],
      seen: { status: 200, headers: { 'x-gatehouse-ignored': null } },
      sent: [{ json: { n: 2 } }],
      settled: { outcome: 'succeeded', usage: { ...NO_DETAILS, inputTokens: 3, outputTokens: 4 } },
      check: (_, { text }) => {
        const told = ['', '']
        const reasons: (string | null)[] = [null, null]
        for (const { data } of parseEvents(text)) {
          if (data === undefined || data === '[DONE]') continue
          for (const each of JSON.parse(data).choices) {
            told[each.index] += each.delta.content ?? ''
            reasons[each.index] = each.finish_reason ?? reasons[each.index] ?? null
          }
        }
        expect([told, reasons]).toEqual([
          ['ab', 'xyz'],
          ['stop', 'length'],
        ])
      },
    },
  ])
})
