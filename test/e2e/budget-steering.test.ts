/** Budgets that steer calls to other targets before they refuse them, over the real program. */
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { controlPlaneCall, createGate, createKey, waitForLogRow } from '../support/control-plane.ts'
import { type PricedUpstream, startPricedUpstream } from '../support/priced-upstream.ts'
import { runCliInProcess } from '../support/run-cli-in-process.ts'
import { scrape } from '../support/scrape.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(180_000)

const [DEAR, MID, CHEAP, FREE, UNPRICED] = [
  ...['acme/dear', 'acme/mid', 'acme/cheap', 'acme/free', 'acme/unpriced'],
] as const

const METRICS_TOKEN = 'planted-metrics-token'

let upstream: PricedUpstream
let folder: TemporaryFolder
let gatehouse: Gatehouse
beforeAll(async () => {
  upstream = startPricedUpstream()
  folder = await createTemporaryFolder()
  await writeFile(join(folder.path, 'gatehouse.yaml'), upstream.configuration)
  gatehouse = await startGatehouse({
    dataFolder: folder.path,
    environment: {
      ...{ ACME_API_KEY: 'planted-key', GATEHOUSE_TRUSTED_HOSTS: '127.0.0.1' },
      GATEHOUSE_METRICS_TOKEN: METRICS_TOKEN,
    },
  })
})
afterAll(async () => {
  await gatehouse.remove()
  await folder.remove()
  upstream.stop()
})
beforeEach(() => upstream.reset())

interface Budget {
  readonly id: string
  readonly used: { readonly usd: number }
}

