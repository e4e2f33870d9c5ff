import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readMessagesCounts } from './anthropic-messages/answer.ts'
import { readBedrockCounts } from './bedrock-converse/answer.ts'
import { readCohereCounts } from './cohere-chat/answer.ts'
import { readGeminiCounts } from './gemini/answer.ts'
import { readChatCounts } from './openai-chat/usage.ts'
import { readResponsesCounts } from './openai-responses/answer.ts'
import { readUsage as readReported } from './usage.ts'

const USAGE_READERS = {
  'openai-responses': readResponsesCounts,
  'openai-chat': readChatCounts,
  'anthropic-messages': readMessagesCounts,
  gemini: readGeminiCounts,
  'cohere-chat': readCohereCounts,
  'bedrock-converse': readBedrockCounts,
}
type Dialect = keyof typeof USAGE_READERS
const DIALECTS = Object.keys(USAGE_READERS) as Dialect[]
const readUsage = (dialect: Dialect, reported: unknown, tier?: unknown) =>
  readReported(USAGE_READERS[dialect], reported, tier)

test.each<[Dialect, object, object]>([
  [
    'openai-responses',
    {
      ...{ input_tokens: 11, output_tokens: 7, total_tokens: 99 },
      input_tokens_details: { cached_tokens: 3 },
      output_tokens_details: { reasoning_tokens: 2 },
    },
    { inputTokens: 11, outputTokens: 7, cachedInputTokens: 3, reasoningTokens: 2 },
  ],
  [
    'openai-chat',
    {
      ...{ prompt_tokens: 11, completion_tokens: 7, total_tokens: 99 },
      prompt_tokens_details: { cached_tokens: 3, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 2 },
    },
    { inputTokens: 11, outputTokens: 7, cachedInputTokens: 3, reasoningTokens: 2 },
  ],
  [
    'anthropic-messages',
    {
      ...{
        input_tokens: 5,
        cache_read_input_tokens: 3,
        cache_creation_input_tokens: 2,
        output_tokens: 7,
      },
      output_tokens_details: { thinking_tokens: 4 },
    },
    {
      inputTokens: 10,
      outputTokens: 7,
      cachedInputTokens: 3,
      reasoningTokens: 4,
      cacheWriteTokens: 2,
    },
  ],
  [
    'gemini',
    {
      ...{ promptTokenCount: 9, toolUsePromptTokenCount: 2, cachedContentTokenCount: 3 },
      ...{ candidatesTokenCount: 5, thoughtsTokenCount: 2, totalTokenCount: 99 },
    },
    { inputTokens: 11, outputTokens: 7, cachedInputTokens: 3, reasoningTokens: 2 },
  ],
  [
    'cohere-chat',
    {
      billed_units: { input_tokens: 12, output_tokens: 7 },
      tokens: { input_tokens: 507, output_tokens: 10 },
      cached_tokens: 448,
    },
    { inputTokens: 12, outputTokens: 7, cachedInputTokens: 0, reasoningTokens: 0 },
  ],
  [
    'cohere-chat',
    {
      billed_units: { input_tokens: 119, output_tokens: 44 },
      tokens: { input_tokens: 1549, output_tokens: 95 },
      cached_tokens: 1504,
    },
    { inputTokens: 119, outputTokens: 44, cachedInputTokens: 74, reasoningTokens: 0 },
  ],
  [
    'cohere-chat',
    { tokens: { input_tokens: 11, output_tokens: 7 }, cached_tokens: 3 },
    { inputTokens: 11, outputTokens: 7, cachedInputTokens: 3, reasoningTokens: 0 },
  ],
  [
    'cohere-chat',
    { billed_units: { input_tokens: 11, output_tokens: 7 } },
    { inputTokens: 11, outputTokens: 7, cachedInputTokens: 0, reasoningTokens: 0 },
  ],
  [
    'bedrock-converse',
    {
      inputTokens: 5,
      cacheReadInputTokens: 3,
      cacheWriteInputTokens: 2,
      outputTokens: 7,
      totalTokens: 99,
    },
    {
      inputTokens: 10,
      outputTokens: 7,
      cachedInputTokens: 3,
      reasoningTokens: 0,
      cacheWriteTokens: 2,
    },
  ],
])('%s: %j', (dialect, reported, usage) => {
  expect(readUsage(dialect, reported)).toEqual(usage as ReturnType<typeof readUsage>)
})

