/**
 * Prices that the operator sets and corrects while the program runs: on a file, and on two nodes on
 * Postgres.
 */

import { Database } from 'bun:sqlite'
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { controlPlaneCall, createGate } from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import { createPostgresScene, type PostgresScene } from '../support/postgres-scene.ts'
import { findPostgres } from '../support/postgres-server.ts'
import { runCliInProcess } from '../support/run-cli-in-process.ts'
import { describeIf } from '../support/skip-unless.ts'
import {
  createBootstrapKey,
  type Gatehouse,
  PATIENT_WITH_DATABASE,
  startGatehouse,
} from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(180_000)

const upstream = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: () =>
    Response.json({
      ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
      choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1_000_000, completion_tokens: 0, total_tokens: 1_000_000 },
    }),
})
afterAll(() => upstream.stop(true))

const key = createBootstrapKey()
const started: Gatehouse[] = []
const folders: TemporaryFolder[] = []
afterEach(async () => {
  for (const gatehouse of started.splice(0)) await gatehouse.remove()
  for (const folder of folders.splice(0)) await folder.remove()
})

const file = (models = '') => `providers:
  - {id: acme, name: Acme, baseUrl: 'http://127.0.0.1:${upstream.port}', apiKeyFile: acme-key}
${models}`

/** A node with its own configuration file, which names the provider `acme`. */
async function start(environment: Readonly<Record<string, string>> = {}): Promise<Gatehouse> {
  const folder = await createTemporaryFolder()
  folders.push(folder)
  const dataFolder = join(folder.path, 'data')
  await mkdir(dataFolder)
  await writeFile(join(dataFolder, 'gatehouse.yaml'), file())
  await writeFile(join(dataFolder, 'acme-key'), 'planted-key', { mode: 0o600 })
  const gatehouse = await startGatehouse({ dataFolder, key, environment })
  started.push(gatehouse)
  return gatehouse
}

async function startNodes(scene: PostgresScene): Promise<readonly Gatehouse[]> {
  const environment = {
    ...PATIENT_WITH_DATABASE,
    ...{ GATEHOUSE_MASTER_KEY: '01'.repeat(32), DATABASE_URL: await scene.createDatabase() },
    GATEHOUSE_OPERATOR_API: 'on',
  }
  return [await start(environment), await start(environment)]
}

function cli({ url }: Gatehouse, ...words: string[]) {
  const environment = { GATEHOUSE_URL: url, GATEHOUSE_API_KEY: key }
  return runCliInProcess(words, { environment })
}

interface Row {
  readonly id: string
  readonly cost: { readonly usd: number; readonly status: string; readonly source: string }
}

/** @returns the call's row in the log */
async function call(gatehouse: Gatehouse): Promise<Row> {
  const response = await controlPlaneCall(gatehouse, 'POST', '/v1/chat/completions', {
    model: 'new',
    messages: [{ role: 'user', content: 'hi' }],
  })
  await response.body?.cancel()
  expect(response.status).toBe(200)
  const id = response.headers.get('x-request-id')
  return await pollUntil('the row', async () => {
    const row = await controlPlaneCall(gatehouse, 'GET', `/v1/logs/${id}`)
    if (row.status === 200) return (await row.json()) as Row
    await row.body?.cancel()
    return undefined
  })
}

