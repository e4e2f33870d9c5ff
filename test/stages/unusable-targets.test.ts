/**
 * A vendor that refuses for lack of credit, or because of a retired model: the gate's next target
 * is asked, and the fault is reported.
 */
import { describe, expect, test } from 'bun:test'
import type { UnusableTarget } from '../../src/gateway/ports.ts'
import { MESSAGES_JSON } from '../support/dialect-samples.ts'
import { CALLER, InProcessGateway, plantedCredentialOf } from '../support/in-process-gateway.ts'
import { json, type Script, stream } from '../support/scripted-upstream.ts'
import { CHAT, CHAT_ANSWER, chatBody, GATE, runRow, runRows } from '../support/stage-rows.ts'

const MESSAGES = '/v1/messages'
const SECOND = 'groq/second'
const nested = (message: string, members: object = {}) => ({
  error: { message, type: 'invalid_request_error', param: null, code: null, ...members },
})
const anthropic = (type: string, message: string) => ({ type: 'error', error: { type, message } })

interface Refused {
  readonly target: string
  readonly status: number
  readonly body: object
  readonly reason: UnusableTarget['reason']
}

const NO_CREDIT: readonly Refused[] = [
  [
    'anthropic/claude-opus-5',
    400,
    anthropic(
      'invalid_request_error',
      'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
    ),
  ],
  [
    'anthropic/claude-opus-5',
    400,
    anthropic(
      'invalid_request_error',
      'You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.',
    ),
  ],
  ['anthropic/claude-opus-5', 402, anthropic('billing_error', 'Please check your billing.')],
  [
    'deepseek/deepseek-chat',
    402,
    nested('Insufficient Balance', { type: 'unknown_error', code: 'invalid_request_error' }),
  ],
  [
    'openrouter/auto',
    402,
    { error: { message: 'Insufficient credits. Add more using https://openrouter.ai', code: 402 } },
  ],
  [
    'openrouter/auto',
    402,
    {
      error: {
        message:
          'This request requires more credits, or fewer max_tokens. You requested up to 16384 tokens, but can only afford 3324.',
        code: 402,
      },
    },
  ],
  [
    'openai/gpt-4o',
    429,
    nested('You exceeded your current quota, please check your plan and billing details.', {
      type: 'insufficient_quota',
      code: 'insufficient_quota',
    }),
  ],
  [
    'xai/grok',
    403,
    {
      code: 'permission-denied',
      error:
        'Your team has either used all available credits or reached its monthly spending limit.',
    },
  ],
  [
    'fireworks/kimi',
    412,
    nested(
      'Account mine is suspended, possibly due to reaching the monthly spending limit or failure to pay past invoices.',
      { code: 'PRECONDITION_FAILED', type: 'error' },
    ),
  ],
  [
    'gemini/gemini-2.5-flash',
    429,
    {
      error: {
        code: 429,
        message: 'Your prepayment credits are depleted. Please go to AI Studio.',
        status: 'RESOURCE_EXHAUSTED',
      },
    },
  ],
].map(([target, status, body]) => ({ target, status, body, reason: 'out_of_credit' }) as Refused)

const NO_MODEL: readonly Refused[] = [
  [
    'openai/gpt-4o',
    404,
    nested('The model `gpt-4o` does not exist or you do not have access to it.', {
      code: 'model_not_found',
    }),
  ],
  ['deepseek/deepseek-v1', 400, nested('Model Not Exist', { code: 'invalid_request_error' })],
  ['anthropic/claude-2.0', 404, anthropic('not_found_error', 'model: claude-2.0')],
  [
    'gemini/gemini-1.5-pro',
    404,
    {
      error: {
        code: 404,
        message:
          'models/gemini-1.5-pro is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.',
        status: 'NOT_FOUND',
      },
    },
  ],
  [
    'groq/llama-3.1-8b',
    400,
    nested('The model `llama-3.1-8b` has been decommissioned and is no longer supported.', {
      code: 'model_decommissioned',
    }),
  ],
  [
    'mistral/old',
    400,
    { object: 'error', message: 'Invalid model: old', type: 'invalid_model', code: '1500' },
  ],
  [
    'bedrock/anthropic.claude-3-7-sonnet-20250219-v1:0',
    404,
    {
      message:
        'This model version has reached the end of its life. Please refer to the AWS documentation for more details.',
    },
  ],
  [
    'openrouter/deepseek/deepseek-r1:free',
    404,
    { error: { message: 'No endpoints found for deepseek/deepseek-r1:free.', code: 404 } },
  ],
  [
    'together/Kimi-K2.6',
    404,
    nested('Unable to access model Kimi-K2.6. Please visit https://api.together.ai/models.', {
      code: 'model_not_available',
    }),
  ],
  ['ollama/llama9', 404, nested("model 'llama9' not found", { type: 'not_found_error' })],
].map(([target, status, body]) => ({ target, status, body, reason: 'model_not_found' }) as Refused)