test('tokens read from a cache that stand beside the details are cached ones', () => {
  const reported = { prompt_tokens: 11, completion_tokens: 7, prompt_cache_hit_tokens: 8 }
  expect(readUsage('openai-chat', reported)?.cachedInputTokens).toBe(8)
  const both = { ...reported, prompt_tokens_details: { cached_tokens: 8 } }
  expect(readUsage('openai-chat', both)?.cachedInputTokens).toBe(8)
})

test.each<[Dialect, object, number]>([
  ['anthropic-messages', messagesWrites(undefined), 70],
  ['anthropic-messages', messagesWrites(null), 70],
  ['anthropic-messages', messagesWrites(70), 70],
  ['bedrock-converse', bedrockWrites(undefined), 70],
  ['bedrock-converse', bedrockWrites(70), 70],
  ['openai-responses', responsesWrites(undefined), 100],
  ['openai-responses', responsesWrites(70), 100],
])('%s: cache writes given only by their length of life count: %j', (dialect, reported, input) => {
  expect(readUsage(dialect, reported)).toMatchObject({
    inputTokens: dialect === 'openai-responses' ? input : 30 + input,
    cacheWriteTokens: 70,
    cacheWriteHourTokens: 50,
  })
})

function messagesWrites(cache_creation_input_tokens: number | null | undefined) {
  const cache_creation = { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 50 }
  return { input_tokens: 30, output_tokens: 7, cache_creation_input_tokens, cache_creation }
}

function bedrockWrites(cacheWriteInputTokens: number | undefined) {
  const cacheDetails = [
    { ttl: '5m', inputTokens: 20 },
    { ttl: '1h', inputTokens: 50 },
  ]
  return { inputTokens: 30, outputTokens: 7, cacheWriteInputTokens, cacheDetails }
}

function responsesWrites(cache_write_tokens: number | undefined) {
  const cache_write_tokens_details = { ttl_30m_tokens: 20, ttl_12h_tokens: 50 }
  const input_tokens_details = { cached_tokens: 0, cache_write_tokens, cache_write_tokens_details }
  return { input_tokens: 100, output_tokens: 7, input_tokens_details }
}

const NOTHING = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 }

describe.each(DIALECTS)('%s', (dialect) => {
  test('a report that is not an object is dropped', () => {
    for (const reported of [null, undefined, 7, 'x', [], [{ input_tokens: 1 }]])
      expect(readUsage(dialect, reported)).toBeNull()
  })

  test('an empty report is none: no call reads and writes nothing', () => {
    expect(readUsage(dialect, {})).toBeNull()
    const details = {
      input_tokens_details: null,
      prompt_tokens_details: 'x',
      tokens: null,
      billed_units: 7,
    }
    expect(readUsage(dialect, details)).toBeNull()
  })
})

const input = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.string(),
  fc.constant(null),
  fc.maxSafeInteger(),
)
test('a count is never negative, broken or not a number, however odd the report', () => {
  const names = [
    'input_tokens',
    'output_tokens',
    'prompt_tokens',
    'completion_tokens',
    'promptTokenCount',
  ]
  const more = [
    'thoughtsTokenCount',
    'inputTokens',
    'outputTokens',
    'cacheReadInputTokens',
    'cached_tokens',
  ]
  fc.assert(
    fc.property(
      fc.constantFrom(...DIALECTS),
      fc.dictionary(fc.constantFrom(...names, ...more), input),
      (dialect, reported) => {
        for (const [name, value] of Object.entries(readUsage(dialect, reported) ?? {})) {
          expect([name, Number.isInteger(value) && value >= 0]).toEqual([name, true])
        }
      },
    ),
  )
})