async function control<Body = unknown>(method: string, path: string, body?: object): Promise<Body> {
  const response = await controlPlaneCall(gatehouse, method, path, body)
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${text}`)
  return (text === '' ? undefined : JSON.parse(text)) as Body
}

const TOOL_RESULT = [
  { role: 'user', content: 'Read the file.' },
  {
    role: 'assistant',
    tool_calls: [{ id: 'c1', type: 'function', function: { name: 'read', arguments: '{}' } }],
  },
  { role: 'tool', tool_call_id: 'c1', content: 'text' },
]
const TOOLS = [{ type: 'function', function: { name: 'read', parameters: { type: 'object' } } }]

interface Seen {
  readonly status: number
  readonly target: string | null
  readonly budget: string | null
  readonly ignored: string | null
  readonly id: string | null
  readonly text: string
}

interface Ask {
  readonly key?: string
  readonly path?: string
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
}

async function call(gate: string, { key, path, body, headers }: Ask = {}): Promise<Seen> {
  const response = await fetch(`${gatehouse.url}${path ?? '/v1/chat/completions'}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key ?? gatehouse.key}`,
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify({
      model: gate,
      ...(body ?? { messages: [{ role: 'user', content: 'hi' }] }),
    }),
  })
  const read = (name: string) => response.headers.get(name)
  return {
    status: response.status,
    target: read('x-gatehouse-target'),
    budget: read('x-gatehouse-budget'),
    ignored: read('x-gatehouse-ignored'),
    id: read('x-request-id'),
    text: await response.text(),
  }
}

let gates = 0

interface Scene {
  readonly gate: string
  readonly budget: Budget
  readonly key: string
  /** Sets the limit so that the usage is this share of it. */
  use(share: number): Promise<void>
}

/** A gate with a budget that has counted one call. */
async function open(
  targets: readonly (string | object)[],
  rules: object,
  settings: object = {},
): Promise<Scene> {
  gates += 1
  const gate = await createGate(gatehouse, `steered-${gates}`, [DEAR], { budgetHeaders: true })
  const { key } = await createKey(gatehouse, gate)
  const { id } = await control<Budget>('POST', '/v1/budgets', {
    ...{ gateId: gate, limitUsd: 1000, period: 'total', unpriced: 'allow' },
    ...rules,
  })
  expect(await call(gate, { key })).toMatchObject({ status: 200, target: DEAR, budget: null })
  await control('PATCH', `/v1/gates/${gate}`, {
    targets: targets.map((target) => (typeof target === 'string' ? { model: target } : target)),
    ...settings,
  })
  const budget = await control<Budget>('GET', `/v1/budgets/${id}`)
  expect(budget.used.usd).toBeGreaterThan(0)
  upstream.reset()
  const use = async (share: number) => {
    const { used } = await control<Budget>('GET', `/v1/budgets/${id}`)
    const limitUsd = Number((used.usd / share).toFixed(9))
    await control('PATCH', `/v1/budgets/${id}`, { limitUsd })
  }
  return { gate, budget, key, use }
}

describe('cheaper', () => {
  test('the next cheaper targets are asked, in their order, from the limit to the wall', async () => {
    const { gate, key, budget, use } = await open([DEAR, MID, CHEAP], {
      atLimit: 'cheaper',
      refuseAt: 1.3,
    })
    expect(await call(gate, { key })).toMatchObject({ target: DEAR, budget: null })
    await use(1)
    const steered = await call(gate, { key })
    expect(steered).toMatchObject({ status: 200, target: MID, budget: `${budget.id}; cheaper` })
    const row = await waitForLogRow(gatehouse, steered.id)
    expect(row).toMatchObject({ target: MID, steeredBy: `${budget.id}; cheaper` })
    expect(await control('GET', `/v1/budgets/${budget.id}`)).toMatchObject({
      ...{ isExhausted: true, atLimit: 'cheaper', refuseAt: 1.3 },
      reserved: { usd: 0 },
    })
    await use(1.3)
    const refused = await call(gate, { key })
    expect(refused).toMatchObject({ status: 429, budget: `${budget.id}; refused` })
    expect(refused.text).toContain('calls are refused at 130 %')
    expect(refused.text).toContain('insufficient_quota')
  })

  test('a more expensive fallback is never asked', async () => {
    const { gate, key, use } = await open([DEAR, 'acme/cheap-broken', MID, FREE], {
      atLimit: 'cheaper',
    })
    await use(1)
    expect(await call(gate, { key })).toMatchObject({ status: 200, target: MID })
    expect(upstream.asked).toEqual(['cheap-broken', 'mid'])
    upstream.reset()
    await control('PATCH', `/v1/gates/${gate}`, {
      targets: [{ model: CHEAP }, { model: DEAR }, { model: MID }],
    })
    const refused = await call(gate, { key })
    expect(refused.status).toBe(429)
    expect(upstream.asked).toEqual([])
  })

  test('a target without a known price is not cheaper', async () => {
    const { gate, key, use } = await open([DEAR, UNPRICED, CHEAP], { atLimit: 'cheaper' })
    await use(1)
    expect(await call(gate, { key })).toMatchObject({ target: CHEAP })
    expect(upstream.asked).toEqual(['cheap'])
  })

  test('a request at another price than the listed one has no cheaper target', async () => {
    const { gate, key, use } = await open([DEAR, CHEAP], { atLimit: 'cheaper' })
    await use(1)
    const body = { messages: [{ role: 'user', content: 'hi' }], service_tier: 'priority' }
    expect(await call(gate, { key, body })).toMatchObject({ status: 429 })
    expect(upstream.asked).toEqual([])
  })

  test('with weights, the cheaper targets serve the calls of every turn', async () => {
    const { gate, key, use } = await open(
      [
        { model: CHEAP, weight: 1 },
        { model: DEAR, weight: 1 },
      ],
      { atLimit: 'cheaper' },
      { strategy: 'weighted' },
    )
    await use(1)
    for (let turn = 0; turn < 4; turn += 1)
      expect(await call(gate, { key })).toMatchObject({ status: 200, target: CHEAP })
    expect(new Set(upstream.asked)).toEqual(new Set(['cheap']))
  })

  test("the caller's own choice is steered too", async () => {
    const { gate, key, budget, use } = await open(
      [MID, CHEAP],
      { atLimit: 'cheaper' },
      { overrides: 'allow' },
    )
    await use(1)
    const choose = (model: string) =>
      call(gate, {
        key,
        body: { gate_id: gate, model, messages: [{ role: 'user', content: 'hi' }] },
      })
    expect(await choose(DEAR)).toMatchObject({
      ...{ status: 200, target: CHEAP, budget: `${budget.id}; cheaper` },
      ignored: 'model',
    })
    expect(await choose(CHEAP)).toMatchObject({ status: 200, target: CHEAP, ignored: null })
    expect(await choose(UNPRICED)).toMatchObject({ target: CHEAP })
    expect(upstream.asked).toEqual(['cheap', 'cheap', 'cheap'])
  })
})

describe('free-only', () => {
  test('only targets of price 0 are asked: also by a hedge, and after a failure', async () => {
    const { gate, key, budget, use } = await open(
      [DEAR, 'acme/free-slow', CHEAP, 'acme/free-broken', UNPRICED],
      { atLimit: 'free-only' },
      { hedgeAfterMs: 20 },
    )
    await use(1.1)
    expect(await call(gate, { key })).toMatchObject({
      ...{ status: 200, target: 'acme/free-slow', budget: `${budget.id}; free-only` },
    })
    expect(upstream.asked).toEqual(['free-slow', 'free-broken'])
    upstream.reset()
    await control('PATCH', `/v1/gates/${gate}`, {
      targets: [{ model: 'acme/free-broken' }, { model: CHEAP }],
      hedgeAfterMs: null,
    })
    expect(await call(gate, { key })).toMatchObject({ status: 502 })
    expect(upstream.asked).toEqual(['free-broken'])
  })

  test('without a free target the call is refused, and the row names the budget', async () => {
    const { gate, key, budget, use } = await open([DEAR, CHEAP], { atLimit: 'free-only' })
    await use(1)
    const refused = await call(gate, { key })
    expect(refused).toMatchObject({ status: 429, budget: `${budget.id}; refused` })
    expect(await waitForLogRow(gatehouse, refused.id)).toMatchObject({
      ...{ target: null, refusedBy: budget.id, steeredBy: null },
    })
    expect(upstream.asked).toEqual([])
  })

  test('many free calls at a time are admitted: they reserve no money', async () => {
    const { gate, key, use } = await open([DEAR, 'acme/free-slow'], { atLimit: 'free-only' })
    await use(1.15)
    const seen = await Promise.all(Array.from({ length: 20 }, () => call(gate, { key })))
    expect(new Set(seen.map(({ status }) => status))).toEqual(new Set([200]))
  })

  test('an owned model with the declared price 0 is free, and one with another price is not', async () => {
    const model = (slug: string, prices: object) =>
      control('POST', '/v1/owned-models', {
        ...{ slug, baseUrl: upstream.url, upstreamModelId: slug, dialect: 'openai-chat' },
        ...prices,
      })
    await model('zero', { pricingInput: 0, pricingOutput: 0 })
    await model('paid', { pricingInput: 0, pricingOutput: 1 })
    const { gate, key, use } = await open([DEAR, 'owned/paid', 'owned/zero'], {
      atLimit: 'free-only',
    })
    await use(1)
    expect(await call(gate, { key })).toMatchObject({ status: 200, target: 'owned/zero' })
    expect(upstream.asked).not.toContain('paid')
  })

  test('streams are steered', async () => {
    const { gate, key, budget, use } = await open([DEAR, FREE], { atLimit: 'free-only' })
    await use(1)
    const body = { messages: [{ role: 'user', content: 'hi' }], stream: true }
    const seen = await call(gate, { key, body })
    expect(seen).toMatchObject({ status: 200, target: FREE, budget: `${budget.id}; free-only` })
    expect(seen.text).toContain('[DONE]')
  })
})

describe('a turn in its middle', () => {
  const turn = { body: { messages: TOOL_RESULT, tools: TOOLS } }

  test('it keeps its target for at most 50 calls, and the wall still refuses', async () => {
    const { gate, key, budget, use } = await open([DEAR, CHEAP], { atLimit: 'cheaper' })
    expect(await call(gate, { key })).toMatchObject({ target: DEAR, budget: null })
    await use(1)
    for (let calls = 0; calls < 50; calls += 1) {
      expect(await call(gate, { key, ...turn })).toMatchObject({
        ...{ target: DEAR, budget: `${budget.id}; kept` },
      })
      await use(1)
    }
    const after = await call(gate, { key, ...turn })
    expect(after).toMatchObject({ target: CHEAP, budget: `${budget.id}; cheaper` })
    expect(await call(gate, { key, ...turn })).toMatchObject({ target: CHEAP })
    await use(1.2)
    expect(await call(gate, { key, ...turn })).toMatchObject({ status: 429 })
  })

  test('a new turn is steered', async () => {
    const { gate, key, use } = await open([DEAR, CHEAP], { atLimit: 'cheaper' })
    await use(1)
    await call(gate, { key })
    expect(await call(gate, { key, ...turn })).toMatchObject({ target: CHEAP })
  })

  test('each session has its own turn', async () => {
    const { gate, key, use } = await open([DEAR, CHEAP], { atLimit: 'cheaper', refuseAt: 10 })
    const ask = (session: string, body?: object) =>
      call(gate, { key, headers: { 'x-gatehouse-session': session }, ...(body && { body }) })
    await ask('one')
    await use(1)
    await ask('two')
    expect(await ask('one', turn.body)).toMatchObject({ target: DEAR })
    expect(await ask('two', turn.body)).toMatchObject({ target: CHEAP })
    expect(await ask('three', turn.body)).toMatchObject({ target: CHEAP })
  })

  test.each([
    [
      '/v1/messages',
      {
        max_tokens: 9,
        messages: [
          { role: 'user', content: 'Read the file.' },
          { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'read', input: {} }] },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: 'c1', content: 'text' },
              { type: 'text', text: 'A reminder.' },
            ],
          },
        ],
        tools: [{ name: 'read', input_schema: { type: 'object' } }],
      },
    ],
    [
      '/v1/responses',
      {
        input: [
          { role: 'user', content: 'Read the file.' },
          { type: 'function_call', call_id: 'c1', name: 'read', arguments: '{}' },
          { type: 'function_call_output', call_id: 'c1', output: 'text' },
        ],
        tools: [{ type: 'function', name: 'read', parameters: { type: 'object' } }],
      },
    ],
  ])('%s', async (path, body) => {
    const { gate, key, use } = await open([DEAR, CHEAP], { atLimit: 'cheaper' })
    await call(gate, { key })
    await use(1)
    expect(await call(gate, { key, path, body })).toMatchObject({ status: 200, target: DEAR })
  })

  test('the fallbacks of a kept target are those that the budget leaves', async () => {
    const { gate, key, use } = await open([DEAR, MID, FREE], { atLimit: 'free-only' })
    await call(gate, { key })
    await use(1)
    upstream.breakModel('dear')
    expect(await call(gate, { key, ...turn })).toMatchObject({ status: 200, target: FREE })
    expect(upstream.asked.slice(-2)).toEqual(['dear', 'free'])
  })
})

describe('when', () => {
  test('a target comes first from a share of the budget on', async () => {
    const { gate, key, budget, use } = await open([DEAR, CHEAP], {})
    await control('PATCH', `/v1/gates/${gate}`, {
      targets: [{ model: DEAR }, { model: CHEAP, when: { budget: budget.id, from: 0.8 } }],
    })
    expect(await call(gate, { key })).toMatchObject({ target: DEAR, budget: null })
    await use(0.7)
    expect(await call(gate, { key })).toMatchObject({ target: DEAR })
    await use(0.8)
    const preferred = await call(gate, { key })
    expect(preferred).toMatchObject({ target: CHEAP, budget: `${budget.id}; preferred` })
    expect(await waitForLogRow(gatehouse, preferred.id)).toMatchObject({
      steeredBy: `${budget.id}; preferred`,
    })
  })

  test('with cheaper at the limit, the preferred target goes on', async () => {
    const { gate, key, budget, use } = await open([DEAR, CHEAP], { atLimit: 'cheaper' })
    await control('PATCH', `/v1/gates/${gate}`, {
      targets: [{ model: DEAR }, { model: CHEAP, when: { budget: budget.id, from: 0.5 } }],
    })
    await use(1)
    expect(await call(gate, { key })).toMatchObject({
      ...{ status: 200, target: CHEAP, budget: `${budget.id}; cheaper` },
    })
  })

  test('a preferred target is named at the limit too, where no target is taken away', async () => {
    const { gate, key, budget, use } = await open([FREE], { atLimit: 'free-only' })
    await control('PATCH', `/v1/gates/${gate}`, {
      targets: [{ model: FREE, when: { budget: budget.id, from: 0.5 } }],
    })
    await use(1)
    expect(await call(gate, { key })).toMatchObject({
      ...{ status: 200, target: FREE, budget: `${budget.id}; preferred` },
    })
  })

  test('the share is more than 0 and at most 1', async () => {
    const { gate, budget } = await open([DEAR, CHEAP], {})
    const from = (share: unknown) =>
      controlPlaneCall(gatehouse, 'PATCH', `/v1/gates/${gate}`, {
        targets: [{ model: DEAR }, { model: CHEAP, when: { budget: budget.id, from: share } }],
      })
    for (const share of [0, -0.1, 1.000001, 2]) {
      const refused = await from(share)
      expect(refused.status).toBe(400)
      expect(await refused.text()).toContain(
        'targets[1].when.from: must be a share of the limit: more than 0 and at most 1, such as 0.8',
      )
    }
    for (const share of [0.000001, 1]) expect((await from(share)).status).toBe(200)
  })

  test('the budget must exist and be able to count calls of the gate', async () => {
    const one = await open([DEAR], {})
    const other = await open([DEAR], {})
    const name = (budget: string) =>
      controlPlaneCall(gatehouse, 'PATCH', `/v1/gates/${one.gate}`, {
        targets: [{ model: DEAR, when: { budget, from: 0.8 } }],
      })
    const unknown = await name('bud_unknown')
    expect(unknown.status).toBe(400)
    expect(await unknown.text()).toContain('targets[0].when.budget')
    const foreign = await name(other.budget.id)
    expect(foreign.status).toBe(400)
    expect(await foreign.text()).toContain(`of the gate ${other.gate}`)
    expect((await name(one.budget.id)).status).toBe(200)
    const deleted = await controlPlaneCall(gatehouse, 'DELETE', `/v1/budgets/${one.budget.id}`)
    expect(deleted.status).toBe(409)
    expect(await deleted.text()).toContain(one.gate)
    await control('PATCH', `/v1/gates/${one.gate}`, { targets: [{ model: DEAR }] })
    await control('DELETE', `/v1/budgets/${one.budget.id}`)
  })
})

test('a default budget of each key steers each key alone', async () => {
  const { gate } = await open([DEAR, CHEAP], {})
  const { id } = await control<Budget>('POST', '/v1/budgets', {
    ...{ scope: 'each-key', limitTokens: 2_000, period: 'total' },
    ...{ atLimit: 'cheaper', refuseAt: 10 },
  })
  try {
    const [one, other] = [await createKey(gatehouse, 'one'), await createKey(gatehouse, 'other')]
    expect(await call(gate, { key: one.key })).toMatchObject({ target: DEAR, budget: null })
    expect(await call(gate, { key: one.key })).toMatchObject({
      target: CHEAP,
      budget: `${id}; cheaper`,
    })
    expect(await call(gate, { key: other.key })).toMatchObject({ target: DEAR })
    expect(await call(gate, { key: other.key })).toMatchObject({ target: CHEAP })
  } finally {
    await control('DELETE', `/v1/budgets/${id}`)
  }
})

test('keys see the budget only where the gate says so, and access tokens always', async () => {
  const { gate, key, budget, use } = await open([DEAR, CHEAP], { atLimit: 'cheaper' })
  await use(1)
  await control('PATCH', `/v1/gates/${gate}`, { budgetHeaders: false })
  expect(await call(gate, { key })).toMatchObject({ target: CHEAP, budget: null })
  const token = await control<{ token: string }>('POST', '/v1/access-tokens', {
    name: gate,
    gates: [gate],
  })
  expect(await call(gate, { key: token.token })).toMatchObject({
    budget: `${budget.id}; cheaper`,
  })
  await use(1.2)
  expect(await call(gate, { key })).toMatchObject({ status: 429, budget: null })
  expect(await call(gate, { key: token.token })).toMatchObject({
    ...{ status: 429, budget: `${budget.id}; refused` },
  })
})

test('stored budgets refuse at their limit, and a wall needs a rule', async () => {
  const { gate, budget, use, key } = await open([DEAR, FREE], {})
  expect(budget).toMatchObject({ atLimit: 'refuse', refuseAt: null })
  const change = (body: object) =>
    controlPlaneCall(gatehouse, 'PATCH', `/v1/budgets/${budget.id}`, body)
  expect((await change({ refuseAt: 1.5 })).status).toBe(400)
  await use(1)
  expect((await call(gate, { key })).status).toBe(429)
  expect(await (await change({ atLimit: 'cheaper' })).json()).toMatchObject({ refuseAt: 1.2 })
  expect((await call(gate, { key })).status).toBe(200)
  expect(await (await change({ refuseAt: 1 })).json()).toMatchObject({ atLimit: 'cheaper' })
  expect((await call(gate, { key })).status).toBe(429)
  expect(await (await change({ atLimit: 'refuse' })).json()).toMatchObject({ refuseAt: null })
  expect((await change({ refuseAt: 0.9, atLimit: 'cheaper' })).status).toBe(400)
})

test('the command line sets rules and conditions, and files of an account keep them', async () => {
  const cli = async (...words: string[]) => {
    const environment = { GATEHOUSE_URL: gatehouse.url, GATEHOUSE_API_KEY: gatehouse.key }
    const ran = await runCliInProcess(words, { environment, folder: folder.path })
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' })
    return ran.stdout
  }
  const { gate, budget } = await open([DEAR, CHEAP], {})
  await cli('budgets', 'update', budget.id, '--at-limit', 'free-only', '--refuse-at', '1.5')
  expect(await cli('budgets', 'show', budget.id)).toContain(
    'free targets only; calls are refused at 150 %',
  )
  await cli(
    ...['gates', 'update', gate, '--target', DEAR, '--target', CHEAP, '--no-budget-headers'],
    ...['--when', `${CHEAP}=${budget.id}:0.8`],
  )
  const shown = await control<{ targets: object[] }>('GET', `/v1/gates/${gate}`)
  expect(shown).toMatchObject({ budgetHeaders: false })
  expect(shown.targets).toEqual([
    { model: DEAR },
    { model: CHEAP, when: { budget: budget.id, from: 0.8 } },
  ])
  await cli('config', 'pull', '--file', 'account.yaml')
  const text = await readFile(join(folder.path, 'account.yaml'), 'utf8')
  expect(text).toContain('atLimit: free-only')
  expect(text).toContain('refuseAt: 1.5')
  expect(text).toContain(`budget: ${budget.id}`)
  // An exit code of 0: no difference.
  await cli('config', 'diff', '--file', 'account.yaml')
})

test('the metrics count what budgets did', async () => {
  const series = await scrape(`${gatehouse.url}/metrics`, METRICS_TOKEN)
  for (const action of ['refused', 'cheaper', 'free-only', 'preferred', 'kept'])
    expect(series.get(`gatehouse_budget_actions_total{action="${action}"}`)).toBeGreaterThan(0)
})
