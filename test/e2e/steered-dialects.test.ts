/**
 * No call reaches a paid target behind a free one once a budget leaves only free targets: by a
 * fallback, a hedge or the caller's choice, in every dialect, whole and streamed. The same calls
 * reach the paid target before.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { controlPlaneCall, createGate } from '../support/control-plane.ts'
import { DIALECTS } from '../support/dialect-table.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { WHOLE_ANSWERS } from '../support/whole-answer-samples.ts'

setDefaultTimeout(180_000)

interface Tested {
  readonly name: string
  readonly path: string
  /** What the names of the targets begin with. */
  readonly targets: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly streams: readonly boolean[]
  readonly kinds: readonly (keyof typeof FREE)[]
}

/** What leads to the paid target, and the free model that the gate names before it. */
const FREE = { fallback: 'free-broken', hedge: 'free-slow', choice: 'free' } as const
const KINDS = ['fallback', 'hedge', 'choice'] as const
/** Endpoints at which callers cannot choose a model beside the gate. */
const WITHOUT_CHOICE: readonly string[] = ['openai-responses']
const MODELS = [...Object.values(FREE), 'paid']
const OWNED = [
  'openai-responses',
  'openai-chat',
  'mistral-fim',
  'anthropic-messages',
  'openai-embeddings',
]

const messages = [{ role: 'user', content: 'hi' }]
const TESTED: readonly Tested[] = [
  ...DIALECTS.map(({ dialect, path, fields }) => ({
    ...{ name: dialect, path, fields, streams: [false, true] },
    targets: dialect === 'mistral-chat' ? 'mistral/' : `owned/${dialect}-`,
    kinds: KINDS.filter((kind) => kind !== 'choice' || !WITHOUT_CHOICE.includes(dialect)),
  })),
  {
    ...{ name: 'gatehouse-chat', path: '/v3/chat', fields: { messages }, streams: [false, true] },
    ...{ targets: 'owned/openai-chat-', kinds: ['fallback', 'hedge'] },
  },
  {
    ...{ name: 'openai-embeddings', path: '/v1/embeddings', fields: { input: ['a', 'b'] } },
    ...{ targets: 'owned/openai-embeddings-', kinds: KINDS, streams: [false] },
  },
]

const SLOW_MS = 300

const EMBEDDINGS = WHOLE_ANSWERS.find(({ dialect }) => dialect === 'openai-embeddings')

let asked: string[] = []
const upstream = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    if (request.method === 'GET') return new Response(null, { status: 404 })
    const { model, stream } = (await request.json()) as { model: string; stream?: boolean }
    asked.push(model)
    if (model === 'free-broken') return new Response('{}', { status: 500 })
    if (model === 'free-slow') await Bun.sleep(SLOW_MS)
    const { pathname } = new URL(request.url)
    const row = DIALECTS.find(({ upstreamPath }) => upstreamPath === pathname)
    return stream === true
      ? new Response(row?.stream.join(''), { headers: { 'content-type': 'text/event-stream' } })
      : new Response(row?.answer ?? EMBEDDINGS?.answer, {
          headers: { 'content-type': 'application/json' },
        })
  },
})