test('tokens written to a cache are those that the provider reports, and unknown without a report', () => {
  const read = { ...NOTHING, inputTokens: 9 }
  const report = (written: number | null) => ({
    input_tokens: 9,
    cache_creation_input_tokens: written,
  })
  expect(readUsage('anthropic-messages', report(0))).toEqual({ ...read, cacheWriteTokens: 0 })
  expect(readUsage('anthropic-messages', report(null))).toEqual(read)
  expect(readUsage('bedrock-converse', { cacheWriteInputTokens: -1 })).toBeNull()
})

describe('tokens written to a cache for an hour, which costs more, are told apart', () => {
  const reported = { input_tokens: 9, cache_creation_input_tokens: 7 }
  const read = { ...NOTHING, inputTokens: 16, cacheWriteTokens: 7 }

  test.each([
    [{ ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 }, { cacheWriteHourTokens: 4 }],
    [{ ephemeral_5m_input_tokens: 7, ephemeral_1h_input_tokens: 0 }, {}],
    [{ ephemeral_1h_input_tokens: -4 }, {}],
    [[4], {}],
    [null, {}],
  ])('by Anthropic: %j', (cache_creation, more) => {
    expect(readUsage('anthropic-messages', { ...reported, cache_creation })).toEqual({
      ...read,
      ...more,
    })
  })

  test.each([
    [
      [
        { ttl: '1h', inputTokens: 3 },
        { ttl: '5m', inputTokens: 3 },
        { ttl: '1h', inputTokens: 1 },
      ],
      { cacheWriteHourTokens: 4 },
    ],
    [[{ ttl: '5m', inputTokens: 7 }], {}],
    [[null, 1, { ttl: '1h', inputTokens: 0.5 }], {}],
    [{ ttl: '1h', inputTokens: 4 }, {}],
  ])('by Bedrock: %j', (cacheDetails, more) => {
    const reported = { inputTokens: 9, cacheWriteInputTokens: 7, cacheDetails }
    expect(readUsage('bedrock-converse', reported)).toEqual({ ...read, ...more })
  })
})

describe('a compaction, which the vendor bills beside the answer, counts', () => {
  const message = { type: 'message', input_tokens: 9, output_tokens: 5 }
  const compaction = {
    type: 'compaction',
    input_tokens: 100,
    cache_read_input_tokens: 20,
    cache_creation_input_tokens: 30,
    cache_creation: { ephemeral_1h_input_tokens: 30 },
    output_tokens: 40,
  }
  const read = (counts: object, iterations: unknown) =>
    readUsage('anthropic-messages', { ...counts, iterations })
  const counts = { input_tokens: 9, output_tokens: 5 }
  const alone = { ...NOTHING, inputTokens: 9, outputTokens: 5 }

  test('once each, with its part of the cache', () => {
    expect(read(counts, [compaction, message])).toEqual({
      ...NOTHING,
      inputTokens: 159,
      outputTokens: 45,
      cachedInputTokens: 20,
      cacheWriteTokens: 30,
      cacheWriteHourTokens: 30,
    })
    expect(read(counts, [compaction, compaction, message])).toMatchObject({ outputTokens: 85 })
  })

  test('as the advice of another model does', () => {
    const advice = { ...compaction, type: 'advisor_message', model: 'claude-opus-4-6' }
    expect(read(counts, [message, advice, message])).toMatchObject({
      inputTokens: 159,
      outputTokens: 45,
    })
  })

  test('where nothing was written after it, too', () => {
    expect(read({ input_tokens: 0, output_tokens: 0 }, [compaction])).toMatchObject({
      inputTokens: 150,
      outputTokens: 40,
    })
  })

  test.each([
    ['none', null],
    ['no list', { ...compaction }],
    ['turns of the answer itself', [message, message]],
    ['no counts', [{ type: 'compaction', input_tokens: -1 }, null, 'compaction']],
  ])('and nothing does where there is %s', (_, iterations) => {
    expect(read(counts, iterations)).toEqual(alone)
  })
})

