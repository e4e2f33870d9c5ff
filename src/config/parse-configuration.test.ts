/**
 * The configuration file: what it gives, and that it names the line of each fault and never the
 * value.
 */
import { describe, expect, test } from 'bun:test'
import { NO_OVERLAY } from '../core/model-overlay.ts'
import { catalog } from '../providers/catalog.ts'
import type { Provider } from '../providers/define.ts'
import { parseConfiguration } from './parse-configuration.ts'
import { SettingsError } from './setting-type.ts'

const PATH = '/etc/gatehouse.yaml'
const parse = (text: string) => parseConfiguration({ path: PATH, text }, catalog)

async function errorOf(text: string): Promise<SettingsError> {
  try {
    await parse(text)
  } catch (thrown) {
    if (thrown instanceof SettingsError) return thrown
    throw thrown
  }
  throw new Error('it was accepted')
}

const refusalOf = async (text: string) => (await errorOf(text)).message
const faultsIn = async (text: string) => (await errorOf(text)).faults

/** A provider that is right but for these lines, which are lines 5 and following. */
const provider = (...lines: string[]) =>
  ['providers:', '  - id: acme', '    name: Acme AI', '    baseUrl: https://api.acme.test/v1']
    .concat(lines.map((line) => `    ${line}`))
    .join('\n')

test('a provider has defaults for all but its id, its name and its address', async () => {
  expect((await parse(provider())).providers).toEqual([
    {
      id: 'acme',
      name: 'Acme AI',
      baseUrl: 'https://api.acme.test/v1',
      endpoints: { 'openai-chat': { path: '/chat/completions', countsStreamsOnRequest: true } },
    },
  ])
})

test('a provider may set the other members too', async () => {
  const text = provider(
    'apiKeyVariable: ACME_TOKEN',
    'dialects: [openai-chat, openai-responses]',
    'chatPath: /v2/chat',
    'headers: {x-team: gateway}',
    'countsStreamsOnRequest: false',
    "prices: {large: {input: 2, output: 8, cachedInput: 0.5}, '*': {input: 0.1, output: 0}}",
    'toolFees: {webSearch: 10, fileSearch: 0}',
  ).replace('/v1', '/v1/')
  expect((await parse(text)).providers).toEqual([
    {
      id: 'acme',
      name: 'Acme AI',
      baseUrl: 'https://api.acme.test/v1',
      keyVariable: 'ACME_TOKEN',
      fixedHeaders: { 'x-team': 'gateway' },
      endpoints: {
        'openai-chat': { path: '/v2/chat', countsStreamsOnRequest: false },
        'openai-responses': { path: '/responses' },
      },
      declaredPrices: new Map([
        ['large', { input: 2, output: 8, cachedInput: 0.5 }],
        ['*', { input: 0.1, output: 0 }],
      ]),
      toolFees: { webSearch: 10, fileSearch: 0 },
    },
  ])
})

test('the example of the documentation is valid, and shows the defaults', async () => {
  const document = await Bun.file(
    new URL('../../docs/operations/configure.md', import.meta.url),
  ).text()
  const [, example = ''] = /```yaml\n([\s\S]*?)```/.exec(document) ?? []
  const [plain] = (await parse(provider())).providers
  expect((await parse(example)).providers).toEqual([
    {
      ...plain,
      keyVariable: 'ACME_API_KEY',
      fixedHeaders: { 'x-team': 'gateway' },
      declaredPrices: new Map([
        ['acme-large', { input: 2, output: 8, cachedInput: 0.5 }],
        ['*', { input: 0.5, output: 1 }],
      ]),
      toolFees: { webSearch: 10 },
    },
  ] as Provider[])
  expect((await parse(example)).plans).toEqual({
    default: 'team',
    accounts: { acct_default: 'unlimited' },
    definitions: {
      team: {
        requestsPerMinute: 600,
        tokensPerMinute: 500_000,
        concurrentCalls: 50,
        monthlyTokens: null,
        monthlySpendUsd: 200,
      },
      free: { monthlyTokens: 100_000 },
      trial: { accountRequestsPerMinute: 120, accountConcurrentCalls: 10 },
      labs: { monthlySpendUsd: 50, unpriced: 'allow' },
    },
  })
})

test.each(['', '# nothing yet\n', '{}', 'providers: []'])(
  'an empty file has no entries: %j',
  async (text) => {
    expect(await parse(text)).toEqual({
      providers: [],
      keysInFiles: new Map(),
      plans: undefined,
      models: NO_OVERLAY,
      logLevel: undefined,
    })
  },
)

