/** The configuration file's `models` and `unpricedPrice`: what they give, and every fault at once. */
import { describe, expect, test } from 'bun:test'
import { DEFAULT_UNPRICED_PRICE } from '../core/model-entry.ts'
import { catalog } from '../providers/catalog.ts'
import { parseConfiguration } from './parse-configuration.ts'

const parse = async (text: string) =>
  (await parseConfiguration({ path: 'gatehouse.yaml', text }, catalog)).models

/** `line: message` of each fault. */
async function faultsOf(text: string): Promise<readonly string[]> {
  try {
    await parse(text)
  } catch (thrown) {
    return String(thrown)
      .split('\n')
      .slice(1)
      .map((line) => line.replace('gatehouse.yaml:', ''))
  }
  return []
}

const EXAMPLE = `
models:
  - model: anthropic/claude-fable-5-2
    like: anthropic/claude-opus-4-5
    prices:
      - { from: 2026-11-20, input: 5, output: 25, cachedInput: 0.5, cacheWrite: 6.25, cacheWriteHour: 10,
          above: [{ inputTokens: 200000, input: 10, output: 37.5 }], tiers: { priority: { input: 10, output: 50 } },
          inputAudio: 10, outputAudio: 40, outputImage: 30, perRequest: 0 }
    facts: { contextTokens: 400000, maxOutputTokens: 64000, inputModalities: [text, image], outputModalities: [text], reasoningEfforts: [low, high] }
    retiresOn: 2027-03-01
unpricedPrice: { input: 7 }
`

test('an entry has prices by date, and facts', async () => {
  const overlay = await parse(EXAMPLE)
  expect(overlay.find('anthropic/claude-fable-5-2')).toEqual({
    model: 'anthropic/claude-fable-5-2',
    like: 'anthropic/claude-opus-4-5',
    prices: [
      {
        from: '2026-11-20',
        ...{ input: 5, output: 25, cachedInput: 0.5, cacheWrite: 6.25, cacheWriteHour: 10 },
        ...{ inputAudio: 10, outputAudio: 40, outputImage: 30, perRequest: 0 },
        above: [{ inputTokens: 200_000, input: 10, output: 37.5 }],
        tiers: { priority: { input: 10, output: 50 } },
      },
    ],
    facts: {
      contextTokens: 400_000,
      maxOutputTokens: 64_000,
      inputModalities: ['text', 'image'],
      outputModalities: ['text'],
      reasoningEfforts: ['low', 'high'],
    },
    retiresOn: '2027-03-01',
  })
  expect(overlay.unpricedPrice).toEqual({ ...DEFAULT_UNPRICED_PRICE, input: 7 })
})

test('takes has rules, and null and false switch rules off', async () => {
  const takes = {
    ...{ maxOutputTokens: 200_000, efforts: ['low', 'high'], maxStops: null },
    ...{ strictSchemas: false, refusesPrefill: true, refusedSettings: ['temperature'] },
    toolNames: { maxLength: 48, characters: 'a-z_', first: 'a-z' },
    thinkingBudget: { least: 128, most: 32_768, zero: true },
  }
  const overlay = await parse(`
models:
  - { model: openai/gpt-x, like: openai/gpt-y, takes: { maxOutputTokens: 9 } }
  - { model: openai/gpt-y, takes: ${JSON.stringify(takes)} }
`)
  const ofY = { target: 'openai/gpt-y', takes: takes as object }
  expect(overlay.takesOf('openai/gpt-y')).toEqual([ofY])
  expect(overlay.takesOf('openai/gpt-x')).toEqual([
    ofY,
    { target: 'openai/gpt-x', takes: { maxOutputTokens: 9 } },
  ])
  expect(overlay.takesOf('openai/gpt-z')).toEqual([{ target: 'openai/gpt-z', takes: undefined }])
})

