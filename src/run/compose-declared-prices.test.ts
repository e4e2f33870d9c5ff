/**
 * A provider of the operator's own under a plan in money: with its prices declared it is called and
 * counted.
 */
import { Database } from 'bun:sqlite'
import { afterEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { createTemporaryFolder } from '../../test/support/temporary-folder.ts'
import { loadSettings } from '../config/load-settings.ts'
import { DEFAULT_ACCOUNT, type GateId } from '../core/ids.ts'
import { createLog } from '../telemetry/log.ts'
import { composeGatehouse, type Gatehouse } from './compose.ts'

const endings: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

function startUpstream(): string {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch() {
      const message = { role: 'assistant', content: 'hi' }
      const usage = { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 }
      const choices = [{ index: 0, message, finish_reason: 'stop' }]
      return Response.json({
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices,
        usage,
      })
    },
  })
  endings.push(() => server.stop(true))
  return `http://127.0.0.1:${server.port}/v1`
}

interface Scene {
  readonly gatehouse: Gatehouse
  readonly key: string
  readonly databasePath: string
}

async function start(
  prices: readonly string[] = [],
  { model = 'acme/large', unpriced = 'refuse', further = [] as readonly string[] } = {},
): Promise<Scene> {
  const folder = await createTemporaryFolder()
  endings.push(() => folder.remove())
  const configuration = [
    'providers:',
    '  - id: acme',
    '    name: Acme AI',
    `    baseUrl: ${startUpstream()}`,
    ...prices,
    `plans: {default: money, definitions: {money: {monthlySpendUsd: 5, unpriced: ${unpriced}}}}`,
    ...further,
  ]
  await Bun.write(join(folder.path, 'gatehouse.yaml'), configuration.join('\n'))
  const settings = await loadSettings({
    GATEHOUSE_DATA_DIR: folder.path,
    ACME_API_KEY: 'planted',
    OPENAI_API_KEY: 'planted',
    OPENAI_BASE_URL: startUpstream(),
  })
  const gatehouse = await composeGatehouse({
    settings,
    log: createLog('silent'),
    plans: settings.plans,
  })
  endings.push(() => gatehouse.close())
  const targets = [{ model }]
  const gate = { id: 'demo' as GateId, description: '', targets, timeoutMs: null, maxRetries: 0 }
  await gatehouse.gates.create(DEFAULT_ACCOUNT, gate)
  const { key } = await gatehouse.keys.create({ accountId: DEFAULT_ACCOUNT, name: 'test' })
  return { gatehouse, key: key.reveal(), databasePath: join(folder.path, 'gatehouse.db') }
}

function send({ gatehouse, key }: Scene, path: string, body?: object) {
  return gatehouse.handle(
    new Request(`http://gatehouse.test${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  )
}

const CHAT = { model: 'demo', messages: [{ role: 'user', content: 'hi' }] }

test('without prices its models are refused, and the refusal says where they are declared', async () => {
  const scene = await start()
  const refused = await send(scene, '/v1/chat/completions', CHAT)
  expect(refused.status).toBe(400)
  expect(await refused.text()).toMatch(/price of acme\/large is unknown.*gatehouse\.yaml/)
})

test('with them its calls go, and count against the plan at the declared price', async () => {
  const scene = await start(['    prices: {large: {input: 2000, output: 8000}}'])
  const answer = await send(scene, '/v1/chat/completions', CHAT)
  expect(answer.status).toBe(200)
  await answer.text()
  expect(await (await send(scene, '/v1/account')).json()).toMatchObject({
    quota: { spend: { limit: 5, used: (20 * 2000 + 10 * 8000) / 1_000_000, unpricedCalls: 0 } },
  })
})

test.each(['acme/large', 'openai/gpt-6.2-sol'])(
  'an entry prices %s, and is found later by the hash in the cost',
  async (model) => {
    const scene = await start([], {
      model,
      further: [
        'models:',
        `  - {model: ${model}, prices: [{from: 2026-01-01, input: 2000, output: 8000}]}`,
      ],
    })
    const answer = await send(scene, '/v1/chat/completions', CHAT)
    expect(answer.status).toBe(200)
    await answer.text()
    expect(await (await send(scene, '/v1/account')).json()).toMatchObject({
      quota: { spend: { used: (20 * 2000 + 10 * 8000) / 1_000_000, unpricedCalls: 0 } },
    })
    const { cost, target } = await firstRow(scene)
    expect(target).toBe(model)
    expect(cost.status).toBe('exact')
    const [, hash = ''] = /^overlay:(.*)$/.exec(String(cost.source)) ?? []
    const database = new Database(scene.databasePath, { readonly: true })
    const stored = database.query('SELECT entry FROM price_entries WHERE hash = ?').get(hash)
    database.close()
    expect(JSON.parse((stored as { entry: string }).entry)).toEqual([
      { model, prices: [{ from: '2026-01-01', input: 2000, output: 8000 }] },
    ])
  },
)

test.each(['acme/large', 'openai/gpt-6.2-sol'])(
  'without a price %s is called and counted at an estimate where the plan says so',
  async (model) => {
    const further = ['unpricedPrice: {input: 3000, output: 9000}']
    const scene = await start([], { model, unpriced: 'estimate', further })
    const answer = await send(scene, '/v1/chat/completions', CHAT)
    expect(answer.status).toBe(200)
    await answer.text()
    const usd = (20 * 3000 + 10 * 9000) / 1_000_000
    expect(await (await send(scene, '/v1/account')).json()).toMatchObject({
      quota: { spend: { used: usd, unpricedCalls: 0 } },
    })
    expect((await firstRow(scene)).cost).toMatchObject({
      ...{ usd, status: 'estimated', source: 'unpriced' },
    })
  },
)

interface Row {
  readonly target: string
  readonly cost: { readonly usd: number; readonly status: string; readonly source: string | null }
}

async function firstRow(scene: Scene): Promise<Row> {
  for (;;) {
    const { data } = (await (await send(scene, '/v1/logs')).json()) as { data: readonly Row[] }
    if (data[0] !== undefined) return data[0]
    await Bun.sleep(20)
  }
}