let folder: TemporaryFolder
let gatehouse: Gatehouse
let budgetId = ''
beforeAll(async () => {
  folder = await createTemporaryFolder()
  const base = `http://127.0.0.1:${upstream.port}`
  const file = join(folder.path, 'gatehouse.yaml')
  const prices = MODELS.map((model) => {
    const price = model === 'paid' ? 100 : 0
    return `  - {model: mistral/${model}, prices: [{input: ${price}, output: ${price}}]}`
  })
  await Bun.write(file, ['models:', ...prices, ''].join('\n'))
  gatehouse = await startGatehouse({
    environment: {
      ...{ GATEHOUSE_TRUSTED_HOSTS: '127.0.0.1', GATEHOUSE_CONFIG: file },
      ...{ MISTRAL_BASE_URL: `${base}/v1`, MISTRAL_API_KEY: 'planted-key' },
    },
  })
  for (const dialect of OWNED)
    for (const model of MODELS) {
      const price = model === 'paid' ? 100 : 0
      await control('POST', '/v1/owned-models', {
        ...{ slug: `${dialect}-${model}`, upstreamModelId: model, dialect },
        ...{ pricingInput: price, pricingOutput: price },
        baseUrl: dialect === 'anthropic-messages' ? base : `${base}/v1`,
        ...(dialect === 'mistral-fim' ? { fimEndpoint: 'fim-completions' } : {}),
      })
    }
  for (const tested of TESTED) {
    const target = (model: string) => tested.targets + model
    const gate = (kind: string, models: readonly string[], settings: object = {}) =>
      createGate(gatehouse, `${kind}-${tested.name}`, models.map(target), {
        ...{ maxRetries: 0, budgetHeaders: true },
        ...settings,
      })
    await gate('fallback', ['free-broken', 'paid'])
    await gate('hedge', ['free-slow', 'paid'], { hedgeAfterMs: 20 })
    await gate('choice', ['free', 'paid'], { overrides: 'allow' })
  }
})
afterAll(async () => {
  await gatehouse.remove()
  await upstream.stop(true)
  await folder.remove()
})

async function control(method: string, path: string, body?: object) {
  const answer = await controlPlaneCall(gatehouse, method, path, body)
  if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`)
  return (await answer.json()) as { readonly id: string; readonly used: { readonly usd: number } }
}

async function call(kind: keyof typeof FREE, tested: Tested, stream: boolean): Promise<number> {
  asked = []
  const gate = `${kind}-${tested.name}`
  const names =
    kind === 'choice'
      ? { gate_id: gate, model: `${tested.targets}paid` }
      : { [tested.path === '/v3/chat' ? 'gate_id' : 'model']: gate }
  const response = await fetch(gatehouse.url + tested.path, {
    method: 'POST',
    headers: { authorization: `Bearer ${gatehouse.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...names, ...tested.fields, ...(stream ? { stream } : {}) }),
  })
  await response.text()
  return response.status
}

const CELLS = TESTED.flatMap((tested) =>
  tested.streams.flatMap((stream) =>
    tested.kinds.map(
      (kind) =>
        [
          `${tested.name}, ${stream ? 'a stream' : 'whole'}: ${kind}`,
          kind,
          tested,
          stream,
        ] as const,
    ),
  ),
)

describe('before the budget is used up, the paid target is asked', () => {
  test.each(CELLS)('%s', async (_, kind, tested, stream) => {
    expect(await call(kind, tested, stream)).toBe(200)
    expect(asked).toContain('paid')
  })
})

describe('once only free targets are left, it is never asked', () => {
  beforeAll(async () => {
    const { id } = await control('POST', '/v1/budgets', {
      ...{ scope: 'account', limitUsd: 1_000, period: 'total' },
      ...{ atLimit: 'free-only', refuseAt: 10 },
    })
    budgetId = id
    const tested = TESTED.find(({ name }) => name === 'openai-chat')
    if (tested === undefined) throw new Error('the dialect is not tested')
    expect(await call('choice', tested, false)).toBe(200)
    const { used } = await control('GET', `/v1/budgets/${id}`)
    expect(used.usd).toBeGreaterThan(0)
    await control('PATCH', `/v1/budgets/${id}`, { limitUsd: used.usd })
  })
  test.each(CELLS)('%s', async (_, kind, tested, stream) => {
    const before = await control('GET', `/v1/budgets/${budgetId}`)
    const status = await call(kind, tested, stream)
    expect(status === 200).toBe(kind !== 'fallback')
    expect(asked).toEqual([FREE[kind]])
    const after = await control('GET', `/v1/budgets/${budgetId}`)
    expect(after.used.usd).toBe(before.used.usd)
  })
})
