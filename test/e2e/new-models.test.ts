/**
 * Models that no table knows, under budgets, on two nodes: by their own price, like another model,
 * and at an estimate. A file of 20,000 entries is reloaded under load.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout } from 'bun:test'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { controlPlaneCall, createGate } from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import { createPostgresScene, type PostgresScene } from '../support/postgres-scene.ts'
import { findPostgres } from '../support/postgres-server.ts'
import { runCliInProcess } from '../support/run-cli-in-process.ts'
import { testIf } from '../support/skip-unless.ts'
import {
  createBootstrapKey,
  type Gatehouse,
  PATIENT_WITH_DATABASE,
  startGatehouse,
} from '../support/start-gatehouse.ts'

setDefaultTimeout(300_000)

const hasPostgres = findPostgres() !== undefined
const key = createBootstrapKey()
const MOST_ENTRIES = 20_000
const GATES = ['priced', 'like', 'guessed'] as const

const upstream = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: () =>
    Response.json({
      ...{ id: 'c', object: 'chat.completion', created: 1 },
      choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1_000, completion_tokens: 0, total_tokens: 1_000 },
    }),
})

let scene: PostgresScene
let nodes: readonly [Gatehouse, Gatehouse]
let database: string

beforeAll(async () => {
  if (!hasPostgres) return
  scene = await createPostgresScene()
  const url = await scene.createDatabase()
  database = new URL(url).pathname.slice(1)
  const environment = {
    ...PATIENT_WITH_DATABASE,
    ...{ DATABASE_URL: url, GATEHOUSE_MASTER_KEY: '01'.repeat(32) },
    ...{ OPENAI_API_KEY: 'planted', OPENAI_BASE_URL: `http://127.0.0.1:${upstream.port}/v1` },
    ...{ GATEHOUSE_REQUESTS_PER_MINUTE: '', GATEHOUSE_CONCURRENT_CALLS: '' },
  }
  nodes = [await startGatehouse({ key, environment }), await startGatehouse({ key, environment })]
})
afterAll(async () => {
  await upstream.stop(true)
  for (const node of nodes ?? []) await node.remove()
  await scene?.remove()
})

/** As many entries as a file may have. @param others entries and further sections */
function fileOf(others = ''): string {
  const own = [
    '{model: openai/gpt-99-priced, prices: [{input: 3, output: 9}]}',
    '{model: openai/gpt-99-like, like: openai/gpt-99-priced}',
  ]
  const filled = others.split('\n').filter((line) => line.startsWith('  - ')).length
  for (let at = own.length + filled; at < MOST_ENTRIES; at += 1)
    own.push(`{model: openai/filler-${at}, prices: [{from: 2026-01-01, input: 1, output: 2}]}`)
  return `models:\n${own.map((entry) => `  - ${entry}\n`).join('')}${others}`
}

const write = ({ dataFolder }: Gatehouse, text: string) =>
  writeFile(join(dataFolder, 'gatehouse.yaml'), text)

async function reload() {
  const response = await controlPlaneCall(nodes[0], 'POST', '/v1/reload')
  expect(response.status).toBe(200)
  return (await response.json()) as {
    status: string
    nodes: { status: string; faults: { line: number; message: string }[] }[]
  }
}

const ask = (node: Gatehouse, gate: string) =>
  controlPlaneCall(node, 'POST', '/v1/chat/completions', {
    ...{ model: gate, max_tokens: 10 },
    messages: [{ role: 'user', content: 'hi' }],
  })

/** Calls every gate on both nodes, one call after the other, until stopped. */
function keepAsking() {
  const answered: string[] = []
  const failures: unknown[] = []
  let isStopped = false
  const client = async (node: Gatehouse, gate: string) => {
    while (!isStopped) {
      try {
        const response = await ask(node, gate)
        const text = await response.text()
        if (response.status === 200) answered.push(response.headers.get('x-request-id') ?? '')
        else failures.push(text)
      } catch (error) {
        failures.push(error)
      }
      await Bun.sleep(10)
    }
  }
  const all = nodes.flatMap((node) => GATES.map((gate) => client(node, gate)))
  return {
    answered,
    failures,
    async stop() {
      isStopped = true
      await Promise.all(all)
    },
  }
}

interface Costs {
  readonly calls: string
  readonly usd: number
}

async function costsOf(gate: string): Promise<Record<string, Costs>> {
  const rows = await scene.server.run<Costs & { kind: string }>(
    `SELECT cost_status || ' ' || split_part(price_source, ':', 1) AS kind, count(*) AS calls,
      (sum(cost_nano_usd) / 1e9)::float AS usd
      FROM calls WHERE gate_id = '${gate}' GROUP BY 1`,
    database,
  )
  return Object.fromEntries(rows.map(({ kind, calls, usd }) => [kind, { calls, usd }]))
}