const REFUSED = [...NO_CREDIT, ...NO_MODEL]
const nameOf = ({ target, body }: Refused) => `${target}: ${JSON.stringify(body).slice(0, 90)}`

function recorder() {
  const told: UnusableTarget[] = []
  return { told, unusable: { note: (one: UnusableTarget) => void told.push(one), noteUsable() {} } }
}

describe('a target that serves nobody', () => {
  describe.each([
    ['whole', false],
    ['streamed', true],
  ] as const)('%s', (_, isStream) => {
    const next: Script = isStream
      ? stream(['data: {"choices":[]}\n\n', 'data: [DONE]\n\n'])
      : CHAT_ANSWER
    test.each(REFUSED.map((each) => [nameOf(each), each] as const))(
      'is passed over for the next one, which gets its own credential: %s',
      async (_, { target, status, body, reason }) => {
        const { told, unusable } = recorder()
        await runRow({
          gateway: {
            gates: { [GATE]: { targets: [{ model: target }, { model: SECOND }], maxRetries: 2 } },
            unusable,
          },
          request: { body: chatBody({ stream: isStream }) },
          upstream: [json(status, body), next],
          seen: { status: 200, headers: { 'x-gatehouse-target': SECOND } },
          sent: [{}, { headers: { authorization: `Bearer ${plantedCredentialOf('groq')}` } }],
          settled: { target: SECOND, outcome: 'succeeded', attempts: 2 },
          check: (gateway) =>
            expect(gateway.breakers.conditionOf(`${CALLER.accountId}\n${target}`)).toBe('resting'),
        })
        expect(told).toEqual([
          { accountId: CALLER.accountId, target, owner: 'platform', reason, status },
        ])
      },
    )
  })

  test('is asked last until it has rested, and then by one call', async () => {
    const gateway = new InProcessGateway({
      gates: { [GATE]: ['openai/gpt-4o', SECOND] },
      upstream: [
        json(402, nested('Insufficient Balance')),
        CHAT_ANSWER,
        CHAT_ANSWER,
        json(402, nested('Insufficient Balance')),
        CHAT_ANSWER,
        CHAT_ANSWER,
      ],
    })
    const ask = () => gateway.ask({ path: CHAT, body: chatBody() })
    await ask()
    await ask()
    gateway.clock.pass(60_000)
    await ask()
    await ask()
    expect(gateway.upstream.sent.map(({ url }) => new URL(url).host)).toEqual([
      ...['openai.test', 'groq.test', 'groq.test', 'openai.test', 'groq.test', 'groq.test'],
    ])
  })

  runRows([
    {
      name: 'is not asked again within the call, though a 429 is otherwise',
      gateway: { gates: { [GATE]: { targets: [{ model: 'openai/gpt-4o' }], maxRetries: 3 } } },
      upstream: [json(429, nested('no', { code: 'insufficient_quota' }))],
      seen: { status: 429 },
      sent: [{}],
      settled: { outcome: 'failed', status: 429, attempts: 1 },
    },
    {
      name: 'that speaks the caller’s dialect is passed over too',
      gateway: { gates: { [GATE]: ['anthropic/claude-2.0', 'anthropic/claude-opus-5'] } },
      request: { path: MESSAGES, body: chatBody({ max_tokens: 9 }) },
      upstream: [
        json(404, anthropic('not_found_error', 'model: claude-2.0')),
        json(200, MESSAGES_JSON),
      ],
      seen: { status: 200, text: MESSAGES_JSON },
      sent: [{}, {}],
      settled: { target: 'anthropic/claude-opus-5', attempts: 2 },
    },
    {
      name: 'says nothing of one that could not answer: its failure is told',
      gateway: { gates: { [GATE]: ['openai/gpt-4o', SECOND] } },
      upstream: [
        json(503, nested('busy')),
        json(404, nested('The model `second` does not exist', { code: 'model_not_found' })),
      ],
      seen: { status: 503, json: { error: { message: 'busy' } } },
      sent: [{}, {}],
      settled: { outcome: 'failed', status: 503, target: 'openai/gpt-4o', attempts: 2 },
    },
  ])
})

