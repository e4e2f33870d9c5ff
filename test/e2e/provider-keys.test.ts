/**
 * An account's own provider keys: what the upstream sees, who pays when one fails, and where no key
 * ever shows.
 */

import { Database } from 'bun:sqlite'
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { controlPlaneCall, createGate, waitForLogRow } from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import { CHAT, PLANTED_MISTRAL_KEY, PLANTED_OPENAI_KEY } from '../support/raw-scene.ts'
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts'
import { readFolder } from '../support/read-folder.ts'
import { runCli } from '../support/run-cli.ts'
import { jsonAnswer } from '../support/scripted-answers.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

// A test that outlasts its time has its server killed by the runner, and with it every test that
// follows.
setDefaultTimeout(180_000)

const OWN = 'sk-own-planted-1111111111111111-aaaa'
const ANOTHER = 'sk-own-planted-2222222222222222-bbbb'
const ANSWER = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}

let folder: TemporaryFolder
let upstream: RawUpstream
let gatehouse: Gatehouse
let everything = ''

async function start(environment: Record<string, string> = {}): Promise<void> {
  const previous = gatehouse as Gatehouse | undefined
  gatehouse = await startGatehouse({
    dataFolder: folder.path,
    ...(previous === undefined ? {} : { key: previous.key }),
    environment: {
      OPENAI_BASE_URL: `${upstream.url}/v1`,
      OPENAI_API_KEY: PLANTED_OPENAI_KEY,
      MISTRAL_BASE_URL: `${upstream.url}/v1`,
      MISTRAL_API_KEY: PLANTED_MISTRAL_KEY,
      GROQ_BASE_URL: `${upstream.url}/v1`,
      ...environment,
    },
  })
}

/** @param meanwhile while nothing runs on the folder */
async function restart(meanwhile: () => void = () => {}, environment = {}): Promise<void> {
  await gatehouse.stop()
  everything += gatehouse.output()
  meanwhile()
  await start(environment)
}

beforeAll(async () => {
  folder = await createTemporaryFolder()
  upstream = await startRawUpstream()
  await start()
  await createGate(gatehouse, 'one', 'openai/gpt-4o')
  await createGate(gatehouse, 'retried', ['openai/gpt-4o', 'openai/gpt-4o-mini'], { maxRetries: 2 })
  await createGate(gatehouse, 'next', ['openai/gpt-4o', 'mistral/small'])
  await createGate(gatehouse, 'hedged', ['openai/gpt-4o', 'mistral/small'], { hedgeAfterMs: 50 })
  await createGate(gatehouse, 'keyless', 'groq/llama')
})
afterEach(async () => {
  upstream.reset()
  await controlPlaneCall(gatehouse, 'DELETE', '/v1/provider-keys/openai')
})
afterAll(async () => {
  await gatehouse.remove()
  await upstream.stop()
  await folder.remove()
})

/** The operator says that the master key is meant. */
async function accept(environment: Record<string, string>): Promise<void> {
  const accepted = await runCli(['store', 'accept'], {
    environment: { ...environment, GATEHOUSE_DATA_DIR: folder.path },
  })
  expect(accepted).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('Accepted: The master key'),
  })
}

/** The request that tests the key is answered, and left out of what the upstream has seen. */
async function setKey(key: string, extra: object = {}, provider = 'openai'): Promise<Response> {
  upstream.answerOnce(jsonAnswer(200, { object: 'list', data: [] }))
  const answer = await putKey(key, extra, provider)
  const tested = upstream.requests.findLastIndex(({ method }) => method === 'GET')
  if (tested >= 0) upstream.requests.splice(tested, 1)
  return answer
}

function putKey(key: string, extra: object = {}, provider = 'openai'): Promise<Response> {
  return controlPlaneCall(gatehouse, 'PUT', `/v1/provider-keys/${provider}`, { key, ...extra })
}