async function usedOf(node: Gatehouse, budgetId: string): Promise<number> {
  const response = await controlPlaneCall(node, 'GET', `/v1/budgets/${budgetId}`)
  return ((await response.json()) as { used: { usd: number } }).used.usd
}

testIf(hasPostgres, 'needs Postgres')(
  'new models are called under budgets in three ways, and no call is lost while files are reloaded',
  async () => {
    const [first, second] = nodes
    const budgets = new Map<string, string>()
    for (const gate of GATES) {
      await createGate(first, gate, `openai/gpt-99-${gate}`)
      const limit = { gateId: gate, limitUsd: 1_000_000, period: 'month' }
      const made = await controlPlaneCall(first, 'POST', '/v1/budgets', limit)
      expect(made.status).toBe(201)
      budgets.set(gate, ((await made.json()) as { id: string }).id)
    }
    const load = keepAsking()
    // Without entries, the models of each gate are called at an estimate.
    await pollUntil('calls', () => load.answered.length > 20 || undefined)
    expect(load.failures).toEqual([])

    for (const node of nodes) await write(node, fileOf())
    expect((await reload()).nodes.map(({ status }) => status)).toEqual(['reloaded', 'reloaded'])
    const before = load.answered.length
    await pollUntil('calls', () => load.answered.length > before + 20 || undefined)

    await write(first, `${fileOf()}logLevel: info\n`)
    await write(second, `${fileOf()}colour: red\n`)
    const broken = await reload()
    expect(broken.status).toBe('incomplete')
    expect(broken.nodes).toMatchObject([
      { status: 'reloaded', faults: [] },
      {
        status: 'refused',
        faults: [{ line: MOST_ENTRIES + 2, message: 'colour is not a known field' }],
      },
    ])
    await write(second, `${fileOf('  - {model: openai/one-more}\n')}  - {model: openai/many}\n`)
    expect((await reload()).nodes[1]).toMatchObject({
      ...{ status: 'refused', faults: [{ line: 1, message: expect.stringContaining('20000') }] },
    })
    await write(second, `${fileOf()}logLevel: info\n`)
    expect((await reload()).status).toBe('reloaded')
    await load.stop()
    expect(load.failures).toEqual([])
    expect(load.answered.length).toBeGreaterThan(50)

    await pollUntil('the rows of every answer', async () => {
      const rows = await scene.server.run<{ id: string }>('SELECT id FROM calls', database)
      const stored = new Set(rows.map(({ id }) => id))
      return load.answered.every((id) => stored.has(id)) || undefined
    })
    const [priced, like, guessed] = await Promise.all(GATES.map(costsOf))
    expect(Object.keys(priced ?? {}).sort()).toEqual(['estimated unpriced', 'exact overlay'])
    expect(Object.keys(like ?? {}).sort()).toEqual(['estimated overlay', 'estimated unpriced'])
    expect(Object.keys(guessed ?? {})).toEqual(['estimated unpriced'])
    for (const [gate, costs] of [
      ['priced', priced],
      ['like', like],
      ['guessed', guessed],
    ] as const) {
      const spent = Object.values(costs ?? {}).reduce((sum, { usd }) => sum + usd, 0)
      for (const node of nodes)
        await pollUntil(`the budget of ${gate}`, async () => {
          const used = await usedOf(node, budgets.get(gate) ?? '')
          return Math.abs(used - spent) < 1e-6 || undefined
        })
    }

    // With a price of its own, each estimate becomes exact.
    const dearer = '  - {model: openai/gpt-99-guessed, prices: [{input: 40, output: 40}]}\n'
    for (const node of nodes) await write(node, fileOf(dearer))
    expect((await reload()).status).toBe('reloaded')
    const environment = { GATEHOUSE_URL: second.url, GATEHOUSE_API_KEY: key }
    const fixed = await runCliInProcess(['costs', 'verify', '--fix'], { environment })
    expect(fixed).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('were fixed') })
    const after = await costsOf('guessed')
    const calls = Number(guessed?.['estimated unpriced']?.calls)
    expect(after).toEqual({
      'exact overlay': { calls: String(calls), usd: expect.closeTo(calls * 0.04, 6) },
    })
    for (const node of nodes)
      await pollUntil('the raised budget', async () => {
        const used = await usedOf(node, budgets.get('guessed') ?? '')
        return Math.abs(used - calls * 0.04) < 1e-6 || undefined
      })
  },
)
