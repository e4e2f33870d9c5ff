/** `make binary`: the one program, run where there is no repository, does what the sources do. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Browser } from '../support/browser.ts'
import { createGate, waitForLogRow } from '../support/control-plane.ts'
import { findPostgres } from '../support/postgres-server.ts'
import { BUILT_PROGRAM } from '../support/program.ts'
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts'
import { findRedis } from '../support/redis-server.ts'
import { jsonAnswer } from '../support/scripted-answers.ts'
import { testIf } from '../support/skip-unless.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { createWorkerScene, post, startWorkers, workerPids } from '../support/worker-scene.ts'

const REPOSITORY = resolve(import.meta.dir, '../..')

let folder: TemporaryFolder
let program: string
let upstream: RawUpstream
let gatehouse: Gatehouse
beforeAll(async () => {
  folder = await createTemporaryFolder()
  program = BUILT_PROGRAM ?? buildProgram(join(folder.path, 'gatehouse'))
  upstream = await startRawUpstream()
  upstream.answer(
    jsonAnswer(200, {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'gpt-4o',
      choices: [
        { index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' },
      ],
      usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 },
    }),
  )
  gatehouse = await startGatehouse({
    program,
    environment: { OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: `${upstream.url}/v1` },
  })
})
afterAll(async () => {
  await gatehouse?.remove()
  await upstream?.stop()
  await folder.remove()
})

function buildProgram(path: string): string {
  const built = Bun.spawnSync([process.execPath, 'scripts/build-binary.ts', '--outfile', path], {
    cwd: REPOSITORY,
  })
  if (built.exitCode !== 0) throw new Error(`${built.stdout}${built.stderr}`)
  return path
}

test('a server that starts has less than 6 MB of its parsed code in memory: what it uses stands together', async () => {
  // 8.8 MB where it does not.
  const started = await startGatehouse({ program })
  try {
    expect(residentKilobytesOfOwnData(started.pid)).toBeLessThan(6_000)
  } finally {
    await started.remove()
  }
})

/** Of what lies in the program beside the runtime: sources, parsed code, pages. */
function residentKilobytesOfOwnData(pid: number): number {
  const mappings = readFileSync(`/proc/${pid}/smaps`, 'utf8').split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m)
  const own = mappings.filter((mapping) => /^\S+ rw-p .*\/gatehouse$/m.test(mapping))
  expect(own.length).toBeGreaterThan(0)
  return own.reduce((sum, mapping) => sum + Number(/^Rss: +(\d+)/m.exec(mapping)?.[1]), 0)
}

test('it relays a call, records it, and knows its price', async () => {
  await createGate(gatehouse, 'assistant', 'openai/gpt-4o')
  const response = await fetch(`${gatehouse.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gatehouse.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'assistant', messages: [{ role: 'user', content: 'hi' }] }),
  })
  expect(response.status).toBe(200)
  await response.text()
  const row = (await waitForLogRow(gatehouse, response.headers.get('x-request-id'))) as unknown as {
    readonly cost: { readonly usd: number; readonly source: string }
  }
  expect(row.cost.usd).toBeGreaterThan(0)
  expect(row.cost.source).toStartWith('genai-prices@')
})

test('the dashboard, the documents and the page that renders them are inside', async () => {
  const page = await (await fetch(`${gatehouse.url}/dashboard`)).text()
  const script = /src="([^"]+)"/.exec(page)?.[1] ?? ''
  for (const path of [
    script,
    '/docs',
    '/docs/swagger-ui-bundle.js',
    '/docs/gatehouse.css',
    '/openapi.json',
  ]) {
    const response = await fetch(gatehouse.url + path)
    expect({ path, status: response.status }).toEqual({ path, status: 200 })
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(100)
  }
})

test('users can sign up and in', async () => {
  const browser = new Browser(gatehouse.url)
  const body = { email: 'ada@example.com', name: 'Ada', password: 'correct horse battery 7' }
  await browser.json('/v1/auth/sign-up', 201, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${gatehouse.key}` },
  })
  expect(await browser.json('/v1/session', 200)).toMatchObject({
    user: { email: 'ada@example.com' },
  })
})

test('its command line speaks to a gateway', async () => {
  const listed = Bun.spawn([program, 'gates', 'list'], {
    cwd: folder.path,
    env: { GATEHOUSE_URL: gatehouse.url, GATEHOUSE_API_KEY: gatehouse.key },
    stdin: 'ignore',
  })
  expect(await listed.stdout.text()).toContain('openai/gpt-4o')
  expect(await listed.exited).toBe(0)
})

testIf(
  findPostgres() !== undefined && findRedis() !== undefined,
  'needs Postgres and redis-server',
)('serves with several workers too, and keeps the store in Postgres', async () => {
  const scene = await createWorkerScene()
  const stores = await scene.createStores()
  const own = await startWorkers(stores, 2, { program })
  try {
    expect((await post(own)).status).toBe(200)
    expect(workerPids(own).size).toBe(2)
    const database = new URL(`${stores.environment.DATABASE_URL}`).pathname.slice(1)
    expect(own.output()).toContain(`Postgres, 127.0.0.1:${scene.postgres.server.port}/${database}`)
    expect(await scene.postgres.server.run('SELECT id FROM api_keys', database)).toHaveLength(1)
    expect(await own.stop()).toBe(0)
  } finally {
    await own.remove()
    await scene.remove()
  }
})
