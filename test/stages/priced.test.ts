/** Limits in money and targets without a known price; and what makes a known price an estimate. */
import { describe, expect, test } from 'bun:test'
import { createPlans, type PlansSection } from '../../src/core/plan.ts'
import { budgetOf } from '../../src/limits/usage-limits.fixture.ts'
import { UsageLimits } from '../../src/limits/usage-limits.ts'
import { CALLER, OTHER_TOOL_FEE } from '../support/in-process-gateway.ts'
import { CHAT_ANSWER, CHAT_USAGE, chatBody, GATE, runRows, TARGET } from '../support/stage-rows.ts'

const UNPRICED = 'groq/unpriced'
const budget = 'the budget b (bud_1)'
const plan = 'the plan team'
const refused = {
  status: 400,
  json: { error: { type: 'invalid_request_error', code: 'price_unknown' } },
  headers: { 'x-gatehouse-target': null },
}
const gateway = (targets: readonly string[], priceDemand?: object) => ({
  gates: { [GATE]: targets },
  ...(priceDemand === undefined ? {} : { limits: { priceDemand: priceDemand as never } }),
})

describe('a target with an unknown price', () => {
  runRows([
    {
      name: 'is tried if no limit is in money',
      gateway: gateway([UNPRICED]),
      upstream: [CHAT_ANSWER],
      seen: { status: 200 },
      sent: [{}],
      settled: { target: UNPRICED },
    },
    {
      name: 'is refused by a budget in money, and the error says how to declare a price',
      gateway: gateway([UNPRICED], { budget, plan: undefined }),
      seen: {
        ...refused,
        contains: [UNPRICED, budget, 'add the price to gatehouse.yaml', '\\"unpriced\\"'],
      },
      settled: { outcome: 'failed', status: 400, errorKind: 'invalid_request', attempts: 0 },
      spent: { tokens: 0 },
    },
    {
      name: 'is refused by a plan in money',
      gateway: gateway([UNPRICED], { budget: undefined, plan }),
      seen: { ...refused, contains: [plan] },
      settled: { outcome: 'failed', attempts: 0 },
    },
    {
      name: 'is skipped for one with a price',
      gateway: gateway([UNPRICED, TARGET], { budget, plan }),
      upstream: [CHAT_ANSWER],
      seen: { status: 200, headers: { 'x-gatehouse-target': TARGET } },
      sent: [{}],
      settled: { target: TARGET, attempts: 1 },
    },
    {
      name: 'is not used as a fallback',
      gateway: gateway([TARGET, UNPRICED], { budget, plan }),
      upstream: [[{ type: 'fail', failure: 'connect_failed' }]],
      seen: { status: 502 },
      sent: [{}],
      settled: { outcome: 'failed', target: TARGET, attempts: 1 },
    },
    {
      name: 'on the account’s own credential does not concern its plan',
      gateway: {
        ...gateway([UNPRICED], { budget: undefined, plan }),
        credentials: { groq: 'account' },
      },
      upstream: [CHAT_ANSWER],
      seen: { status: 200 },
      sent: [{}],
      settled: { target: UNPRICED },
    },
    {
      name: 'on the account’s own credential concerns its budgets',
      gateway: { ...gateway([UNPRICED], { budget, plan }), credentials: { groq: 'account' } },
      seen: refused,
      settled: { outcome: 'failed', attempts: 0 },
    },
    {
      name: 'is every target if no price is known',
      gateway: { ...gateway([TARGET], { budget, plan: undefined }), hasNoPrices: true },
      seen: refused,
      settled: { outcome: 'failed', attempts: 0 },
    },
  ])
})

describe('a request that chooses a price above the list’s', () => {
  const asks = (members: object, isRefused: boolean) => ({
    name: `by ${JSON.stringify(members)} is ${isRefused ? 'refused by' : 'within'} a budget in money`,
    request: { body: chatBody(members) },
    gateway: gateway([TARGET], { budget, plan: undefined }),
    ...(isRefused
      ? {
          seen: { ...refused, contains: [Object.keys(members)[0] ?? '', budget, 'Omit'] },
          settled: { outcome: 'failed' as const, attempts: 0 },
          spent: { tokens: 0 },
        }
      : {
          upstream: [CHAT_ANSWER],
          seen: { status: 200 },
          sent: [{}],
          settled: { outcome: 'succeeded' as const },
        }),
  })
  runRows([
    asks({ service_tier: 'priority' }, true),
    asks({ service_tier: 'flex' }, false),
    asks({ service_tier: 'auto' }, false),
    asks({ speed: 'fast' }, true),
    asks({ inference_geo: 'us' }, true),
    asks({ tools: [{ type: 'image_generation' }] }, false),
    asks({ modalities: ['text', 'audio'] }, true),
    asks({ modalities: ['text'] }, false),
    // A tool that is only offered does not change the price.
    asks({ tools: [{ type: 'web_search' }] }, false),
    asks({ web_search_options: {} }, false),
    asks({ search_parameters: { mode: 'auto' } }, false),
    asks({ plugins: [{ id: 'web' }] }, false),
    asks({ tools: [{ type: 'advisor_20260301' }] }, true),
    asks({ tools: [{ type: 'function', function: { name: 'web_search' } }] }, false),
    {
      ...asks({ tools: [] }, false),
      name: 'by a tool whose type is there twice is within a budget in money',
      request: {
        body: `{"model":"${GATE}","messages":[],"tools":[{"type":"web_search","type":"function","function":{"name":"f"}}]}`,
      },
    },
    {
      ...asks({ service_tier: 'priority' }, false),
      name: 'is served where no limit is in money',
      gateway: gateway([TARGET]),
    },
  ])
})

