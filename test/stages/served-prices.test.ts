/**
 * The price of a call depends on how the vendor served the call: tier, speed, region. A factor that
 * no vendor publishes makes the cost an estimate.
 */
import { describe, expect, test } from 'bun:test'
import { costOfParts } from '../../src/core/money.ts'
import { CallPrices } from '../../src/ledger/call-prices.ts'
import { PriceBook } from '../../src/ledger/price-book.ts'
import { catalog } from '../../src/providers/catalog.ts'
import { pricingOf } from '../../src/providers/define.ts'
import { CALLER } from '../support/in-process-gateway.ts'
import { json, type Script, stream } from '../support/scripted-upstream.ts'
import { GATE, runRows, type StageRow } from '../support/stage-rows.ts'

const MICRO = 1_000
const TOKENS = { inputTokens: 1_000_000, outputTokens: 100_000 }

const book = new PriceBook({
  providers: new Map(catalog.map((provider) => [provider.id, pricingOf(provider)])),
})
const priced = (target: string) => ({
  gates: { [GATE]: [target] },
  prices: new CallPrices(book),
})
const CHAT = { path: '/v1/chat/completions' }
const USER = [{ role: 'user', content: 'hi' }]
const LARGE = 'x'.repeat(4 * 1024 * 1024)

const chat = (members: object = {}) => ({
  ...CHAT,
  body: { model: GATE, messages: USER, ...members },
})
const messages = (members: object = {}) => ({
  path: '/v1/messages',
  body: { model: GATE, max_tokens: 9, messages: USER, ...members },
})
const responses = (members: object = {}) => ({
  path: '/v1/responses',
  body: { model: GATE, input: 'hi', ...members },
})

const chatUsage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 }
const chatAnswer = (tier: string, text = 'hi', model = 'gpt-5'): Script =>
  json(200, {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    usage: chatUsage,
    service_tier: tier,
  })
