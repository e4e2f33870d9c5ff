/**
 * Planted secrets are pushed through every door; none of them, and no prompt, may come out anywhere
 * or stay on disk.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { resolve } from 'node:path'
import { Browser } from '../support/browser.ts'
import { controlPlaneCall, createGate } from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import { PROGRAM } from '../support/program.ts'
import { sendRaw } from '../support/raw-client.ts'
import type { Exchange } from '../support/raw-upstream.ts'
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts'
import { readFolder } from '../support/read-folder.ts'
import { bodyAnswer, jsonAnswer } from '../support/scripted-answers.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

setDefaultTimeout(120_000)

const PLANTED = {
  platformKey: 'canary-platform-key-4f1d9c7b2a',
  providerKey: 'canary-provider-key-8e2b6a1f3d',
  ownedCredential: 'canary-owned-credential-7c3e5d',
  webhookSecret: 'canary-webhook-secret-1b9f4e6c2d',
  password: 'canary password 5d2c8b7a',
  metricsToken: 'canary-metrics-token-9a8b7c6d5e',
  prompt: 'canary-prompt-3f6e9d2c1b',
  completion: 'canary-completion-2b8d4f7a9c',
  callersHeader: 'canary-header-6e1a9c4b7d',
}
const MASTER_KEY = 'c4'.repeat(32)

let upstream: RawUpstream
let collector: ReturnType<typeof Bun.serve>
let gatehouse: Gatehouse
let browser: Browser
/**
 * All that came out: answers of the control plane, refusals, metrics, traces, what the command line
 * printed.
 */
const seen: { readonly where: string; readonly text: string }[] = []