async function checkSetting(nodes: readonly Gatehouse[]): Promise<void> {
  const [first, last] = [nodes[0], nodes.at(-1)]
  if (first === undefined || last === undefined) throw new Error('there is no node')
  await createGate(first, 'new', 'acme/new-1')
  expect((await call(last)).cost).toMatchObject({ usd: null, status: 'unknown' })

  const set = await cli(
    first,
    ...['models', 'set-price', 'acme/new-1', '--input', '5', '--output', '25'],
  )
  expect(set).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('acme/new-1') })
  for (const node of nodes)
    expect((await call(node)).cost).toMatchObject({
      ...{ usd: 5, status: 'exact' },
      source: expect.stringMatching(/^overlay:[0-9a-f]{12}$/),
    })
  const shown = await cli(last, 'models', 'show', 'acme/new-1', '--json')
  expect(JSON.parse(shown.stdout)).toMatchObject({
    inputUsdPerMillion: 5,
    storedPrice: { model: 'acme/new-1', prices: [{ input: 5, output: 25 }] },
  })

  // A price of the file comes first, and can only be changed there.
  for (const { dataFolder } of nodes)
    await writeFile(
      join(dataFolder, 'gatehouse.yaml'),
      file('models: [{model: acme/new-1, prices: [{input: 7, output: 7}]}]\n'),
    )
  expect(await cli(first, 'reload')).toMatchObject({ exitCode: 0 })
  expect((await call(last)).cost.usd).toBe(7)
  const refused = await cli(first, 'models', 'set-price', 'acme/new-1', '--like', 'openai/gpt-5')
  expect(refused.exitCode).not.toBe(0)
  expect(refused.stderr).toContain('in the section models of gatehouse.yaml')
  for (const { dataFolder } of nodes) await writeFile(join(dataFolder, 'gatehouse.yaml'), file())
  expect(await cli(first, 'reload')).toMatchObject({ exitCode: 0 })
  expect((await call(last)).cost.usd).toBe(5)

  expect(await cli(last, 'models', 'unset-price', 'acme/new-1')).toMatchObject({ exitCode: 0 })
  for (const node of nodes) expect((await call(node)).cost.status).toBe('unknown')
}

/** The price of `acme/new-1` in every node's file, in force at once. */
async function price(nodes: readonly Gatehouse[], inputUsd: number): Promise<void> {
  for (const { dataFolder } of nodes)
    await writeFile(
      join(dataFolder, 'gatehouse.yaml'),
      file(
        `models:\n  - {model: acme/new-1, prices: [{from: 2026-01-01, input: ${inputUsd}, output: 1}]}\n`,
      ),
    )
  for (const node of nodes.slice(0, 1))
    expect(await cli(node, 'reload')).toMatchObject({ exitCode: 0 })
}

async function read<Answer>(gatehouse: Gatehouse, path: string): Promise<Answer> {
  const response = await controlPlaneCall(gatehouse, 'GET', path)
  expect(response.status).toBe(200)
  return (await response.json()) as Answer
}

async function checkRepricing(nodes: readonly Gatehouse[]): Promise<void> {
  const [first, last] = [nodes[0], nodes.at(-1)]
  if (first === undefined || last === undefined) throw new Error('there is no node')
  await price(nodes, 2)
  await createGate(first, 'new', 'acme/new-1')
  const made = await controlPlaneCall(first, 'POST', '/v1/budgets', {
    ...{ gateId: 'new', limitUsd: 1_000, period: 'month' },
  })
  const { id: budgetId } = (await made.json()) as { id: string }
  const rows: Row[] = []
  for (const node of [...nodes, ...nodes]) rows.push(await call(node))
  expect(rows.map(({ cost }) => cost.usd)).toEqual(rows.map(() => 2))
  const used = async (node: Gatehouse) =>
    (await read<{ used: { usd: number } }>(node, `/v1/budgets/${budgetId}`)).used.usd
  const spent = async () => {
    const path = '/v1/analytics?interval=all&group_by=target'
    const { data } = await read<{ data: { group: string; cost: { usd: number } }[] }>(last, path)
    return data.find(({ group }) => group === 'acme/new-1')?.cost.usd
  }
  const source = rows[0]?.cost.source ?? ''

  // Somebody doubts the price, and corrects it in the file.
  const doubted = await cli(first, 'models', 'verify')
  expect(doubted).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('acme/new-1') })
  await price(nodes, 5)
  const kept = await cli(first, 'costs', 'verify', '--from', '2026-01-01')
  expect(kept).toMatchObject({ exitCode: 0 })
  expect(kept.stderr).toContain(`If it was wrong: --wrong ${source}`)

  const command = ['costs', 'verify', '--from', '2026-01-01', '--wrong', source]
  const preview = await cli(first, ...command)
  expect(preview.exitCode).toBe(1)
  expect(preview.stdout).toMatch(
    new RegExp(
      `^acme/new-1 +${rows.length} +\\$${2 * rows.length}\\b.* +\\$${5 * rows.length}\\b`,
      'm',
    ),
  )
  expect(preview.stderr).toContain('fall only with their next period')
  expect((await read<Row>(last, `/v1/logs/${rows[0]?.id}`)).cost.usd).toBe(2)

  const fixed = await cli(first, ...command, '--fix')
  expect(fixed).toMatchObject({
    ...{ exitCode: 0 },
    stdout: expect.stringContaining(`${rows.length} differ, ${rows.length} were fixed`),
  })
  for (const { id } of rows)
    expect((await read<Row>(last, `/v1/logs/${id}`)).cost).toMatchObject({
      ...{ usd: 5, status: 'exact' },
      source: expect.stringMatching(/^overlay:[0-9a-f]{12}$/),
    })
  expect(await spent()).toBe(5 * rows.length)
  for (const node of nodes)
    await pollUntil('the budget', async () => (await used(node)) === 5 * rows.length || undefined)
  expect(await cli(last, ...command, '--fix')).toMatchObject({
    stdout: expect.stringContaining('0 differ, 0 were fixed'),
  })

  // A lower price lowers rows and sums; the running budget keeps what it has counted.
  const higher = (await read<Row>(last, `/v1/logs/${rows[0]?.id}`)).cost.source
  await price(nodes, 1)
  await cli(last, 'costs', 'verify', '--wrong', higher, '--fix')
  expect((await read<Row>(first, `/v1/logs/${rows[0]?.id}`)).cost.usd).toBe(1)
  expect(await spent()).toBe(rows.length)
  for (const node of nodes) expect(await used(node)).toBe(5 * rows.length)
  const { data } = await read<{ data: object[] }>(first, '/v1/audit-log?action=costs.correct')
  expect(data).toMatchObject([
    { before: { usd: 5 * rows.length }, after: { calls: rows.length, usd: rows.length } },
    { before: { usd: 2 * rows.length }, after: { calls: rows.length, usd: 5 * rows.length } },
  ])
}