describe('the turns of a model that took over are billed beside those before it', () => {
  const turn = (
    type: string,
    model: string | null,
    input_tokens: number,
    output_tokens: number,
  ) => ({
    ...{ type, model, input_tokens, output_tokens },
    ...{ cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
  })
  const read = (iterations: object[], more: object = {}) =>
    readUsage('anthropic-messages', { input_tokens: 20, output_tokens: 4, iterations, ...more })
  const declined = turn('message', 'claude-fable-5', 30, 5)
  const taken = turn('fallback_message', 'claude-opus-4-8', 20, 4)

  test('each with its own model', () => {
    expect(read([declined, taken])).toMatchObject({
      inputTokens: 50,
      outputTokens: 9,
      billing: {
        attempts: [
          { model: 'claude-fable-5', usage: { inputTokens: 30, outputTokens: 5 } },
          { model: 'claude-opus-4-8', usage: { inputTokens: 20, outputTokens: 4 } },
        ],
      },
    })
    expect(read([declined, taken])?.billing?.isUnsure).toBeUndefined()
  })

  test('and a conversation that stays with it has its turn alone', () => {
    expect(read([taken])).toMatchObject({
      inputTokens: 20,
      outputTokens: 4,
      billing: { attempts: [{ model: 'claude-opus-4-8' }] },
    })
  })

  test.each([
    ['a model that declined before it wrote anything', [turn('message', null, 30, 0), taken], {}],
    [
      'what the next one writes to its cache',
      [declined, { ...taken, cache_creation_input_tokens: 9 }],
      {},
    ],
    ['a credit for an earlier refusal', [], { fallback_credit: { status: { type: 'redeemed' } } }],
    ['turns that are less than the answer', [turn('fallback_message', 'x', 1, 1)], {}],
  ])('whether the vendor bills all of it is not sure with %s', (_, iterations, more) => {
    expect(read(iterations, more)?.billing?.isUnsure).toBe(true)
  })

  test('fewer tokens than the answer’s are never counted', () => {
    expect(read([turn('fallback_message', 'x', 1, 1)])).toMatchObject({
      inputTokens: 20,
      outputTokens: 4,
    })
  })
})

describe('the cost that a vendor reports', () => {
  const counts = { prompt_tokens: 11, completion_tokens: 7 }
  const cost = (more: object) => readUsage('openai-chat', { ...counts, ...more })?.billing?.cost
  const form = 'usage.cost'
  const own = (is_byok: boolean | undefined, upstream_inference_cost: number | null | undefined) =>
    cost({ cost: 0.05, is_byok, cost_details: { upstream_inference_cost } })

  test('is read in each of its forms', () => {
    expect(cost({ cost: 0.95 })).toEqual({ form, usd: 0.95, isPartial: false })
    expect(cost({ cost: 0 })).toEqual({ form, usd: 0, isPartial: false })
    expect(cost({ cost: { total_cost: 0.02 } })).toEqual({
      form: 'usage.cost.total_cost',
      usd: 0.02,
      isPartial: false,
    })
    expect(cost({ cost_in_usd_ticks: 37_756_000 })).toEqual({
      form: 'usage.cost_in_usd_ticks',
      usd: 0.0037756,
      isPartial: false,
    })
    expect(cost({ cost: null })).toBeUndefined()
    expect(cost({})).toBeUndefined()
  })

  test('includes what the upstream bills to an own key, and nothing of it twice', () => {
    expect(own(true, 0.95)).toEqual({ form, usd: 1, isPartial: false })
    expect(own(true, null)).toEqual({ form, usd: 0.05, isPartial: true })
    expect(own(false, 0.05)).toEqual({ form, usd: 0.05, isPartial: false })
    expect(own(false, 0.95)).toEqual({ form, usd: 0.05, isPartial: false })
    expect(own(undefined, 0.05)).toEqual({ form, usd: 0.05, isPartial: false })
    expect(own(undefined, 0.95)).toEqual({ form, usd: 1, isPartial: true })
  })

  test.each([-0.01, 1_000.01, 1e308, '0.5', true])('is none where it is %p', (odd) => {
    expect(cost({ cost: odd })?.usd).toBeUndefined()
    expect(cost({ cost: odd })?.form).toBe(form)
    expect(cost({ cost: { total_cost: odd } })?.usd).toBeUndefined()
  })
})

describe('tokens that are written to a cache at a price of their own are told apart', () => {
  const details = { cached_tokens: 20, cache_write_tokens: 70 }
  const read = { ...NOTHING, inputTokens: 100, outputTokens: 5, cachedInputTokens: 20 }
  const ofResponses = (input_tokens_details: object) =>
    readUsage('openai-responses', { input_tokens: 100, output_tokens: 5, input_tokens_details })
  const ofChat = (prompt_tokens_details: object) =>
    readUsage('openai-chat', { prompt_tokens: 100, completion_tokens: 5, prompt_tokens_details })

  test.each([
    ['Responses', ofResponses],
    ['Chat Completions', ofChat],
  ])('in %s, within the input', (_, readDetails) => {
    expect(readDetails(details)).toEqual({ ...read, cacheWriteTokens: 70 })
    expect(readDetails({ ...details, cache_write_tokens: 0 })).toEqual({
      ...read,
      cacheWriteTokens: 0,
    })
    expect(readDetails({ cached_tokens: 20 })).toEqual(read)
    expect(readDetails({ ...details, cache_write_tokens: null })).toEqual(read)
    const cache_write_tokens_details = { ttl_30m_tokens: 60, ttl_12h_tokens: 10 }
    expect(readDetails({ ...details, cache_write_tokens_details })).toEqual({
      ...read,
      cacheWriteTokens: 70,
      cacheWriteHourTokens: 10,
    })
  })
})

describe('reasoning that a vendor counts beside the completion is output, too', () => {
  const read = (total_tokens: unknown, reasoning_tokens: unknown = 94) =>
    readUsage('openai-chat', {
      prompt_tokens: 32,
      completion_tokens: 100,
      total_tokens,
      completion_tokens_details: { reasoning_tokens },
    })

  test('where the total tells so', () => {
    expect(read(226)).toMatchObject({ inputTokens: 32, outputTokens: 194, reasoningTokens: 94 })
  })

  test.each([
    ['within the completion', 132],
    ['in no total', undefined],
    ['in a total of something else', 227],
    ['in a total that is no number', '226'],
  ])('and is not counted twice where it is %s', (_, total) => {
    expect(read(total)).toMatchObject({ outputTokens: 100, reasoningTokens: 94 })
  })

  test('and none changes nothing', () => {
    expect(read(132, 0)).toMatchObject({ outputTokens: 100, reasoningTokens: 0 })
  })
})

describe('audio is told from text where the vendor does', () => {
  const tokens = (modality: string, tokenCount: unknown) => ({ modality, tokenCount })
  const gemini = (details: object) =>
    readUsage('gemini', { promptTokenCount: 90, candidatesTokenCount: 9, ...details })?.audio

  test('by Gemini', () => {
    expect(
      gemini({
        promptTokensDetails: [tokens('TEXT', 10), tokens('AUDIO', 60)],
        toolUsePromptTokensDetails: [tokens('AUDIO', 3)],
        cacheTokensDetails: [tokens('AUDIO', 20)],
        candidatesTokensDetails: [tokens('AUDIO', 4), tokens('AUDIO', 1)],
      }),
    ).toEqual({ input: 63, cachedInput: 20, output: 5 })
  })

  test.each([
    ['no details', {}],
    ['text alone', { promptTokensDetails: [tokens('TEXT', 90)] }],
    [
      'what is no count',
      { promptTokensDetails: [tokens('AUDIO', -1), null, tokens('AUDIO', 'x')] },
    ],
    ['no list', { promptTokensDetails: tokens('AUDIO', 1) }],
  ])('and not where there is %s', (_, details) => {
    expect(gemini(details)).toBeUndefined()
  })

  test('by Chat Completions', () => {
    const report = (audio_tokens: number) => ({
      prompt_tokens: 90,
      completion_tokens: 9,
      prompt_tokens_details: { cached_tokens: 0, audio_tokens },
      completion_tokens_details: { reasoning_tokens: 0, audio_tokens: audio_tokens / 10 },
    })
    expect(readUsage('openai-chat', report(40))?.audio).toEqual({
      input: 40,
      cachedInput: 0,
      output: 4,
    })
    expect(readUsage('openai-chat', report(0))?.audio).toBeUndefined()
  })
})

describe('a part that is greater than its whole is cut to it in every dialect', () => {
  const cached = { cachedInputTokens: 56_322, hasCutParts: true }
  test.each<[Dialect, string, object, object]>([
    [
      'openai-responses',
      'cached input',
      {
        ...{ input_tokens: 56_322, output_tokens: 9 },
        input_tokens_details: { cached_tokens: 72_960 },
      },
      cached,
    ],
    [
      'openai-responses',
      'reasoning',
      {
        ...{ input_tokens: 5, output_tokens: 9 },
        output_tokens_details: { reasoning_tokens: 10 },
      },
      { reasoningTokens: 9, hasCutParts: true },
    ],
    [
      'openai-chat',
      'cached input',
      {
        ...{ prompt_tokens: 56_322, completion_tokens: 9 },
        prompt_tokens_details: { cached_tokens: 72_960 },
      },
      cached,
    ],
    [
      'openai-chat',
      'cached input beside the details',
      { prompt_tokens: 56_322, completion_tokens: 9, prompt_cache_hit_tokens: 72_960 },
      cached,
    ],
    [
      'openai-chat',
      'cache writes',
      {
        ...{ prompt_tokens: 100, completion_tokens: 9 },
        prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 70 },
      },
      { cachedInputTokens: 60, cacheWriteTokens: 40, hasCutParts: true },
    ],
    [
      'openai-chat',
      'reasoning that no total tells to be beside',
      {
        ...{ prompt_tokens: 5, completion_tokens: 9, total_tokens: 14 },
        completion_tokens_details: { reasoning_tokens: 30 },
      },
      { outputTokens: 9, reasoningTokens: 9, hasCutParts: true },
    ],
    [
      'openai-chat',
      'audio',
      {
        ...{ prompt_tokens: 5, completion_tokens: 9 },
        prompt_tokens_details: { audio_tokens: 6 },
      },
      { audio: { input: 5, cachedInput: 0, output: 0 }, hasCutParts: true },
    ],
    [
      'gemini',
      'cached input',
      { promptTokenCount: 56_322, candidatesTokenCount: 9, cachedContentTokenCount: 72_960 },
      cached,
    ],
    [
      'anthropic-messages',
      'thinking',
      { input_tokens: 5, output_tokens: 9, output_tokens_details: { thinking_tokens: 10 } },
      { reasoningTokens: 9, hasCutParts: true },
    ],
    [
      'cohere-chat',
      'cached input',
      { billed_units: { input_tokens: 5, output_tokens: 9 }, cached_tokens: 6 },
      { cachedInputTokens: 5, hasCutParts: true },
    ],
  ])('%s: %s', (dialect, _name, report, expected) => {
    expect(readUsage(dialect, report)).toMatchObject(expected)
  })

  test.each<[Dialect, object]>([
    [
      'anthropic-messages',
      {
        ...{ input_tokens: 1, output_tokens: 82 },
        ...{ cache_creation_input_tokens: 225, cache_read_input_tokens: 965_602 },
      },
    ],
    [
      'bedrock-converse',
      {
        ...{ inputTokens: 1, outputTokens: 82 },
        ...{ cacheWriteInputTokens: 225, cacheReadInputTokens: 965_602 },
      },
    ],
  ])('%s: cached input stands beside the input, and nothing is cut', (dialect, report) => {
    const usage = readUsage(dialect, report)
    expect(usage).toMatchObject({
      ...{ inputTokens: 965_828, cachedInputTokens: 965_602, cacheWriteTokens: 225 },
    })
    expect(usage?.hasCutParts).toBeUndefined()
  })
})