beforeAll(async () => {
  upstream = await startRawUpstream()
  collector = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      seen.push({ where: 'OTLP', text: Buffer.from(await request.bytes()).toString('latin1') })
      return new Response('{}', { headers: { 'content-type': 'application/json' } })
    },
  })
  gatehouse = await startGatehouse({
    environment: {
      OPENAI_BASE_URL: `${upstream.url}/v1`,
      OPENAI_API_KEY: PLANTED.platformKey,
      MISTRAL_BASE_URL: `${upstream.url}/v1`,
      MISTRAL_API_KEY: PLANTED.platformKey,
      ANTHROPIC_BASE_URL: upstream.url,
      GATEHOUSE_MASTER_KEY: MASTER_KEY,
      GATEHOUSE_TRUSTED_HOSTS: '127.0.0.1',
      GATEHOUSE_LOG_LEVEL: 'trace',
      GATEHOUSE_ACCESS_LOG: 'on',
      GATEHOUSE_METRICS_TOKEN: PLANTED.metricsToken,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}`,
    },
  })
  browser = new Browser(gatehouse.url)
})
afterAll(async () => {
  await gatehouse.remove()
  await upstream.stop()
  await collector.stop(true)
})

async function control(method: string, path: string, body?: unknown): Promise<void> {
  const response = await controlPlaneCall(gatehouse, method, path, body)
  const text = await response.text()
  seen.push({ where: `${method} ${path}`, text: text + JSON.stringify([...response.headers]) })
}

/** A provider that repeats everything it was sent, as careless ones do. */
const repeatEverything =
  (status: number) =>
  (exchange: Exchange): void | Promise<void> =>
    jsonAnswer(status, {
      error: { message: exchange.request.head, type: 't', param: null, code: null },
    })(exchange)

/** Access tokens: created, rotated, old, deleted and truncated. */
const tokens: Record<string, string> = {}

async function createToken(name: string): Promise<{ id: string; token: string }> {
  const created = await controlPlaneCall(gatehouse, 'POST', '/v1/access-tokens', { name })
  expect(created.status).toBe(201)
  return (await created.json()) as { id: string; token: string }
}

async function call(path: string, body: object, headers: Record<string, string> = {}) {
  return await sendRaw(gatehouse.url, {
    path,
    headers: {
      authorization: `Bearer ${gatehouse.key}`,
      'content-type': 'application/json',
      'x-canary': PLANTED.callersHeader,
      ...headers,
    },
    body: JSON.stringify(body),
  })
}

test('every operation is called, well and badly', async () => {
  await browser.send('/v1/auth/sign-up', {
    method: 'POST',
    body: { email: 'owner@example.test', name: 'Owner', password: PLANTED.password },
    headers: { authorization: `Bearer ${gatehouse.key}` },
  })
  await browser.send('/v1/auth/sign-in', {
    method: 'POST',
    body: { email: 'owner@example.test', password: `${PLANTED.password} wrong` },
  })
  await createGate(gatehouse, 'openai', 'openai/gpt-4o')
  await createGate(gatehouse, 'mistral', 'mistral/codestral-latest')
  await createGate(gatehouse, 'claude', 'anthropic/claude-opus-5')
  await control('PUT', '/v1/provider-keys/anthropic', { key: PLANTED.providerKey })
  await control('PUT', '/v1/provider-keys/nobody', { key: PLANTED.providerKey })
  await control('PUT', '/v1/provider-keys/openai', { key: `${PLANTED.providerKey}\n` })
  const model = {
    slug: 'mine',
    dialect: 'openai-chat',
    baseUrl: `${upstream.url}/v1`,
    upstreamModelId: 'm',
    credential: PLANTED.ownedCredential,
    pricingInput: 1,
    pricingOutput: 1,
  }
  upstream.answer(repeatEverything(401))
  await control('POST', '/v1/owned-models', model)
  await control('PATCH', '/v1/owned-models/mine', { credential: PLANTED.ownedCredential })
  await control('POST', '/v1/owned-models', {
    ...model,
    slug: 'other',
    unheard: PLANTED.ownedCredential,
  })
  await createGate(gatehouse, 'owned', 'owned/mine')
  await control('POST', '/v1/webhooks', {
    url: `${upstream.url}/hook`,
    secret: PLANTED.webhookSecret,
    events: ['budget.exhausted'],
  })

  const messages = [{ role: 'user', content: PLANTED.prompt }]
  const calls: readonly (readonly [string, object])[] = [
    ['/v1/responses', { model: 'openai', input: PLANTED.prompt }],
    ['/v1/chat/completions', { model: 'openai', messages }],
    ['/v1/chat/completions', { model: 'owned', messages }],
    ['/v1/chat/completions', { model: 'claude', messages }],
    ['/v1/messages', { model: 'claude', max_tokens: 9, messages }],
    ['/v3/chat', { gate_id: 'openai', messages }],
    ['/v1/playground', { gate_id: 'openai', messages }],
    ['/alt/v1/fim/completions', { model: 'mistral', prompt: PLANTED.prompt }],
    ['/v1/embeddings', { model: 'openai', input: PLANTED.prompt }],
  ]
  for (const script of [
    jsonAnswer(200, {
      choices: [{ message: { content: PLANTED.completion }, finish_reason: 'stop' }],
    }),
    bodyAnswer(200, `{"broken": "${PLANTED.completion}`),
    repeatEverything(400),
    repeatEverything(401),
    repeatEverything(500),
  ]) {
    upstream.answer(script)
    for (const [path, body] of calls) {
      const { text, head } = await call(path, body)
      // A caller may read its own prompt and its answer, and never what was paid with.
      for (const name of ['platformKey', 'providerKey', 'ownedCredential'] as const)
        expect({ path, name, shown: (text + head).includes(PLANTED[name]) }).toEqual({
          path,
          name,
          shown: false,
        })
      await call(path, { ...body, stream: true })
    }
  }
  for (const [path] of calls) {
    await call(path, { model: PLANTED.prompt, messages: PLANTED.prompt })
    await call(path, { prompt: PLANTED.prompt }, { authorization: `Bearer ${PLANTED.providerKey}` })
  }
})

test('access tokens call, read, and are refused', async () => {
  const [rotated, deleted] = [await createToken('rotated'), await createToken('deleted')]
  const answer = await controlPlaneCall(
    gatehouse,
    'POST',
    `/v1/access-tokens/${rotated.id}/rotate`,
    { oldEndsInSeconds: 600 },
  )
  const { token: current } = (await answer.json()) as { token: string }
  await control('DELETE', `/v1/access-tokens/${deleted.id}`)
  Object.assign(tokens, {
    currentToken: current,
    oldToken: rotated.token,
    deletedToken: deleted.token,
    truncatedToken: current.slice(0, -1),
  })
  const messages = [{ role: 'user', content: PLANTED.prompt }]
  const statuses: number[] = []
  for (const [name, token] of Object.entries(tokens)) {
    const authorization = `Bearer ${token}`
    upstream.answer(repeatEverything(name === 'oldToken' ? 401 : 400))
    for (const [path, body] of [
      ['/v1/chat/completions', { model: 'openai', messages }],
      ['/v1/chat/completions', { model: token, messages }],
      ['/v1/messages', { model: 'claude', max_tokens: 9, messages }],
      ['/v1/gates', { id: token }],
    ] as const) {
      const { status, head, text } = await call(path, body, { authorization })
      if (path === '/v1/gates') statuses.push(status)
      seen.push({ where: `POST ${path} with the ${name}`, text: head + text })
    }
    const session = await fetch(`${gatehouse.url}/v1/session`, { headers: { authorization } })
    seen.push({ where: `the session of the ${name}`, text: await session.text() })
    await fetch(`${gatehouse.url}/v1/models/${token}?access_token=${token}`)
  }
  expect(statuses).toEqual([403, 403, 401, 401])
  for (const path of ['/v1/access-tokens', `/v1/access-tokens/${rotated.id}`])
    await control('GET', path)
})