const chatEvents = (tier: string): Script => {
  const chunk = (members: object) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt-5', service_tier: tier, ...members })}\n\n`
  return stream([
    chunk({
      choices: [{ index: 0, delta: { role: 'assistant', content: 'hi' }, finish_reason: null }],
    }),
    chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
    chunk({ choices: [], usage: chatUsage }),
    'data: [DONE]\n\n',
  ])
}
const response = (tier: string, status = 'completed', usage: object | null = USAGE) => ({
  id: 'resp_1',
  object: 'response',
  status,
  model: 'gpt-5',
  output: [
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'hi', annotations: [] }],
    },
  ],
  usage,
  service_tier: tier,
})
const USAGE = { input_tokens: 1000, output_tokens: 100 }
const event = (type: string, members: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`
const responseEvents = (tier: string): Script =>
  stream([
    event('response.created', {
      response: { ...response('auto', 'in_progress', null), output: [] },
    }),
    event('response.completed', { response: response(tier) }),
  ])
const message = (served: object) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-opus-4-8',
  content: [{ type: 'text', text: 'hi' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { ...USAGE, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, ...served },
})
const messageEvents = (served: object): Script =>
  stream([
    event('message_start', {
      message: { ...message(served), content: [], stop_reason: null },
    }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'hi' } }),
    event('content_block_stop', { index: 0 }),
    event('message_delta', {
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 100 },
    }),
    event('message_stop', {}),
  ])
const gemini = (served: object) => ({
  candidates: [{ content: { role: 'model', parts: [{ text: 'hi' }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 100, ...served },
})
const geminiEvents = (served: object): Script =>
  stream([`data: ${JSON.stringify(gemini(served))}\r\n\r\n`])

const GPT = 'openai/gpt-5'
const CLAUDE = 'anthropic/claude-opus-4-8'
const GEMINI = 'gemini/gemini-3-pro-preview'
const LIST = { 'openai/gpt-4o': 3_500, [GPT]: 2_250, [CLAUDE]: 7_500, [GEMINI]: 3_200 } as const

interface Served {
  readonly target: keyof typeof LIST
  readonly request: NonNullable<StageRow['request']>
  readonly answer: Script
}

const costing = (
  name: string,
  { target, request, answer }: Served,
  factor: number,
  status: 'exact' | 'estimated',
): StageRow => ({
  name,
  gateway: priced(target),
  request,
  upstream: [answer],
  seen: { status: 200 },
  sent: [{}],
  check: (gateway) => {
    const { cost } = gateway.ledger.records[0] ?? {}
    const { nanoUsd } = cost ?? {}
    if (nanoUsd !== LIST[target] * factor * MICRO || cost?.status !== status)
      throw new Error(`${target} costs ${JSON.stringify(cost)}, not ${factor} times the list price`)
  },
  settled: {},
})

const forms = (tier: string) =>
  [
    { form: 'Chat Completions', target: GPT, request: chat(), answer: chatAnswer(tier) },
    {
      form: 'a stream of Chat Completions',
      target: GPT,
      request: chat({ stream: true }),
      answer: chatEvents(tier),
    },
    {
      form: 'an answer too large to hold',
      target: GPT,
      request: chat(),
      answer: chatAnswer(tier, LARGE),
    },
    { form: 'Responses', target: GPT, request: responses(), answer: json(200, response(tier)) },
    {
      form: 'a stream of Responses',
      target: GPT,
      request: responses({ stream: true }),
      answer: responseEvents(tier),
    },
    {
      form: 'Responses, translated',
      target: GPT,
      request: messages(),
      answer: json(200, response(tier)),
    },
    {
      form: 'a stream of Responses, translated',
      target: GPT,
      request: messages({ stream: true }),
      answer: responseEvents(tier),
    },
  ] as const

describe('OpenAI’s tier is the one that its answer names', () => {
  runRows(
    forms('priority').map((served) => costing(`priority: ${served.form}`, served, 2, 'exact')),
  )
  runRows(forms('flex').map((served) => costing(`flex: ${served.form}`, served, 0.5, 'exact')))
  runRows(forms('default').map((served) => costing(`default: ${served.form}`, served, 1, 'exact')))
  runRows(forms('scale').map((served) => costing(`scale: ${served.form}`, served, 1, 'estimated')))
})

describe('a tier whose price is not published for the model is an estimate at the list’s', () => {
  const served = (tier: string) =>
    ({
      target: 'openai/gpt-4o',
      request: chat(),
      answer: chatAnswer(tier, 'hi', 'gpt-4o'),
    }) as const
  runRows(
    ['flex', 'priority', 'ultrafast', 'A tier of tomorrow!'].map((tier) =>
      costing(tier, served(tier), 1, 'estimated'),
    ),
  )
})

describe('a tier that was asked for', () => {
  const asked = (service_tier: string, tier: string) =>
    ({
      target: GPT,
      request: chat({ service_tier }),
      answer: chatAnswer(tier),
    }) as const
  runRows([
    costing('and given has its price', asked('flex', 'flex'), 0.5, 'exact'),
    costing('and not given has the list’s', asked('priority', 'default'), 1, 'exact'),
    costing('without a word of the answer is an estimate', asked('flex', 'auto'), 1, 'estimated'),
  ])
})

describe('Anthropic’s tier, speed and region are those of its usage', () => {
  const usages: readonly (readonly [object, number, 'exact' | 'estimated'])[] = [
    [{ service_tier: 'standard', inference_geo: 'global', speed: 'standard' }, 1, 'exact'],
    [{ service_tier: 'standard', inference_geo: 'not_available' }, 1, 'exact'],
    [{ service_tier: 'priority' }, 1, 'estimated'],
    [{ service_tier: 'batch' }, 0.5, 'exact'],
    [{ inference_geo: 'us' }, 1.1, 'exact'],
    [{ inference_geo: 'mars' }, 1, 'estimated'],
    [{ speed: 'fast' }, 2, 'exact'],
    [{ speed: 'fast', inference_geo: 'us' }, 2.2, 'exact'],
  ]
  runRows(
    usages.flatMap(([served, factor, status]) => {
      const told = JSON.stringify(served)
      const whole = json(200, message(served))
      const row = (name: string, request: Served['request'], answer: Script) =>
        costing(`${told} ${name}`, { target: CLAUDE, request, answer }, factor, status)
      return [
        row('whole', messages(), whole),
        row('streamed', messages({ stream: true }), messageEvents(served)),
        row('translated', chat(), whole),
        row('streamed and translated', chat({ stream: true }), messageEvents(served)),
      ]
    }),
  )
})

describe('Google’s tier is its kind of traffic', () => {
  const usages: readonly (readonly [object, number, 'exact' | 'estimated'])[] = [
    [{ trafficType: 'ON_DEMAND' }, 1, 'exact'],
    [{ trafficType: 'TRAFFIC_TYPE_UNSPECIFIED' }, 1, 'exact'],
    [{ trafficType: 'ON_DEMAND_PRIORITY' }, 1, 'estimated'],
    [{ trafficType: 'ON_DEMAND_FLEX' }, 0.5, 'exact'],
    [{ trafficType: 'PROVISIONED_THROUGHPUT' }, 1, 'estimated'],
    [{ serviceTier: 'PRIORITY' }, 1, 'estimated'],
  ]
  runRows(
    usages.flatMap(([served, factor, status]) => [
      costing(
        `${JSON.stringify(served)} whole`,
        { target: GEMINI, request: chat(), answer: json(200, gemini(served)) },
        factor,
        status,
      ),
      costing(
        `${JSON.stringify(served)} streamed`,
        { target: GEMINI, request: chat({ stream: true }), answer: geminiEvents(served) },
        factor,
        status,
      ),
    ]),
  )
})

describe('the address has its factor', () => {
  const US = 'https://us.api.openai.com/v1'
  const EU = 'https://eu.api.openai.com/v1'
  const vertexIn = (location: string, publisher = 'google') =>
    `https://${location}-aiplatform.googleapis.com/v1/projects/p/locations/${location}/publishers/${publisher}`
  const rows: readonly (readonly [target: string, address: string, factor: number | null])[] = [
    ['openai/gpt-5.4', 'https://api.openai.com/v1', 1],
    ['openai/gpt-5.4', EU, 1.1],
    ['openai/gpt-5.4-mini-2026-03-17', US, 1.1],
    // Released before the vendor charged for regions.
    ['openai/gpt-5', EU, 1],
    ['openai/gpt-5.2', EU, 1],
    ['openai/gpt-4o', EU, 1],
    ['openai/text-embedding-3-small', EU, 1],
    ['openai/o3', EU, 1],
    // A model name without a version does not show whether the factor applies.
    ['vertex/gemini-pro', vertexIn('europe-west4'), null],
    // A deployment is global, of a data zone or regional, and the address does not show which.
    ['azure-openai/o4-mini', 'https://ours.openai.azure.com/openai/v1', null],
    ['bedrock/amazon.nova-pro-v1:0', 'https://bedrock-runtime.us-east-1.amazonaws.com', 1],
    ['bedrock/amazon.nova-pro-v1:0', 'https://bedrock-runtime.eu-central-1.amazonaws.com', null],
    [
      'bedrock/eu.anthropic.claude-sonnet-4-5-20250929-v1:0',
      'https://bedrock-runtime.eu-central-1.amazonaws.com',
      1,
    ],
    // A proxy of the operator's own.
    ['openai/gpt-5.4', 'https://llm.example.com/v1', 1],
    ['vertex/gemini-3-pro-preview', vertexIn('europe-west4'), 1.1],
    ['vertex/gemini-2.5-pro', vertexIn('europe-west4'), 1],
    ['vertex/gemini-3-pro-preview', vertexIn('global'), 1],
    ['vertex-anthropic/claude-sonnet-4-5@20250929', vertexIn('europe-west4', 'anthropic'), 1.1],
    ['vertex-anthropic/claude-opus-5', vertexIn('eu', 'anthropic'), 1.1],
    ['vertex-anthropic/claude-sonnet-4@20250514', vertexIn('europe-west4', 'anthropic'), 1],
    ['vertex-anthropic/claude-3-haiku@20240307', vertexIn('europe-west4', 'anthropic'), 1],
    ['vertex-anthropic/claude-opus-5', vertexIn('global', 'anthropic'), 1],
  ]
  test.each(rows)('%s at %s: %p', (target, address, factor) => {
    const at = new PriceBook({
      providers: new Map(catalog.map((provider) => [provider.id, pricingOf(provider, address)])),
    })
    const call = {
      accountId: CALLER.accountId,
      target,
      usage: { ...TOKENS, cachedInputTokens: 0, reasoningTokens: 0, cacheWriteTokens: 0 },
      startedAt: Date.parse('2026-11-20T12:00:00Z'),
    }
    const { status } = at.costOf(call)
    expect(status).toBe(factor === null ? 'estimated' : book.costOf(call).status)
    const cost = at.costOf(call)
    expect(cost.nanoUsd).toBeCloseTo((book.costOf(call).nanoUsd ?? 0) * (factor ?? 1), -1)
    if (factor !== null && factor !== 1) expect(cost.source).toEndWith(`*region:${factor}`)
    // Recomputed from the row, which has the factor only in the source.
    expect(book.recompute(call, cost)).toEqual(cost)
    const parts = book.partsOf(call, cost) ?? []
    expect(costOfParts(parts)).toBe(cost.nanoUsd ?? Number.NaN)
  })
})

describe('Gemini’s audio is priced as audio where the answer tells it', () => {
  // 400 of 1,000 tokens at 1 instead of 0.3 US dollars for a million, and 100 tokens at 2.5.
  const cost = {
    nanoUsd: (600 * 0.3 + 400 * 1 + 100 * 2.5) * MICRO,
    status: 'estimated' as const,
    source: expect.stringMatching(/\+inputAudio:400@0\.7/) as never,
  }
  const details = {
    promptTokensDetails: [
      { modality: 'TEXT', tokenCount: 600 },
      { modality: 'AUDIO', tokenCount: 400 },
    ],
  }
  const row = (name: string, body: object, answer: Script): StageRow => ({
    name,
    gateway: priced('gemini/gemini-2.5-flash'),
    request: chat(body),
    upstream: [answer],
    seen: { status: 200 },
    sent: [{}],
    settled: { cost },
  })
  runRows([
    row('whole', {}, json(200, gemini(details))),
    row('streamed', { stream: true }, geminiEvents(details)),
  ])
})
