/**
 * Costs from reports beyond tokens: the vendor's own report, another model than the target's,
 * several models. At real prices.
 */
import { describe, expect } from 'bun:test'
import { CallPrices } from '../../src/ledger/call-prices.ts'
import { PriceBook } from '../../src/ledger/price-book.ts'
import { catalog } from '../../src/providers/catalog.ts'
import { pricingOf } from '../../src/providers/define.ts'
import { json, SILENCE, stream } from '../support/scripted-upstream.ts'
import { chatBody, GATE, runRows, type StageRow } from '../support/stage-rows.ts'

const book = new PriceBook({
  providers: new Map(catalog.map((provider) => [provider.id, pricingOf(provider)])),
})
const prices = new CallPrices(book)
const LISTED = book.source

const SONNET = 'openrouter/anthropic/claude-sonnet-4.5'
const AUTO = 'openrouter/openrouter/auto'
const COUNTS = { prompt_tokens: 1_000, completion_tokens: 200, total_tokens: 1_200 }
const tokens = { inputTokens: 1_000, outputTokens: 200, cachedInputTokens: 0, reasoningTokens: 0 }

const completion = (usage: object | null, model = 'anthropic/claude-4.5-sonnet-20250929') => ({
  id: 'gen-1',
  object: 'chat.completion',
  created: 1,
  model,
  choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
  ...(usage === null ? {} : { usage }),
})
const chunk = (members: object, model: string) =>
  `data: ${JSON.stringify({ id: 'gen-1', object: 'chat.completion.chunk', created: 1, model, ...members })}\n\n`
const chunks = (usage: object | null, model = 'anthropic/claude-4.5-sonnet-20250929') => [
  chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: 'ok' } }] }, model),
  chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }, model),
  ...(usage === null
    ? []
    : [chunk({ choices: [{ index: 0, delta: { content: '' } }], usage }, model)]),
  'data: [DONE]\n\n',
]

interface Call {
  readonly name: string
  readonly target?: string
  readonly usage?: object | null
  readonly model?: string
  readonly nanoUsd: number | null
  readonly status: 'exact' | 'estimated' | 'unknown'
  readonly source: string | null
}

const MESSAGES = {
  path: '/v1/messages',
  body: { model: GATE, max_tokens: 99, messages: [{ role: 'user', content: 'hi' }] },
}

function everyWay({ name, target = SONNET, usage = COUNTS, model, ...cost }: Call): StageRow[] {
  const whole = json(200, JSON.stringify(completion(usage, model)))
  const events = stream(chunks(usage, model))
  const row = {
    gateway: { gates: { [GATE]: [target] }, prices },
    seen: { status: 200 },
    sent: [{}],
    settled: { target, cost, ...(usage === null ? {} : { usage: tokens }) },
  }
  const streamed = { ...MESSAGES, body: { ...MESSAGES.body, stream: true } }
  return [
    { ...row, name: `${name}: whole`, upstream: [whole] },
    {
      ...row,
      name: `${name}: streamed`,
      request: { body: chatBody({ stream: true }) },
      upstream: [events],
    },
    { ...row, name: `${name}: translated`, request: MESSAGES, upstream: [whole] },
    { ...row, name: `${name}: translated and streamed`, request: streamed, upstream: [events] },
  ]
}

const reported = (microUsd: number, status: 'exact' | 'estimated' = 'exact') => ({
  nanoUsd: microUsd * 1_000,
  status,
  source: 'reported',
})
const byTable = (status: 'exact' | 'estimated') => ({ nanoUsd: 6_000_000, status, source: LISTED })