test('every document, list, export, metric and command is read', async () => {
  const document = (await (await fetch(`${gatehouse.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, unknown>>
  }
  const plain = Object.keys(document.paths).filter(
    (path) => document.paths[path]?.get !== undefined && !path.includes('{'),
  )
  expect(plain.length).toBeGreaterThan(10)
  for (const path of plain)
    await control('GET', path === '/v1/logs/export' ? `${path}?format=csv` : path)
  await control('GET', '/v1/logs/export?format=ndjson')
  for (const path of ['/v1/provider-keys', '/v1/owned-models/mine', '/v1/audit-log?limit=100'])
    await control('GET', path)
  const metrics = await fetch(`${gatehouse.url}/metrics`, {
    headers: { authorization: `Bearer ${PLANTED.metricsToken}` },
  })
  expect(metrics.status).toBe(200)
  seen.push({ where: '/metrics', text: await metrics.text() })
  for (const command of [
    ['gates', 'list'],
    ['provider-keys', 'list', '--json'],
    ['owned-models', 'list', '--json'],
    ['webhooks', 'list', '--json'],
    ['tokens', 'list', '--json'],
    ['audit', '--json'],
    ['usage'],
    ['logs', '--json'],
    ['config', 'pull', '--file', '-'],
    ['doctor'],
  ]) {
    const child = Bun.spawnSync([...PROGRAM, ...command], {
      cwd: resolve(import.meta.dir, '../..'),
      env: {
        PATH: process.env.PATH ?? '',
        HOME: process.env.HOME ?? '',
        GATEHOUSE_URL: gatehouse.url,
        GATEHOUSE_API_KEY: gatehouse.key,
        OPENAI_API_KEY: PLANTED.platformKey,
        GATEHOUSE_MASTER_KEY: MASTER_KEY,
      },
    })
    seen.push({ where: `gatehouse ${command.join(' ')}`, text: `${child.stdout}${child.stderr}` })
    // Doctor finds something to complain of: these keys open nothing.
    if (command[0] !== 'doctor') expect([command, child.exitCode]).toEqual([command, 0])
  }
  await pollUntil('a trace', () => seen.some(({ where }) => where === 'OTLP'))
  expect(await gatehouse.stop()).toBe(0)
})

test('planted secrets are in no output, no log and no file', () => {
  seen.push({ where: 'log', text: gatehouse.output() })
  for (const { path, text } of readFolder(gatehouse.dataFolder))
    seen.push({ where: path.slice(gatehouse.dataFolder.length), text })
  const session = browser.cookies.values().next().value
  const secrets = {
    ...PLANTED,
    masterKey: MASTER_KEY,
    apiKey: gatehouse.key,
    ...tokens,
    session: session ?? 'no session',
  }
  const found = seen.flatMap(({ where, text }) =>
    Object.entries(secrets)
      .filter(([, secret]) => text.includes(secret))
      .map(([name]) => `${name} in ${where}`),
  )
  expect(found).toEqual([])
  expect(seen.length).toBeGreaterThan(40)
  // The searched places would show something: the log holds the calls, the files their rows.
  expect(gatehouse.output()).toContain('req_')
  const whole = seen.map(({ text }) => text).join('\n')
  for (const sign of [
    'owned/mine',
    'owner@example.test',
    'gen_ai.',
    'gatehouse_calls',
    'provider-key.create',
  ])
    expect([sign, whole.includes(sign)]).toEqual([sign, true])
  expect(session).toBeDefined()
})
