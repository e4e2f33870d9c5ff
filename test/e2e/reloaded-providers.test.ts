/** What a reload changes of providers and prices, and what calls in flight keep. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { controlPlaneCall, createGate } from '../support/control-plane.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

setDefaultTimeout(120_000)

interface Asked {
  readonly server: string
  readonly key: string | null
}

let gatehouse: Gatehouse
let asked: Asked[] = []
let held: PromiseWithResolvers<void> | undefined
let servers: ReturnType<typeof serve>[] = []

function serve(server: string) {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch({ headers }) {
      asked.push({ server, key: headers.get('authorization') })
      await held?.promise
      return Response.json({
        ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
        choices: [
          { index: 0, message: { role: 'assistant', content: server }, finish_reason: 'stop' },
        ],
        usage: { prompt_tokens: 1_000_000, completion_tokens: 0, total_tokens: 1_000_000 },
      })
    },
  })
}

beforeEach(async () => {
  asked = []
  held = undefined
  servers = [serve('old'), serve('new')]
  gatehouse = await startGatehouse()
})
afterEach(async () => {
  held?.resolve()
  await gatehouse.remove()
  for (const server of servers) await server.stop(true)
})

async function write(server: 0 | 1, inputUsd: number, extra = ''): Promise<void> {
  await writeFile(
    join(gatehouse.dataFolder, 'gatehouse.yaml'),
    `providers:
  - {id: acme, name: Acme, baseUrl: 'http://127.0.0.1:${servers[server]?.port}', apiKeyFile: acme-key${extra}}
models:
  - {model: acme/m, prices: [{from: 2026-01-01, input: ${inputUsd}, output: 1}]}
`,
  )
}

async function writeKey(key: string): Promise<void> {
  const path = join(gatehouse.dataFolder, 'acme-key')
  await writeFile(path, key)
  await chmod(path, 0o600)
}

async function reload() {
  const response = await controlPlaneCall(gatehouse, 'POST', '/v1/reload')
  const { nodes } = (await response.json()) as {
    nodes: { status: string; changed: string[]; needsRestart: string[]; faults: object[] }[]
  }
  return nodes[0]
}

async function call(
  gate = 'acme',
): Promise<{ readonly content: string; readonly usd: number | undefined }> {
  const response = await controlPlaneCall(gatehouse, 'POST', '/v1/chat/completions', {
    model: gate,
    messages: [{ role: 'user', content: 'hi' }],
  })
  const body = (await response.json()) as { choices: { message: { content: string } }[] }
  const id = response.headers.get('x-request-id')
  for (;;) {
    const row = await controlPlaneCall(gatehouse, 'GET', `/v1/logs/${id}`)
    if (row.status === 200) {
      const { cost } = (await row.json()) as { cost: { usd: number } | null }
      return { content: body.choices[0]?.message.content ?? '', usd: cost?.usd }
    }
    await row.body?.cancel()
    await Bun.sleep(20)
  }
}

async function restartWithFile(): Promise<void> {
  await writeKey('planted-key-1')
  await write(0, 2)
  await restart()
  await createGate(gatehouse, 'acme', 'acme/m')
}

async function restart(): Promise<void> {
  await gatehouse.stop()
  const { dataFolder, key, remove } = gatehouse
  const again = await startGatehouse({ dataFolder, key })
  gatehouse = {
    ...again,
    remove: async () => {
      await again.remove()
      await remove()
    },
  }
}

test('addresses, keys in files and prices change; a call in flight keeps those of its start', async () => {
  await restartWithFile()
  held = Promise.withResolvers()
  const inFlight = call()
  while (asked.length === 0) await Bun.sleep(5)
  await writeKey('planted-key-2')
  await write(1, 3)
  expect(await reload()).toMatchObject({
    status: 'reloaded',
    changed: ['models', 'addresses', 'keys'],
    needsRestart: [],
  })
  held.resolve()
  expect(await inFlight).toEqual({ content: 'old', usd: 2 })
  expect(await call()).toEqual({ content: 'new', usd: 3 })
  expect(asked).toEqual([
    { server: 'old', key: 'Bearer planted-key-1' },
    { server: 'new', key: 'Bearer planted-key-2' },
  ])
  expect(gatehouse.output()).not.toContain('planted-key')
})

test('the price of models without a known one changes', async () => {
  await restartWithFile()
  await createGate(gatehouse, 'new', 'acme/new')
  const budget = { gateId: 'new', limitUsd: 1_000, period: 'month' }
  expect((await controlPlaneCall(gatehouse, 'POST', '/v1/budgets', budget)).status).toBe(201)
  const path = join(gatehouse.dataFolder, 'gatehouse.yaml')
  const before = await readFile(path, 'utf8')
  for (const input of [7, 8]) {
    await writeFile(path, `${before}unpricedPrice: {input: ${input}, output: 1}\n`)
    expect(await reload()).toMatchObject({ status: 'reloaded', changed: ['models'] })
    expect(await call('new')).toEqual({ content: 'old', usd: input })
  }
})

test('an empty key file is a fault beside the others, and nothing changes', async () => {
  await restartWithFile()
  await writeKey('')
  await write(1, -1)
  const node = await reload()
  expect(node).toMatchObject({ status: 'refused', changed: [] })
  expect(JSON.stringify(node?.faults)).toContain('names a file that is empty')
  expect(JSON.stringify(node?.faults)).toContain('prices')
  expect(await call()).toEqual({ content: 'old', usd: 2 })
})

test('what cannot be reloaded is named', async () => {
  await restartWithFile()
  await write(0, 2, ', chatPath: /v2/chat')
  expect(await reload()).toMatchObject({
    status: 'reloaded',
    changed: [],
    needsRestart: ['providers.acme'],
  })
  expect((await call()).content).toBe('old')
})

test('the first key of a provider is configured after a reload', async () => {
  await write(0, 2)
  const path = join(gatehouse.dataFolder, 'gatehouse.yaml')
  const withKey = await readFile(path, 'utf8')
  await writeFile(path, withKey.replace(', apiKeyFile: acme-key', ''))
  await restart()
  const isConfigured = async () => {
    const response = await controlPlaneCall(gatehouse, 'GET', '/v1/providers')
    const { data } = (await response.json()) as { data: { id: string; configured: boolean }[] }
    return data.find(({ id }) => id === 'acme')?.configured
  }
  expect(await isConfigured()).toBe(false)
  await writeKey('planted-key-1')
  await writeFile(path, withKey)
  expect(await reload()).toMatchObject({ status: 'reloaded', changed: ['keys'] })
  expect(await isConfigured()).toBe(true)
})