async function call(gate: string) {
  const response = await fetch(gatehouse.url + CHAT, {
    method: 'POST',
    headers: { authorization: `Bearer ${gatehouse.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: gate, messages: [{ role: 'user', content: 'Hi' }] }),
  })
  const text = await response.text()
  return { status: response.status, text, id: response.headers.get('x-request-id') }
}

/** The keys that the upstream was asked with since the last test. */
function keysSeen(): string[] {
  return upstream.requests.map(
    (request) => request.headers.authorization?.replace('Bearer ', '') ?? '',
  )
}

async function credentialOf(id: string | null): Promise<unknown> {
  return (await waitForLogRow(gatehouse, id)).credential
}

describe('an own key', () => {
  test("is sent upstream from the next call on, and the row shows the account's own credential", async () => {
    upstream.answer(jsonAnswer(200, ANSWER))
    const before = await call('one')
    expect((await setKey(OWN)).status).toBe(201)
    const own = await call('one')
    expect((await setKey(ANOTHER)).status).toBe(200)
    await call('one')
    expect(keysSeen()).toEqual([PLANTED_OPENAI_KEY, OWN, ANOTHER])
    expect(await credentialOf(before.id)).toBe('platform')
    expect(await credentialOf(own.id)).toBe('own')
  })

  test('is tested when it is set, and saved with a warning where the provider refuses it', async () => {
    upstream.answer(jsonAnswer(401, { error: { message: `Incorrect API key: ${OWN}` } }))
    const answer = await putKey(OWN)
    const text = await answer.text()
    expect([answer.status, text.includes(OWN)]).toEqual([201, false])
    expect(JSON.parse(text)).toMatchObject({
      probe: { status: 'refused', httpStatus: 401 },
      warnings: [
        {
          code: 'key_refused',
          message: 'The key was saved, but openai refused the key (HTTP 401).',
        },
      ],
    })
    expect(upstream.requests).toMatchObject([
      { method: 'GET', path: '/v1/models', headers: { authorization: `Bearer ${OWN}` } },
    ])
    const { data } = (await (
      await controlPlaneCall(gatehouse, 'GET', '/v1/provider-keys')
    ).json()) as { data: unknown[] }
    expect(data).toMatchObject([{ provider: 'openai', active: true }])

    upstream.answer(jsonAnswer(200, { object: 'list', data: [] }))
    expect(await (await putKey(ANOTHER)).json()).toMatchObject({
      probe: { status: 'accepted' },
      warnings: [],
    })
  })

  test("that is deactivated or deleted is replaced by the platform's", async () => {
    upstream.answer(jsonAnswer(200, ANSWER))
    await setKey(OWN)
    await controlPlaneCall(gatehouse, 'PATCH', '/v1/provider-keys/openai', { active: false })
    await call('one')
    await controlPlaneCall(gatehouse, 'PATCH', '/v1/provider-keys/openai', { active: true })
    await call('one')
    await controlPlaneCall(gatehouse, 'DELETE', '/v1/provider-keys/openai')
    await call('one')
    expect(keysSeen()).toEqual([PLANTED_OPENAI_KEY, OWN, PLANTED_OPENAI_KEY])
  })

  test('opens a provider without a key of the operator', async () => {
    upstream.answer(jsonAnswer(200, ANSWER))
    const refused = await call('keyless')
    expect(refused).toMatchObject({
      status: 502,
      text: expect.stringContaining('/v1/provider-keys'),
    })
    await setKey(OWN, {}, 'groq')
    expect((await call('keyless')).status).toBe(200)
    expect(keysSeen()).toEqual([OWN])
    expect(await credentialOf(refused.id)).toBeNull()
    await controlPlaneCall(gatehouse, 'DELETE', '/v1/provider-keys/groq')
  })

  test('survives a crash, and its last use is shown', async () => {
    upstream.answer(jsonAnswer(200, ANSWER))
    await setKey(OWN)
    await gatehouse.kill()
    everything += gatehouse.output()
    await start()
    await call('one')
    expect(keysSeen()).toEqual([OWN])
    const list = await (await controlPlaneCall(gatehouse, 'GET', '/v1/provider-keys')).json()
    expect(list).toMatchObject({
      data: [
        { provider: 'openai', maskedKey: 'sk-…aaaa', active: true, lastUsedAt: expect.any(String) },
      ],
    })
  })
})

describe("a refused own key is never replaced by the platform's", () => {
  test.each([401, 403])(
    'on HTTP %i, with retries and several targets of that provider',
    async (status) => {
      // Vendors have been seen repeating the key they refuse.
      upstream.answer(jsonAnswer(status, { error: { message: `Incorrect API key: ${OWN}` } }))
      await setKey(OWN)
      const refused = await call('retried')
      expect(refused.status).toBe(502)
      expect(JSON.parse(refused.text)).toMatchObject({ error: { code: 'provider_auth_failed' } })
      expect(refused.text).toContain("the account's own key")
      expect(refused.text).not.toContain(OWN)
      expect(keysSeen()).toEqual([OWN, OWN])
      expect(await credentialOf(refused.id)).toBe('own')
    },
  )

  test('but the next target is tried with its own credential', async () => {
    await setKey(OWN)
    upstream.answerOnce(jsonAnswer(401, { error: { message: 'no' } }))
    upstream.answer(jsonAnswer(200, ANSWER))
    const moved = await call('next')
    expect(moved.status).toBe(200)
    expect(keysSeen()).toEqual([OWN, PLANTED_MISTRAL_KEY])
    expect(await credentialOf(moved.id)).toBe('platform')
  })

  test('and a target that rests because of it is tried again as soon as the key is replaced', async () => {
    await setKey(OWN)
    upstream.answer(async (exchange) => {
      const isRefused = exchange.request.headers.authorization === `Bearer ${OWN}`
      await jsonAnswer(isRefused ? 401 : 200, isRefused ? {} : ANSWER)(exchange)
    })
    for (let count = 0; count < 6; count += 1) await call('next')
    upstream.requests.length = 0
    await call('next')
    await setKey(ANOTHER)
    await call('next')
    expect(keysSeen()).toEqual([PLANTED_MISTRAL_KEY, ANOTHER])
  })

  test('a hedged call with a loser at the platform’s cost counts for the platform, whoever wins', async () => {
    await setKey(OWN)
    upstream.answerOnce(async (exchange) => {
      // Later than the hedge, and still the first to answer.
      await pollUntil('the hedge', () => upstream.requests.length === 2)
      await jsonAnswer(200, ANSWER)(exchange)
    })
    upstream.answer(() => undefined)
    const won = await call('hedged')
    expect(won.status).toBe(200)
    expect(keysSeen()).toEqual([OWN, PLANTED_MISTRAL_KEY])
    // One row a call: it counts for the quota as soon as the platform pays for a part of it (0024).
    expect(await credentialOf(won.id)).toBe('platform')
  })
})

describe('an own key that cannot be decrypted fails its calls before any attempt', () => {
  const database = (statement: string) => {
    const file = new Database(join(folder.path, 'gatehouse.db'))
    file.run(statement)
    file.close()
  }

  async function expectClosed(): Promise<void> {
    for (const gate of ['one', 'retried']) {
      const failed = await call(gate)
      expect(failed.status).toBe(502)
      expect(JSON.parse(failed.text)).toMatchObject({
        error: {
          code: 'provider_auth_failed',
          message: expect.stringContaining('cannot be decrypted'),
        },
      })
      // A caller's error holds nothing of the operator's.
      expect(failed.text).not.toContain(folder.path)
    }
    expect(upstream.requests).toEqual([])
    expect(gatehouse.output()).toContain('a provider key cannot be decrypted')
  }

  test('sealed for another provider', async () => {
    await setKey(OWN, {}, 'mistral')
    await setKey(ANOTHER)
    await restart(() =>
      database(
        "update provider_keys set sealed_key = (select sealed_key from provider_keys where provider = 'mistral')",
      ),
    )
    await expectClosed()
    await controlPlaneCall(gatehouse, 'DELETE', '/v1/provider-keys/mistral')
  })

  test('under an accepted wrong master key, until the key is set again', async () => {
    await setKey(OWN)
    const wrong = { GATEHOUSE_MASTER_KEY: 'ab'.repeat(32) }
    await gatehouse.stop()
    everything += gatehouse.output()
    const stopped = await startGatehouse({ dataFolder: folder.path, environment: wrong }).catch(
      String,
    )
    expect(stopped).toMatch(/found [0-9a-f]{8}, expected [0-9a-f]{8}/)
    everything += stopped
    await accept(wrong)
    await start(wrong)
    await expectClosed()
    upstream.answer(jsonAnswer(200, ANSWER))
    expect((await setKey(ANOTHER)).status).toBe(200)
    expect((await call('one')).status).toBe(200)
    expect(keysSeen()).toEqual([ANOTHER])
    await controlPlaneCall(gatehouse, 'DELETE', '/v1/provider-keys/openai')
    await gatehouse.stop()
    everything += gatehouse.output()
    await accept({})
    await start()
  })

  test('but a later target is tried with its own credential', async () => {
    await setKey(OWN)
    await restart(() => database("update provider_keys set sealed_key = 'v1.x.y.z'"))
    upstream.answer(jsonAnswer(200, ANSWER))
    expect((await call('next')).status).toBe(200)
    expect(keysSeen()).toEqual([PLANTED_MISTRAL_KEY])
  })
})

test('a malformed master key stops the start by its name, and is not repeated', async () => {
  await gatehouse.stop()
  everything += gatehouse.output()
  const failed = await startGatehouse({
    dataFolder: folder.path,
    environment: { GATEHOUSE_MASTER_KEY: 'planted-master-key' },
  }).catch(String)
  expect(failed).toContain('GATEHOUSE_MASTER_KEY must be 32 bytes')
  expect(failed).not.toContain('planted-master-key')
  await start()
})

test('no key is in any output, database, log or journal', async () => {
  await setKey(OWN)
  await setKey(ANOTHER, {}, 'mistral')
  upstream.answer(jsonAnswer(200, ANSWER))
  await call('one')
  const whileRunning = readFolder(folder.path)
  expect(whileRunning.map(({ path }) => path)).toContain(join(folder.path, 'gatehouse.db-wal'))
  const masterKey =
    /^[0-9a-f]{64}$/m.exec(readFileSync(join(folder.path, 'master.key'), 'utf8'))?.[0] ?? ''
  expect(masterKey).toHaveLength(64)
  await gatehouse.stop()
  everything += gatehouse.output()
  const files = [...whileRunning, ...readFolder(folder.path)]
  for (const secret of [OWN, ANOTHER, OWN.slice(4, -4), masterKey]) {
    expect(everything.includes(secret)).toBeFalse()
    const holding = files.filter(({ text }) => text.includes(secret)).map(({ path }) => path)
    expect([...new Set(holding)]).toEqual(
      secret === masterKey ? [join(folder.path, 'master.key')] : [],
    )
  }
  await start()
})
