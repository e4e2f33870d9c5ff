import { describe, expect, test } from 'bun:test'
import { NO_RULES } from '../../src/core/access-token.ts'
import { Secret } from '../../src/core/secret.ts'
import { CallPrices } from '../../src/ledger/call-prices.ts'
import { PriceBook } from '../../src/ledger/price-book.ts'
import { catalog } from '../../src/providers/catalog.ts'
import { pricingOf } from '../../src/providers/define.ts'
import { ownedProvider } from '../../src/providers/owned.ts'
import type { AgentCall } from '../record-agents/agent-fixture.ts'
import { readAgentFixtures } from '../support/agent-fixtures.ts'
import {
  CHAT_JSON,
  CHAT_STREAM_WITH_USAGE,
  MESSAGES_JSON,
  MESSAGES_STREAM,
  RESPONSES_JSON,
  RESPONSES_STREAM,
} from '../support/dialect-samples.ts'
import { type GatewayScript, InProcessGateway } from '../support/in-process-gateway.ts'
import { json, type Script, stream } from '../support/scripted-upstream.ts'
import { TRANSLATED } from '../support/translated-samples.ts'

const fixtures = readAgentFixtures()

const ANSWERS: Readonly<Record<string, readonly [whole: Script, streamed: Script]>> = {
  ...Object.fromEntries(
    TRANSLATED.map(({ dialect, answer, stream: events }) => [
      dialect,
      [json(200, answer), stream(events)],
    ]),
  ),
  'openai-responses': [json(200, RESPONSES_JSON), stream(RESPONSES_STREAM)],
  'openai-chat': [json(200, CHAT_JSON), stream(CHAT_STREAM_WITH_USAGE)],
  'anthropic-messages': [json(200, MESSAGES_JSON), stream(MESSAGES_STREAM)],
}

interface Way {
  readonly name: string
  readonly script: Partial<GatewayScript>
  readonly targets: Readonly<Record<string, readonly Aim[]>>
}

interface Aim {
  readonly target: string
  readonly dialect: string
  readonly isTranslated: boolean
}

const native = (target: string, dialect: string): Aim => ({ target, dialect, isTranslated: false })
const translated = (target: string, dialect: string): Aim => ({
  ...{ target, dialect },
  isTranslated: true,
})

const RESPONSES = '/v1/responses'
const CHAT = '/v1/chat/completions'
const MESSAGES = '/v1/messages'

const VENDORS: Way['targets'] = {
  [RESPONSES]: [
    native('openai/gpt-5', 'openai-responses'),
    native('azure-openai/gpt-5', 'openai-responses'),
  ],
  [CHAT]: [
    native('openai/gpt-4o', 'openai-chat'),
    translated('anthropic/claude-opus-4-5', 'anthropic-messages'),
    translated('gemini/gemini-2.5-pro', 'gemini-generate-content'),
  ],
  [MESSAGES]: [
    native('anthropic/claude-opus-4-5', 'anthropic-messages'),
    translated('openai/gpt-5', 'openai-responses'),
    translated('openai/gpt-4o', 'openai-chat'),
    translated('gemini/gemini-2.5-pro', 'gemini-generate-content'),
  ],
}

const OWNED: Way['targets'] = {
  [RESPONSES]: [native('owned/openai-responses', 'openai-responses')],
  [CHAT]: [
    native('owned/openai-chat', 'openai-chat'),
    translated('owned/anthropic-messages', 'anthropic-messages'),
  ],
  [MESSAGES]: [
    native('owned/anthropic-messages', 'anthropic-messages'),
    translated('owned/openai-chat', 'openai-chat'),
  ],
}

const SANDBOX: Way['targets'] = {
  [RESPONSES]: [native('sandbox/echo', 'openai-responses')],
  [CHAT]: [
    native('sandbox/echo', 'openai-chat'),
    translated('sandbox-anthropic/echo', 'anthropic-messages'),
  ],
  [MESSAGES]: [
    native('sandbox-anthropic/echo', 'anthropic-messages'),
    translated('sandbox/echo', 'openai-chat'),
  ],
}

const owned = (['openai-responses', 'openai-chat', 'anthropic-messages'] as const).map(
  (dialect) => ({
    slug: dialect,
    provider: ownedProvider(`owned/${dialect}`, dialect, 'https://models.test'),
    model: 'm',
    credential: { secret: new Secret('planted-0123456789'), owner: 'account' as const },
  }),
)