describe('without another target, the caller gets the vendor’s error', () => {
  const body = '{ "error":{"message":"Model Not Exist","type":"t","param":null,"code":"c"}}'
  runRows([
    {
      name: 'in its own bytes where the dialects are the same',
      gateway: { gates: { [GATE]: ['deepseek/old'] } },
      upstream: [json(400, body)],
      seen: { status: 400, text: body },
      sent: [{}],
      settled: { outcome: 'failed', status: 400, errorKind: 'upstream_error' },
    },
    {
      name: 'in its own dialect',
      gateway: { gates: { [GATE]: ['deepseek/old'] } },
      request: { path: MESSAGES, body: chatBody({ max_tokens: 9 }) },
      upstream: [json(400, body)],
      seen: {
        status: 400,
        json: anthropic('invalid_request_error', 'Model Not Exist'),
      },
      sent: [{}],
      settled: { outcome: 'failed', status: 400, errorKind: 'upstream_error' },
    },
    {
      name: 'and the first one’s where none can serve',
      gateway: { gates: { [GATE]: ['deepseek/old', 'openai/gpt-4o'] } },
      upstream: [json(400, body), json(429, nested('quota', { code: 'insufficient_quota' }))],
      seen: { status: 400, text: body },
      sent: [{}, {}],
      settled: { outcome: 'failed', status: 400, target: 'deepseek/old', attempts: 2 },
    },
  ])
})

describe('the caller’s own mistake is one at every target', () => {
  const MISTAKES: readonly (readonly [target: string, status: number, body: object])[] = [
    ['openai/gpt-4o', 400, nested("Unsupported parameter: 'top_k' is not supported with gpt-4o.")],
    ['openai/gpt-4o', 404, nested('No such file.', { code: 'not_found' })],
    [
      'openai/gpt-4o',
      400,
      nested("The requested model 'gpt-image-9' does not exist.", {
        param: 'tools[0].model',
        code: 'model_not_found',
      }),
    ],
    ['openai/gpt-4o', 404, nested('The model `gpt-4o-mini` does not exist.')],
    ['openai/gpt-4o', 402, nested('Teapots cost extra.')],
    ['anthropic/claude-opus-5', 404, anthropic('not_found_error', 'file: file_123')],
    ['anthropic/claude-opus-5', 400, anthropic('invalid_request_error', 'max_tokens: required')],
    [
      'openrouter/auto',
      404,
      { error: { message: 'No endpoints found that support tool use.', code: 404 } },
    ],
    [
      'gemini/gemini-2.5-flash',
      404,
      { error: { code: 404, message: 'File files/x not found.', status: 'NOT_FOUND' } },
    ],
  ]
  test.each(MISTAKES.map((each) => [JSON.stringify(each[2]).slice(0, 90), ...each] as const))(
    'and no other is asked: %s',
    async (_, target, status, body) => {
      const { told, unusable } = recorder()
      await runRow({
        gateway: { gates: { [GATE]: [target, SECOND] }, unusable },
        upstream: [json(status, body)],
        seen: { status },
        sent: [{}],
        settled: { outcome: 'failed', status, target, attempts: 1 },
        check: (gateway) =>
          expect(gateway.breakers.conditionOf(`${CALLER.accountId}\n${target}`)).toBe('well'),
      })
      expect(told).toEqual([])
    },
  )

  test('and a limit of rates is no lack of credit: the target is retried', async () => {
    const { told, unusable } = recorder()
    await runRow({
      gateway: {
        gates: { [GATE]: { targets: [{ model: 'gemini/gemini-2.5-flash' }], maxRetries: 1 } },
        unusable,
      },
      // Google's wording for its limits per minute.
      upstream: Array.from({ length: 2 }, () =>
        json(429, {
          error: {
            code: 429,
            message: 'You exceeded your current quota, please check your plan and billing details.',
            status: 'RESOURCE_EXHAUSTED',
          },
        }),
      ),
      seen: { status: 429 },
      sent: [{}, {}],
      settled: { outcome: 'failed', status: 429, attempts: 2 },
    })
    expect(told).toEqual([])
  })
})