test.each([
  ['{ maxOutputToken: 9 }', 'takes', 'maxOutputToken'],
  ['{ maxOutputTokens: 0 }', 'takes.maxOutputTokens', ''],
  ['{ efforts: [huge] }', 'takes.efforts[0]', 'minimal'],
  ['{ efforts: [] }', 'takes.efforts', ''],
  ['{ refusedSettings: [stop] }', 'takes.refusedSettings[0]', 'temperature'],
  ['{ toolNames: { maxLength: 8, characters: a-z } }', 'takes.toolNames.maxLength', '16'],
  [
    '{ toolNames: { maxLength: 64, characters: z-a } }',
    'takes.toolNames.characters',
    'a-zA-Z0-9_-',
  ],
  ["{ toolNames: { maxLength: 64, characters: 'a]b' } }", 'takes.toolNames.characters', 'ranges'],
  ['{ thinkingBudget: { least: 9, most: 1 } }', 'takes.thinkingBudget', 'least up to most'],
  ['{ systemFirst: null }', 'takes.systemFirst', ''],
  ['{ maxUserLength: 8 }', 'takes.maxUserLength', '32'],
])('a fault of takes is named: %s', async (takes, path, words) => {
  const [fault = '', ...others] = await faultsOf(
    `models:\n  - { model: openai/gpt-x, takes: ${takes} }`,
  )
  expect(others).toEqual([])
  expect(fault).toContain(`models[0].${path}`)
  expect(fault).toContain(words)
})

test('a name wins over patterns, and the longest pattern over the others', async () => {
  const overlay = await parse(
    ['openai/*', 'openai/gpt-*', 'openai/gpt-6*', 'openai/gpt-6']
      .map((model) => `  - { model: '${model}', facts: { contextTokens: 1000 } }`)
      .toReversed()
      .reduce((text, line) => `${text}\n${line}`, 'models:'),
  )
  const found = (target: string) => overlay.find(target)?.model
  expect(found('openai/gpt-6')).toBe('openai/gpt-6')
  expect(found('openai/gpt-6.2')).toBe('openai/gpt-6*')
  expect(found('openai/gpt-5')).toBe('openai/gpt-*')
  expect(found('openai/o3')).toBe('openai/*')
  expect(found('groq/gpt-5')).toBeUndefined()
})

describe('a fault', () => {
  const entry = (...lines: string[]) =>
    ['models:', '  - model: openai/new', ...lines.map((line) => `    ${line}`)].join('\n')

  test.each([
    ['no list', 'models: {a: 1}', '1: models must be an array'],
    ['an unknown member', entry('colour: red'), '3: models[0].colour is not a known field'],
    [
      'an unknown price',
      entry('prices: [{input: 1, output: 1, dinner: 2}]'),
      '3: models[0].prices[0].dinner is not a known field',
    ],
    [
      'a negative price',
      entry('prices:', '  - output: 1', '    input: -1'),
      '5: models[0].prices[0].input must be at least 0',
    ],
    [
      'an impossible date',
      entry('prices: [{from: 2026-02-30, input: 1, output: 1}]'),
      '3: models[0].prices[0].from must be a date such as 2026-11-20, or a time such as 2026-11-20T16:00:00Z',
    ],
    [
      'a date twice',
      entry(
        'prices:',
        '  - {from: 2026-11-01, input: 1, output: 1}',
        '  - {from: "2026-11-01T00:00:00Z", input: 1, output: 1}',
      ),
      '5: models[0].prices[1] must have another date than those before it',
    ],
    [
      'half a price',
      entry('prices: [{input: 1}]'),
      '3: models[0].prices[0] must have output, or the entry like',
    ],
    [
      'lengths in disorder',
      entry('prices: [{input: 1, output: 1, above: [{inputTokens: 2}, {inputTokens: 2}]}]'),
      '3: models[0].prices[0].above must have ascending inputTokens',
    ],
    [
      'a price only of long calls',
      entry('prices: [{input: 1, output: 1, above: [{inputTokens: 2, cachedInput: 1}]}]'),
      '3: models[0].prices[0].above[0].cachedInput must also be a price without above',
    ],
    [
      'a star in the middle',
      "models:\n  - model: 'openai/*new'",
      '2: models[0].model must be provider/model, such as openai/gpt-5; a * may only be its last character',
    ],
    [
      'an unknown provider',
      'models:\n  - model: canary/new',
      '2: models[0].model must begin with the id of a provider: GET /v1/providers lists them',
    ],
    [
      'a model twice',
      'models:\n  - model: openai/a\n  - model: openai/a',
      '3: models[1].model must be another than that of the entries before it',
    ],
    [
      'a like that nothing knows',
      entry('like: openai/canary-2000'),
      '3: models[0].like is not a model with a price: name another entry, or a model of GET /v1/provider-models',
    ],
    [
      'an unknown modality',
      entry('facts: {inputModalities: [smell]}'),
      '3: models[0].facts.inputModalities[0] must be "text" or "image" or "audio" or "video" or "file" or "embeddings"',
    ],
    [
      'a retirement that is no day',
      entry('retiresOn: 2027-02-30'),
      '3: models[0].retiresOn must be a date such as 2027-03-01',
    ],
    [
      'a price of nothing known',
      'unpricedPrice: {input: -1}',
      '1: unpricedPrice.input must be at least 0',
    ],
  ])('%s', async (_name, text, fault) => {
    expect(await faultsOf(text)).toEqual([fault])
  })

  test('in a circle is named at each entry that leads into it', async () => {
    const models = [
      'a, like: openai/b',
      'b, like: openai/c',
      'c, like: openai/b',
      'd, like: openai/d',
    ]
    expect(
      await faultsOf(
        ['models:', ...models.map((model) => `  - { model: openai/${model} }`)].join('\n'),
      ),
    ).toEqual(
      [0, 1, 2, 3].map(
        (at) => `${at + 2}: models[${at}].like must not lead to an entry that leads back to itself`,
      ),
    )
  })

  test.each([
    ['is no fault', 'openai/gpt-5', 0],
    ['into a circle is named at each entry', 'openai/m-1998', 201],
  ])('in a chain of thousands %s', async (_name, last, faults) => {
    const models = Array.from({ length: 2_000 }, (_, at) => {
      const like = at === 1_999 ? last : `openai/m-${at + 1}`
      return `  - { model: openai/m-${at}, like: ${like} }`
    })
    expect(await faultsOf(['models:', ...models].join('\n'))).toHaveLength(faults)
  })

  test('does not hide the others, of this section and of the rest', async () => {
    const faults = await faultsOf(
      [
        'plans: {default: canary}',
        'models:',
        '  - { model: openai/a, colour: red }',
        '  - { model: openai/b, prices: [{ from: never, input: -1, output: 1 }] }',
        '  - { model: openai/c, like: openai/c }',
        '  - { model: acme/d }',
      ].join('\n'),
    )
    expect(faults.map((fault) => fault.split(' ').slice(0, 2).join(' '))).toEqual([
      '1: plans.default',
      '3: models[0].colour',
      '4: models[1].prices[0].from',
      '4: models[1].prices[0].input',
      '5: models[2].like',
      '6: models[3].model',
    ])
  })
})