const ownKeys = Object.fromEntries(catalog.map(({ id }) => [id, 'account' as const]))

const WAYS: readonly Way[] = [
  { name: 'platform, first account', script: { isOperators: true }, targets: VENDORS },
  { name: 'platform, second account', script: {}, targets: VENDORS },
  { name: 'own provider key', script: { credentials: ownKeys }, targets: VENDORS },
  { name: 'access token', script: { token: NO_RULES }, targets: VENDORS },
  {
    name: 'access token, own provider key',
    script: { token: NO_RULES, credentials: ownKeys },
    targets: VENDORS,
  },
  { name: 'owned model', script: { ownedModels: owned }, targets: OWNED },
  { name: 'sandbox', script: {}, targets: SANDBOX },
]

const prices = new CallPrices(
  new PriceBook({
    providers: new Map(catalog.map((provider) => [provider.id, pricingOf(provider)])),
    declaredPrices: () => ({ input: 100, output: 200, cachedInput: 100 }),
  }),
)
prices.load()

const BUDGETS = {
  none: {},
  money: {
    limitsSpend: true,
    priceDemand: { budget: 'the budget b (bud_1)', plan: 'the plan team' },
  },
} as const

async function send(
  { path, headers, body }: AgentCall,
  { target, dialect }: Aim,
  script: Partial<GatewayScript>,
) {
  const { model, stream: isStream = false } = JSON.parse(body) as {
    readonly model: string
    readonly stream?: boolean
  }
  const answers = ANSWERS[dialect]
  if (answers === undefined) throw new Error(`There is no answer in ${dialect}.`)
  const gateway = new InProcessGateway({
    ...script,
    gates: { [model]: [target] },
    prices,
    bodyLimits: { maxBodyBytes: 1024 * 1024 },
    upstream: [answers[isStream ? 1 : 0]],
  })
  const seen = await gateway.ask({ path, headers, body })
  const [record] = gateway.ledger.records
  const said = record?.refusalCode === undefined ? '' : seen.text
  if (gateway.upstream.unusedScripts === 0) await gateway.assertNothingIsLeft()
  return { sent: gateway.upstream.sent, status: seen.status, outcome: record?.outcome, said }
}

const FILLED_IN = ['model', 'include']

function askedOf(body: string): object {
  const members = Object.entries(JSON.parse(body) as Record<string, unknown>)
  return Object.fromEntries(members.filter(([name]) => !FILLED_IN.includes(name)))
}

describe.each(fixtures)('$agent $version', ({ calls }) => {
  describe.each(Object.entries(BUDGETS))('with a budget of %s', (_, limits) => {
    for (const { name, script, targets } of WAYS)
      for (const [path, aims] of Object.entries(targets))
        for (const aim of calls.some((call) => call.path === path) ? aims : [])
          test(`${name}: every call of ${path} reaches ${aim.target}`, async () => {
            for (const call of calls.filter((each) => each.path === path)) {
              const { sent, status, outcome, said } = await send(call, aim, { ...script, limits })
              const { run, turn } = call
              expect({ run, turn, said, status, outcome }).toEqual({
                ...{ run, turn, said: '', status: 200, outcome: 'succeeded' },
              })
              expect(sent).toHaveLength(1)
              if (!aim.isTranslated)
                expect(JSON.parse(sent[0]?.body ?? '')).toMatchObject(askedOf(call.body))
            }
          })
  })
})

test('every agent is recorded in an opening turn and a later one with results of tools', () => {
  expect(fixtures.map(({ agent }) => agent)).toEqual([
    'agents-sdk',
    'ai-sdk',
    'claude-code',
    'codex',
    'copilot-cli',
    'opencode',
  ])
  for (const { calls } of fixtures) {
    const turns = new Set(calls.map(({ run, path, turn }) => `${run} ${path} ${turn}`))
    for (const { run, path } of calls)
      expect(
        [`${run} ${path} opening`, `${run} ${path} later`].every((turn) => turns.has(turn)),
      ).toBe(true)
  }
})

test('no fixture tells of a machine, a user or a day', () => {
  for (const { calls } of fixtures)
    for (const { body, headers } of calls) {
      const text = body + JSON.stringify(headers)
      expect(text).not.toMatch(/sk-svc-|127\.0\.0\.1|20(?:2[5-9]|3\d)-(?!01-01)\d\d-\d\d/)
      expect(text).not.toMatch(/"(?:authorization|x-api-key|cookie)"/)
    }
})