describe('a cost that the vendor reports', () => {
  runRows([
    ...everyWay({
      name: 'wins over the table',
      usage: { ...COUNTS, cost: 0.0004 },
      ...reported(400),
    }),
    ...everyWay({
      name: 'prices a model that the table does not list',
      target: AUTO,
      usage: { ...COUNTS, cost: 0.0123 },
      ...reported(12_300),
    }),
    ...everyWay({
      name: 'has what the upstream bills to an own key',
      usage: {
        ...COUNTS,
        cost: 0.0003,
        is_byok: true,
        cost_details: { upstream_inference_cost: 0.006 },
      },
      ...reported(6_300),
    }),
    ...everyWay({
      name: 'is the greater of two where the rest is not reported',
      usage: { ...COUNTS, cost: 0.0003, is_byok: true },
      ...byTable('estimated'),
    }),
    ...[-0.5, 5_000].flatMap((cost) =>
      everyWay({
        name: `is ignored where it is ${cost}`,
        usage: { ...COUNTS, cost, prompt_tokens_details: { cache_write_tokens: 0 } },
        ...byTable('estimated'),
      }),
    ),
    ...everyWay({
      name: 'is read in ticks',
      target: 'xai/grok-4',
      usage: { ...COUNTS, cost_in_usd_ticks: 37_756_000 },
      model: 'grok-4-0709',
      ...reported(3_775.6),
    }),
    ...everyWay({
      name: 'is read as a sum of parts',
      target: 'perplexity/sonar-deep-research',
      usage: { ...COUNTS, cost: { input_tokens_cost: 0.002, total_cost: 0.41 } },
      model: 'sonar-deep-research',
      ...reported(410_000),
    }),
    ...everyWay({
      name: 'counts for nothing at a vendor whose data says nothing of it',
      target: 'groq/llama-3.3-70b-versatile',
      usage: { ...COUNTS, cost: 0.0004, cost_in_usd_ticks: 1 },
      model: 'llama-3.3-70b-versatile',
      nanoUsd: 748_000,
      status: 'exact',
      source: LISTED,
    }),
    ...everyWay({
      name: 'counts for nothing in the form of another vendor',
      target: 'xai/grok-4',
      usage: { ...COUNTS, cost: 0.0004, prompt_tokens_details: { cached_tokens: 0 } },
      model: 'grok-4-0709',
      ...byTable('exact'),
    }),
    {
      name: 'of embeddings counts too',
      gateway: { gates: { [GATE]: ['openrouter/openai/text-embedding-3-small'] }, prices },
      request: { path: '/v1/embeddings', body: { model: GATE, input: 'hi' } },
      upstream: [
        json(
          200,
          JSON.stringify({
            object: 'list',
            model: 'text-embedding-3-small',
            data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
            usage: { prompt_tokens: 1_000, total_tokens: 1_000, cost: 0.00005 },
          }),
        ),
      ],
      seen: { status: 200 },
      sent: [{}],
      settled: { cost: reported(50) },
    },
    {
      name: 'needs nothing in the request, and its client sees the answer as it came',
      gateway: { gates: { [GATE]: [SONNET] }, prices },
      request: {
        body: `{"model":"${GATE}","messages":[],"stream":true}`,
      },
      upstream: [stream(chunks({ ...COUNTS, cost: 0.0004 }))],
      seen: { status: 200, text: chunks({ ...COUNTS, cost: 0.0004 }).join('') },
      sent: [{ body: '{"model":"anthropic/claude-sonnet-4.5","messages":[],"stream":true}' }],
      settled: { cost: reported(400) },
    },
  ])
})

const budget = 'the budget b (bud_1)'
const inMoney = { limits: { priceDemand: { budget, plan: undefined } as never }, prices }

describe('a model that no table lists', () => {
  runRows([
    {
      name: 'is within limits in money where its vendor reports costs',
      gateway: { gates: { [GATE]: [AUTO] }, ...inMoney },
      upstream: [json(200, JSON.stringify(completion({ ...COUNTS, cost: 0.0123 })))],
      seen: { status: 200 },
      sent: [{}],
      settled: { cost: reported(12_300) },
    },
    {
      name: 'is refused by them elsewhere',
      gateway: { gates: { [GATE]: ['groq/nobody-knows'] }, ...inMoney },
      seen: { status: 400, json: { error: { code: 'price_unknown' } } },
      settled: { attempts: 0 },
    },
    ...everyWay({
      name: 'is priced as the model that answered, if nothing is reported',
      target: AUTO,
      model: 'anthropic/claude-4.5-sonnet-20250929',
      nanoUsd: 6_000_000,
      status: 'estimated',
      source: `${LISTED}+answered`,
    }),
    ...everyWay({
      name: 'is priced as the dearest usual model, if nobody says which answered',
      target: AUTO,
      model: 'somebody/something-new',
      nanoUsd: 30_000_000,
      status: 'estimated',
      source: 'assumed@1500/1500/7500',
    }),
    {
      name: 'is counted although its client leaves before the report',
      gateway: { gates: { [GATE]: [AUTO] }, prices },
      request: { body: chatBody({ stream: true }) },
      upstream: [stream(chunks(null).slice(0, 1), { ending: [SILENCE] })],
      client: { leavesAfterEvents: 1 },
      seen: { status: 200, ending: 'left' },
      sent: [{ state: 'cancelled' }],
      settled: {
        outcome: 'cancelled',
        cost: { nanoUsd: 75_000, status: 'estimated', source: `${LISTED}+answered` },
      },
    },
  ])
})