describe('an uncounted tool', () => {
  const tokens = CHAT_USAGE.inputTokens + 10 * CHAT_USAGE.outputTokens
  const costs = (members: object, tools: number) => ({
    name: `costs ${tools} usual fees with ${JSON.stringify(members)}`,
    request: { body: chatBody(members) },
    upstream: [CHAT_ANSWER],
    seen: { status: 200 },
    sent: [{}],
    settled: {
      cost: {
        nanoUsd: tokens + tools * OTHER_TOOL_FEE,
        status: tools === 0 ? ('exact' as const) : ('estimated' as const),
        source: 'scripted',
      },
    },
  })
  runRows([
    costs({ web_search_options: {} }, 1),
    costs({ tools: [{ type: 'web_search_preview' }] }, 1),
    costs(
      { tools: [{ type: 'function', function: { name: 'f' } }, { type: 'code_interpreter' }] },
      1,
    ),
    {
      ...costs({}, 1),
      name: 'costs one usual fee when its type is spelled with an escape',
      request: {
        body: `{"model":"${GATE}","messages":[],"tools":[{"type":"web\\u005fsearch"}]}`,
      },
    },
    costs({ search_parameters: {}, plugins: [{ id: 'web' }] }, 1),
    costs({ search_parameters: { mode: 'on' } }, 1),
    costs({ search_parameters: { mode: 'off' } }, 0),
    costs({ plugins: [] }, 0),
    costs({ web_search_options: null, search_parameters: null, plugins: null, tools: null }, 0),
  ])
})

describe('a price is required by', () => {
  const usage = (section: PlansSection) => new UsageLimits({ plans: createPlans(section) })
  const accounts = { [CALLER.accountId]: 'team' }
  const spend = { type: 'spend', nanoUsd: 5 } as const
  const scope = { type: 'gate', gateId: GATE } as never
  const account = { accountId: CALLER.accountId, scope }
  const ask = (limits: UsageLimits) => limits.priceDemand(CALLER, { gateId: GATE })

  test('a plan in money, unless it allows unpriced calls', () => {
    const team = { monthlySpendUsd: 5 }
    expect(ask(usage({ accounts, definitions: { team } }))).toMatchObject({ plan: 'the plan team' })
    const allowing = { ...team, unpriced: 'allow' } as const
    expect(ask(usage({ accounts, definitions: { team: allowing } }))).toBeUndefined()
    expect(ask(usage({ accounts, definitions: { team: { monthlyTokens: 5 } } }))).toBeUndefined()
  })

  test('a budget in money of the gate or the key, unless it allows unpriced calls', () => {
    const limits = usage({ accounts, definitions: { team: {} } })
    limits.putBudget(budgetOf({ ...account, id: 'allowing', limit: spend, unpriced: 'allow' }))
    limits.putBudget(budgetOf({ ...account, id: 'tokens', unpriced: 'refuse' }))
    expect(ask(limits)).toBeUndefined()
    limits.putBudget(
      budgetOf({ ...account, id: 'strict', name: 'n', limit: spend, unpriced: 'refuse' }),
    )
    expect(ask(limits)).toEqual({ plan: undefined, budget: 'the budget n (strict)' })
    expect(limits.priceDemand(CALLER, { gateId: 'another' })).toBeUndefined()
  })
})

describe('a call with charges beside tokens', () => {
  const asks = (members: object, isExtra: boolean) => ({
    name: `${JSON.stringify(members)}: ${isExtra}`,
    request: { body: chatBody(members) },
    upstream: [CHAT_ANSWER],
    seen: { status: 200 },
    sent: [{}],
    settled: {
      cost: { nanoUsd: 81, status: isExtra ? 'estimated' : 'exact', source: 'scripted' } as const,
    },
  })
  runRows([
    asks({ service_tier: 'flex' }, true),
    asks({ service_tier: 'priority' }, true),
    asks({ service_tier: 'default' }, false),
    asks({ service_tier: null }, false),
    asks({ speed: 'fast' }, true),
    asks({ speed: 'standard' }, false),
    asks({ inference_geo: 'us' }, true),
    asks({ inference_geo: 'global' }, false),
    asks({ tools: [{ type: 'function', function: { name: 'web_search' } }] }, false),
    asks({ tools: [null, 'web_search'] }, false),
    asks({ modalities: ['audio'] }, true),
    asks({ modalities: ['text'] }, false),
  ])
})