test('on a file: a price is set, yields to the file, survives a restart, and is deleted', async () => {
  const gatehouse = await start({ GATEHOUSE_OPERATOR_API: 'on' })
  await checkSetting([gatehouse])
  await cli(gatehouse, 'models', 'set-price', 'acme/new-1', '--input', '5', '--output', '25')
  await gatehouse.stop()
  const again = await startGatehouse({ dataFolder: gatehouse.dataFolder, key })
  started.push(again)
  expect((await call(again)).cost).toMatchObject({ usd: 5, status: 'exact' })
})

test('on a file: a wrong price is found, corrected, and its calls and sums are repriced', async () => {
  const gatehouse = await start()
  await checkRepricing([gatehouse])
  // Every entry that a row names is kept, also without any later call.
  const database = new Database(join(gatehouse.dataFolder, 'gatehouse.db'), { readonly: true })
  const named = database.query('SELECT DISTINCT price_source AS source FROM calls').all()
  const kept = database.query("SELECT 'overlay:' || hash AS source FROM price_entries").all()
  database.close()
  expect(kept).toEqual(expect.arrayContaining(named))
})

test('prices are refused without the setting, from tokens, and from other accounts', async () => {
  const gatehouse = await start()
  const path = '/v1/provider-models/acme/new-1'
  const body = { prices: [{ input: 1, output: 1 }] }
  const made = await controlPlaneCall(gatehouse, 'POST', '/v1/access-tokens', { name: 'agent' })
  const { token } = (await made.json()) as { token: string }
  for (const [by, text] of [
    [key, 'GATEHOUSE_OPERATOR_API=on'],
    [token, 'An access token can only call gates'],
  ] as const)
    for (const method of ['PUT', 'DELETE'] as const) {
      const sent = method === 'PUT' ? body : undefined
      const refused = await controlPlaneCall({ ...gatehouse, key: by }, method, path, sent)
      expect(refused.status).toBe(403)
      expect(await refused.text()).toContain(text)
    }
  const rented = await start({
    ...{ GATEHOUSE_DEFAULT_ACCOUNT: 'tenant', GATEHOUSE_OPERATOR_API: 'on' },
  })
  const refused = await controlPlaneCall(rented, 'PUT', path, body)
  expect(refused.status).toBe(403)
  expect(await refused.text()).toContain('no account of its operator')
})

describeIf(findPostgres() !== undefined, 'needs Postgres')('two nodes on one Postgres', () => {
  let scene: PostgresScene
  beforeAll(async () => {
    scene = await createPostgresScene()
  })
  afterAll(() => scene?.remove())

  test('a price that one node takes applies on both, with the answer', async () => {
    await checkSetting(await startNodes(scene))
  })

  test('a wrong price is corrected on both, with rows, sums and budgets', async () => {
    await checkRepricing(await startNodes(scene))
  })
})