const FABLE = 'anthropic/claude-fable-5'
const turn = (type: string, model: string, input_tokens: number, output_tokens: number) => ({
  ...{ type, model, input_tokens, output_tokens },
  ...{ cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
})
const messageUsage = (iterations: readonly object[], members: object = {}) => ({
  ...{ input_tokens: 412, output_tokens: 264 },
  ...{ cache_read_input_tokens: 0, cache_creation_input_tokens: 0, iterations, ...members },
})
const message = (usage: object, model = 'claude-opus-4-8') => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model,
  content: [{ type: 'text', text: 'ok' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage,
})
const event = (type: string, members: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`
const messageEvents = (usage: object) => {
  const { content: _, ...begun } = message(
    { input_tokens: 408, output_tokens: 1 },
    'claude-fable-5',
  )
  return [
    event('message_start', { message: { ...begun, content: [], stop_reason: null } }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'ok' } }),
    event('content_block_stop', { index: 0 }),
    event('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage }),
    event('message_stop'),
  ]
}
const fallbacks = [{ model: 'claude-opus-4-8' }]

function bothWays(name: string, usage: object, settled: StageRow['settled']): StageRow[] {
  const gateway = {
    gates: { [GATE]: [FABLE] },
    credentials: { anthropic: 'account' as const },
    prices,
  }
  const row = { gateway, seen: { status: 200 }, sent: [{}], settled }
  const body = { ...MESSAGES.body, fallbacks }
  return [
    {
      ...row,
      name: `${name}: whole`,
      request: { ...MESSAGES, body },
      upstream: [json(200, JSON.stringify(message(usage)))],
    },
    {
      ...row,
      name: `${name}: streamed`,
      request: { ...MESSAGES, body: { ...body, stream: true } },
      upstream: [stream(messageEvents(usage))],
    },
  ]
}

describe('an answer of several models', () => {
  const answered = `${LISTED}+answered`
  runRows([
    // 10,000 × 10 + 9,600 × 50, then 412 × 5 + 264 × 25.
    ...bothWays(
      'costs each turn at its own model’s price',
      messageUsage([
        turn('message', 'claude-fable-5', 10_000, 9_600),
        turn('fallback_message', 'claude-opus-4-8', 412, 264),
      ]),
      {
        usage: {
          inputTokens: 10_412,
          outputTokens: 9_864,
          cachedInputTokens: 0,
          reasoningTokens: 0,
          cacheWriteTokens: 0,
        },
        cost: { nanoUsd: 588_660_000, status: 'exact', source: answered },
      },
    ),
    ...bothWays(
      'costs what the model that took over costs, in a conversation that stays with it',
      messageUsage([turn('fallback_message', 'claude-opus-4-8', 412, 264)]),
      { cost: { nanoUsd: 8_660_000, status: 'exact', source: answered } },
    ),
    ...bothWays(
      'is an estimate where a model declined before it wrote anything',
      messageUsage([
        turn('message', 'claude-fable-5', 535, 0),
        turn('fallback_message', 'claude-opus-4-8', 412, 264),
      ]),
      { cost: { nanoUsd: 14_010_000, status: 'estimated', source: answered } },
    ),
    ...bothWays(
      'is an estimate where the price of one is not known',
      messageUsage([
        turn('message', 'claude-fable-5', 1_000, 0),
        turn('fallback_message', 'claude-unheard-of', 412, 264),
      ]),
      { cost: { nanoUsd: 27_320_000, status: 'estimated', source: answered } },
    ),
    ...bothWays(
      'with advice costs the advice at its own model’s price',
      messageUsage([
        turn('message', 'claude-fable-5', 412, 264),
        turn('advisor_message', 'claude-opus-4-8', 1_000, 100),
      ]),
      { cost: { nanoUsd: 24_820_000, status: 'exact', source: answered } },
    ),
  ])
})

describe('an answer whose model is not the one that was asked for', () => {
  const asked = (target: string, model: string, settled: StageRow['settled']): StageRow => ({
    name: `${model} for ${target}`,
    gateway: { gates: { [GATE]: [target] }, prices },
    upstream: [json(200, JSON.stringify(completion(COUNTS, model)))],
    seen: { status: 200 },
    sent: [{}],
    settled,
  })
  const exact = { status: 'exact' as const, source: LISTED }
  runRows([
    asked('groq/llama-3.3-70b-versatile', 'llama-3.3-70b-versatile', {
      cost: { ...exact, nanoUsd: 748_000 },
    }),
    // An alias and its resolved version are the same model.
    asked('xai/grok-4', 'grok-4-0709', { cost: { nanoUsd: 6_000_000, ...exact } }),
    asked('mistral/mistral-large-latest', 'mistral-large-2512', {}),
    asked('openai/gpt-4.1-mini', 'gpt-4.1-2025-04-14', {
      cost: { nanoUsd: 3_600_000, status: 'exact', source: `${LISTED}+answered` },
    }),
    // A router, and a deployment named after another model.
    asked('azure-openai/model-router', 'gpt-5-mini-2025-08-07', {
      cost: { nanoUsd: 650_000, status: 'estimated', source: `${LISTED}+answered` },
    }),
    asked('azure-openai/gpt-5-nano', 'gpt-5-mini-2025-08-07', {
      cost: { nanoUsd: 650_000, status: 'estimated', source: `${LISTED}+answered` },
    }),
    asked('groq/llama-3.3-70b-versatile', 'unheard-of', {
      cost: { nanoUsd: 748_000, status: 'estimated', source: LISTED },
    }),
  ])
})

describe('an answer that tells its cost tells that of the model that answered', () => {
  const usd = '"cost":{"usd":0.00065,"status":"estimated"}'
  const model = 'gpt-5-mini-2025-08-07'
  const asked = (stream: boolean) => ({
    gateway: { gates: { [GATE]: ['azure-openai/model-router'] }, prices },
    request: {
      path: '/v3/chat',
      body: { gate_id: GATE, messages: [{ role: 'user', content: 'hi' }], stream },
    },
    seen: { status: 200, contains: [usd] },
    sent: [{}],
    settled: {
      cost: { status: 'estimated' as const, nanoUsd: 650_000, source: `${LISTED}+answered` },
    },
  })
  runRows([
    { ...asked(false), name: 'whole', upstream: [json(200, completion(COUNTS, model))] },
    { ...asked(true), name: 'streamed', upstream: [stream(chunks(COUNTS, model))] },
  ])
})

describe('a request that names other models, on an account’s own key and under a limit in money', () => {
  const named = (members: object): Pick<StageRow, 'name' | 'request' | 'gateway'> => ({
    name: JSON.stringify(members),
    request: { ...MESSAGES, body: { ...MESSAGES.body, max_tokens: 1_000, ...members } },
    gateway: {
      gates: { [GATE]: ['anthropic/claude-haiku-4-5'] },
      credentials: { anthropic: 'account' },
      limits: { ...inMoney.limits, limitsSpend: true },
      prices,
    },
  })
  const served = (members: object, usdPerMillion: number): StageRow => ({
    ...named(members),
    upstream: [json(200, JSON.stringify(message({ input_tokens: 9, output_tokens: 1 })))],
    seen: { status: 200 },
    sent: [{}],
    settled: { outcome: 'succeeded' },
    check: ({ limits: { tickets } }) =>
      expect(tickets[0]?.call.leastNanoUsd).toBeWithin(
        usdPerMillion * 1_000_000,
        usdPerMillion * 1_000_000 + 1_500_000,
      ),
  })
  const refused = (members: object): StageRow => ({
    ...named(members),
    seen: {
      status: 400,
      json: { error: { type: 'invalid_request_error' } },
      contains: ["'fallbacks' may select a model whose price is unknown", budget],
    },
    settled: { attempts: 0, status: 400 },
  })
  const reporting = (members: object, usdPerMillion: number): StageRow => {
    const { gateway, ...row } = served(members, usdPerMillion)
    return {
      ...row,
      request: { body: chatBody({ max_tokens: 1_000, ...members }) },
      gateway: {
        ...gateway,
        gates: { [GATE]: ['openrouter/anthropic/claude-haiku-4.5'] },
        credentials: { openrouter: 'account' },
      },
      upstream: [json(200, JSON.stringify(completion({ ...COUNTS, cost: 0.01 })))],
    }
  }
  runRows([
    served({}, 5),
    served({ fallbacks: [] }, 5),
    served({ fallbacks: null }, 5),
    served({ fallbacks: [{ model: 'claude-opus-4-8' }, { model: 'claude-fable-5' }] }, 50),
    refused({ fallbacks: 'default' }),
    refused({ fallbacks: [{ model: 'claude-unheard-of' }] }),
    refused({ fallbacks: [{ model: 'claude-opus-4-8', speed: 'fast' }] }),
    refused({ fallbacks: [{ model: 7 }] }),
    refused({ fallbacks: Array.from({ length: 11 }, () => ({ model: 'claude-opus-4-8' })) }),
    reporting({ models: ['anthropic/claude-haiku-4.5', 'anthropic/claude-fable-5'] }, 50),
    reporting({ models: ['openai/gpt-oss-120b'] }, 5),
    // The vendor reports what it bills, so the bound is the bound of a model that no table lists.
    reporting({ models: ['somebody/something-new'] }, 75),
    reporting({ preset: 'mine' }, 75),
  ])
})
