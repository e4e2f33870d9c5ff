/** Providers of the operator's own, from a configuration file; and files that stop the start. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { readdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import OpenAI from 'openai'
import { boundToTest } from '../support/bound-to-test.ts'
import { controlPlaneCall, createGate, waitForLogRow } from '../support/control-plane.ts'
import { DIALECTS, type DialectRow } from '../support/dialect-table.ts'
import { PROGRAM } from '../support/program.ts'
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts'
import { jsonAnswer } from '../support/scripted-answers.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

const CHAT = DIALECTS.find((row) => row.dialect === 'openai-chat') as DialectRow
const RESPONSES = DIALECTS.find((row) => row.dialect === 'openai-responses') as DialectRow

let folder: TemporaryFolder
let upstream: RawUpstream
beforeAll(async () => {
  folder = await createTemporaryFolder()
  upstream = await startRawUpstream()
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await upstream.stop()
  await folder.remove()
})

describe('providers of a file', () => {
  let gatehouse: Gatehouse
  beforeAll(async () => {
    const path = join(folder.path, 'operators.yaml')
    await writeFile(
      path,
      `providers:
  - id: acme
    name: Acme AI
    baseUrl: ${upstream.url}/acme/v1   # as its own SDK takes it
    apiKeyVariable: ACME_TOKEN
    chatPath: /v2/chat
    headers: {x-team: gateway}
  - id: plain-ai
    name: Plain
    baseUrl: ${upstream.url}/plain/
    dialects: [openai-chat, openai-responses]
  - id: keyless
    name: Keyless
    baseUrl: ${upstream.url}
`,
    )
    gatehouse = await startGatehouse({
      environment: {
        GATEHOUSE_CONFIG: path,
        ACME_TOKEN: 'planted-key-of-acme',
        PLAIN_AI_API_KEY: 'planted-key-of-plain',
      },
    })
    for (const id of ['acme', 'plain-ai', 'keyless'])
      await createGate(gatehouse, `of-${id}`, `${id}/model-1`)
  })
  afterAll(async () => {
    expect(gatehouse.output()).not.toContain('planted-key')
    await gatehouse.remove()
  })

  const chat = (gate: string, headers: Record<string, string> = {}) =>
    new OpenAI({
      baseURL: `${gatehouse.url}/v1`,
      apiKey: gatehouse.key,
      maxRetries: 0,
      defaultHeaders: headers,
    }).chat.completions
      .create({ model: gate, messages: [{ role: 'user', content: 'Hi' }] })
      .withResponse()

  test('answer a chat call, under their path, key and headers, whatever the client sends', async () => {
    upstream.answer(jsonAnswer(200, CHAT.answer))
    const { data, response } = await chat('of-acme', {
      'x-team': 'another',
      'openai-beta': 'passes',
    })
    expect(data).toMatchObject(JSON.parse(CHAT.answer))
    expect(response.headers.get('x-gatehouse-target')).toBe('acme/model-1')
    const { path, headers, text } = upstream.last()
    expect(path).toBe('/acme/v1/v2/chat')
    expect(headers).toMatchObject({
      authorization: 'Bearer planted-key-of-acme',
      'x-team': 'gateway',
      'openai-beta': 'passes',
    })
    expect(JSON.parse(text).model).toBe('model-1')
    expect((await waitForLogRow(gatehouse, response.headers.get('x-request-id'))).usage).toEqual(
      CHAT.usage,
    )
  })

  test('have a path, a variable and dialects by default, and may speak Responses', async () => {
    upstream.answerOnce(jsonAnswer(200, CHAT.answer))
    await chat('of-plain-ai')
    expect(upstream.last().path).toBe('/plain/chat/completions')
    expect(upstream.last().headers.authorization).toBe('Bearer planted-key-of-plain')
    upstream.answerOnce(jsonAnswer(200, RESPONSES.answer))
    const answer = await controlPlaneCall(gatehouse, 'POST', '/v1/responses', {
      model: 'of-plain-ai',
      ...RESPONSES.fields,
    })
    expect(await answer.text()).toBe(RESPONSES.answer)
    expect(upstream.last().path).toBe('/plain/responses')
  })

  test('are listed after the catalog', async () => {
    const { data } = (await (await controlPlaneCall(gatehouse, 'GET', '/v1/providers')).json()) as {
      data: object[]
    }
    expect(data.slice(-3)).toEqual([
      {
        id: 'acme',
        name: 'Acme AI',
        docs: null,
        dialects: ['openai-chat'],
        configured: true,
        credential: 'platform',
        hasAddress: true,
      },
      {
        id: 'plain-ai',
        name: 'Plain',
        docs: null,
        dialects: ['openai-chat', 'openai-responses'],
        configured: true,
        credential: 'platform',
        hasAddress: true,
      },
      {
        id: 'keyless',
        name: 'Keyless',
        docs: null,
        dialects: ['openai-chat'],
        configured: false,
        credential: null,
        hasAddress: true,
      },
    ])
  })

  test('of the catalog without an address have an error that says so', async () => {
    await createGate(gatehouse, 'nowhere', ['azure-openai/gpt-5', 'vllm/any'])
    await expect(chat('nowhere')).rejects.toMatchObject({
      status: 502,
      code: 'provider_not_configured',
      message: expect.stringContaining('azure-openai or vllm'),
    })
  })

  test('cannot be called without a key', async () => {
    await expect(chat('of-keyless')).rejects.toMatchObject({
      status: 502,
      code: 'provider_auth_failed',
    })
    expect(upstream.requests).toHaveLength(0)
  })
})

test('a file in the data folder is found there, and an address in the environment overrides it', async () => {
  const data = await createTemporaryFolder()
  await writeFile(
    join(data.path, 'gatehouse.yaml'),
    'providers:\n  - {id: acme, name: Acme AI, baseUrl: "https://api.acme.test/v1"}\n' +
      'plans: {default: team, definitions: {team: {tokensPerMinute: 70000}}}\n',
  )
  const gatehouse = await startGatehouse({
    dataFolder: data.path,
    environment: { ACME_API_KEY: 'planted', ACME_BASE_URL: `${upstream.url}/moved` },
  })
  try {
    await createGate(gatehouse, 'acme', 'acme/model-1')
    upstream.answer(jsonAnswer(200, CHAT.answer))
    const answer = await controlPlaneCall(gatehouse, 'POST', '/v1/chat/completions', {
      model: 'acme',
      ...CHAT.fields,
    })
    expect(await answer.text()).toBe(CHAT.answer)
    expect(upstream.last().path).toBe('/moved/chat/completions')
    expect(answer.headers.get('x-ratelimit-limit-tokens')).toBe('70000')
    const account = await controlPlaneCall(gatehouse, 'GET', '/v1/account')
    expect(await account.json()).toMatchObject({
      plan: 'team',
      limits: { tokensPerMinute: 70_000, monthlyTokens: null },
    })
  } finally {
    await gatehouse.remove()
    await data.remove()
  }
})

describe('an invalid file stops the start, and nothing is created,', () => {
  async function startWith(environment: Record<string, string>) {
    const data = join(folder.path, `data-${crypto.randomUUID()}`)
    const child = Bun.spawn(boundToTest([...PROGRAM, 'serve', '--sandbox']), {
      cwd: resolve(import.meta.dir, '../..'),
      env: {
        PATH: process.env.PATH ?? '',
        GATEHOUSE_PORT: '0',
        GATEHOUSE_DATA_DIR: data,
        ...environment,
      },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [output, errors, code] = await Promise.all([
      child.stdout.text(),
      child.stderr.text(),
      child.exited,
    ])
    const made = await readdir(data).catch(() => [])
    return { output, errors, code, made }
  }

  test.each([
    [
      'an unknown member',
      'providers:\n  - id: acme\n    apiKey: canary\n',
      ':3: providers[0].apiKey must not be here',
    ],
    [
      'an address with a key',
      'providers:\n- baseUrl: https://x:canary@y\n',
      ':2: providers[0].baseUrl must be an',
    ],
    ['an unknown section', 'plan: {}\n', ':1: plan is not a known field'],
    ['an unknown plan', 'plans:\n  default: canary-plan\n', ':2: plans.default is not a plan'],
    [
      'an id of the catalog',
      'providers:\n- {id: groq, name: G, baseUrl: "https://g.test"}\n',
      ":2: providers[0].id must not be 'groq'",
    ],
    ['broken YAML', 'providers: [canary\n', ' is not valid YAML here'],
  ])('for %s', async (name, text, said) => {
    const path = join(folder.path, `${name.replaceAll(' ', '-')}.yaml`)
    await writeFile(path, text)
    const { output, errors, code, made } = await startWith({ GATEHOUSE_CONFIG: path })
    expect({ code, output, made }).toEqual({ code: 1, output: '', made: [] })
    expect(errors).toContain(`gatehouse: The configuration file is invalid`)
    expect(errors).toContain(path)
    expect(errors).toContain(said)
    expect(errors).not.toContain('canary')
  })

  test('for a missing file', async () => {
    const { errors, code, made } = await startWith({ GATEHOUSE_CONFIG: '/nowhere/gatehouse.yaml' })
    expect({ code, made }).toEqual({ code: 1, made: [] })
    expect(errors).toContain('GATEHOUSE_CONFIG must name a readable file')
  })
})