test('entries may name configured providers, and models with a price of the package or of a provider', async () => {
  const text = [
    'providers: [{id: acme, name: Acme, baseUrl: "http://acme.test", prices: {large: {input: 1, output: 2}}}]',
    'models:',
    '  - { model: acme/new, like: acme/large }',
    '  - { model: acme/newer, like: acme/new }',
    '  - { model: openai/gpt-next, like: openai/gpt-5 }',
  ].join('\n')
  expect((await parse(text)).size).toBe(3)
})

test('facts are completed by those of the model that an entry is like', async () => {
  const overlay = await parse(
    [
      'models:',
      '  - { model: openai/b, like: openai/a, facts: { contextTokens: 1 } }',
      '  - { model: openai/a, like: openai/gpt-5, facts: { contextTokens: 2, maxOutputTokens: 3 } }',
    ].join('\n'),
  )
  const listed = (target: string) =>
    target === 'openai/gpt-5' ? { reasoningEfforts: ['low'], maxOutputTokens: 9 } : undefined
  expect(overlay.factsOf('openai/b', listed)).toEqual({
    contextTokens: 1,
    maxOutputTokens: 3,
    reasoningEfforts: ['low'],
  })
  expect(overlay.factsOf('openai/gpt-5', listed)).toEqual({
    reasoningEfforts: ['low'],
    maxOutputTokens: 9,
  })
  expect(overlay.factsOf('openai/unknown', listed)).toBeUndefined()
})

test('20,000 entries are accepted, one more is a fault', async () => {
  const models = (count: number) =>
    `models:\n${Array.from({ length: count }, (_, at) => `- {model: openai/m${at}}\n`).join('')}`
  expect((await parse(models(20_000))).size).toBe(20_000)
  expect(await faultsOf(models(20_001))).toEqual(['1: models must have at most 20000 elements'])
})

test('a file of more than eight mebibytes is refused before it is parsed', async () => {
  expect(await faultsOf(`# ${'x'.repeat(8 * 1024 * 1024)}`)).toEqual([
    '1: must have at most 8388608 characters',
  ])
})