describe('a fault is reported with its line and its place', () => {
  test.each([
    ['a member of no section', 'plan: []', 1, 'plan is not a known field'],
    ['a section that is not a list', 'providers:\n  acme: {}', 1, 'providers must be an array'],
    ['no mapping at all', '- a\n- b', 1, 'the file must be an object'],
    [
      'a missing member',
      'providers:\n  - id: acme\n    name: Acme',
      2,
      'providers[0].baseUrl is required',
    ],
    ['an unknown member', provider('colour: red'), 5, 'providers[0].colour is not a known field'],
    ['a key in the file', provider('apiKey: canary'), 5, 'providers[0].apiKey must not be here'],
    ['a wrong type', provider('countsStreamsOnRequest: 1'), 5, 'must be true or false'],
    [
      'an unknown dialect',
      provider('dialects:', '  - canary'),
      6,
      'dialects[0] must be "openai-chat" or',
    ],
    [
      'a dialect twice',
      provider('dialects: [openai-chat, openai-chat]'),
      5,
      'dialects must not hold',
    ],
    [
      'a variable that is a key',
      provider('apiKeyVariable: sk-canary'),
      5,
      'must be the name of a variable',
    ],
    [
      "one of the gateway's variables",
      provider('apiKeyVariable: GATEHOUSE_BOOTSTRAP_KEY'),
      5,
      "gateway's own",
    ],
    ['a path without a slash', provider('chatPath: chat'), 5, 'chatPath must be a path'],
    [
      'a path that holds a query',
      provider('chatPath: /chat?key=canary'),
      5,
      'chatPath must be a path',
    ],
    [
      'a credential as a header',
      provider('headers:', '  x-api-key: canary'),
      6,
      'headers.x-api-key must not carry',
    ],
    [
      'another',
      provider('headers: {authorization: Bearer canary}'),
      5,
      'headers.authorization must not carry',
    ],
    [
      'one more',
      provider('headers: {ocp-apim-subscription-key: canary}'),
      5,
      'must not carry a credential',
    ],
    [
      "a header of the gateway's",
      provider('headers: {content-length: "1"}'),
      5,
      'gateway itself decides',
    ],
    ['a header in capitals', provider('headers: {X-Team: a}'), 5, 'in small letters'],
    ['a header of two lines', provider('headers: {x-team: "a\\nb"}'), 5, 'printable ASCII'],
    [
      'an id of the catalog',
      provider().replace('id: acme', 'id: openai'),
      2,
      "providers[0].id must not be 'openai'",
    ],
    ['the id of owned models', provider().replace('id: acme', 'id: owned'), 2, 'must not be owned'],
    ['an id in capitals', provider().replace('id: acme', 'id: Acme'), 2, 'small letters'],
    [
      "an id whose variables would be the gateway's",
      provider().replace('id: acme', 'id: gatehouse'),
      2,
      'gatehouse',
    ],
    [
      'an id twice',
      `${provider()}\n${provider().split('\n').slice(1).join('\n')}`,
      5,
      'providers[1].id must be another',
    ],
    ['broken YAML', 'providers:\n  - id: acme\n   name: "canary', 3, 'is not valid YAML here'],
    ['a member twice', provider('name: canary'), 5, 'is not valid YAML here (duplicate key)'],
    ['an unknown plan', 'plans:\n  default: canary-plan', 2, 'plans.default is not a plan'],
    [
      'a price below nothing',
      provider('prices: {large: {input: -1, output: 1}}'),
      5,
      'prices.large.input must',
    ],
    ['half a price', provider('prices: {large: {input: 1}}'), 5, 'prices.large.output'],
    [
      'an unknown limit',
      'plans:\n  definitions:\n    team: {calls: 1}',
      3,
      'plans.definitions.team.calls',
    ],
    [
      'a negative limit',
      'plans:\n  definitions:\n    team:\n      monthlyTokens: -1',
      4,
      'monthlyTokens must',
    ],
    ['two documents', 'providers: []\n---\nproviders: []', 2, 'is not valid YAML here'],
  ])('%s', async (_name, text, line, said) => {
    const message = await refusalOf(text)
    expect(message).toContain(`${PATH}:${line}: `)
    expect(message).toContain(said)
    expect(message).not.toContain('canary')
  })

  test.each([
    'ftp://api.acme.test',
    'api.acme.test/v1',
    'https://user:canary@api.acme.test/v1',
    'https://canary@api.acme.test/v1',
    'https://api.acme.test/v1?key=canary',
    'https://api.acme.test/v1#canary',
    'file:///etc/canary',
  ])('an address such as %s', async (address) => {
    const message = await refusalOf(
      provider().replace('https://api.acme.test/v1', JSON.stringify(address)),
    )
    expect(message).toContain(`${PATH}:4: providers[0].baseUrl must be an http or https address`)
    expect(message).not.toContain('canary')
  })

  test('and every other fault of the file too, of every kind, in the order of lines', async () => {
    const text = provider('colour: red', 'apiKeyFile: /nowhere/canary', 'chatPath: chat')
      .replace('id: acme', 'id: openai')
      .concat('\nplans: {default: canary}')
    expect(await faultsIn(text)).toEqual([
      { file: PATH, line: 2, message: expect.stringContaining("providers[0].id must not be 'op") },
      { file: PATH, line: 5, message: 'providers[0].colour is not a known field' },
      {
        file: PATH,
        line: 6,
        message: 'providers[0].apiKeyFile names a file that cannot be read (ENOENT)',
      },
      { file: PATH, line: 7, message: expect.stringContaining('providers[0].chatPath must be') },
      { file: PATH, line: 8, message: expect.stringContaining('plans.default is not a plan') },
    ])
  })
})

test('nested aliases do not fill the memory', async () => {
  const levels = Array.from({ length: 12 }, (_, index) => {
    const items = Array.from({ length: 10 }, () => (index === 0 ? 'x' : `*a${index - 1}`))
    return `a${index}: &a${index} [${items.join(', ')}]`
  })
  expect(await refusalOf(levels.join('\n'))).toContain('aliases')
})
