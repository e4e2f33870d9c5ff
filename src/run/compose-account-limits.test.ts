/**
 * A plan's limits of a whole account, over the whole gateway in this process: no other key and no
 * other door goes round them.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createTemporaryFolder, type TemporaryFolder } from '../../test/support/temporary-folder.ts'
import { readSettings } from '../config/settings.ts'
import { generateApiKey } from '../core/api-key.ts'
import { DEFAULT_ACCOUNT, type GateId } from '../core/ids.ts'
import type { PlansSection } from '../core/plan.ts'
import { createLog } from '../telemetry/log.ts'
import { composeGatehouse, type Gatehouse } from './compose.ts'

let folder: TemporaryFolder
let gatehouse: Gatehouse | undefined
let upstream: ReturnType<typeof startUpstream>
/** Undefined: it answers at once. */
let held: PromiseWithResolvers<void> | undefined
let asked: number
let plans: PlansSection

function startUpstream() {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch() {
      asked += 1
      await held?.promise
      const message = { role: 'assistant', content: 'hi' }
      const usage = { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 }
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
}

beforeEach(async () => {
  folder = await createTemporaryFolder()
  asked = 0
  held = undefined
  upstream = startUpstream()
})
afterEach(async () => {
  held?.resolve()
  await gatehouse?.close()
  gatehouse = undefined
  await upstream.stop(true)
  await folder.remove()
})

async function start(limits: NonNullable<PlansSection['definitions']>[string]): Promise<string> {
  const settings = readSettings({
    GATEHOUSE_DATA_DIR: folder.path,
    OPENAI_BASE_URL: `http://127.0.0.1:${upstream.port}/v1`,
    OPENAI_API_KEY: 'planted',
  })
  plans = { default: 'team', definitions: { team: limits } }
  gatehouse = await composeGatehouse({
    ...{ settings, log: createLog('silent'), plans },
    readSettings: async () => ({ ...settings, plans }),
  })
  await gatehouse.gates.create(DEFAULT_ACCOUNT, {
    id: 'demo' as GateId,
    description: '',
    targets: [{ model: 'openai/m' }],
    timeoutMs: null,
    maxRetries: 0,
  })
  const { key } = await gatehouse.keys.create({ accountId: DEFAULT_ACCOUNT, name: 'first' })
  return key.reveal()
}

async function send(key: string, path: string, body?: object, method = 'POST'): Promise<Response> {
  if (gatehouse === undefined) throw new Error('not started')
  return await gatehouse.handle(
    new Request(`http://gatehouse.test${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  )
}

const CHAT = { model: 'demo', messages: [{ role: 'user', content: 'hi' }] }
const chat = (key: string) => send(key, '/v1/chat/completions', CHAT)

async function makeKey(key: string): Promise<{ id: string; key: string }> {
  return (await (await send(key, '/v1/keys', { name: 'another' })).json()) as never
}

describe('with the one call of this minute made', () => {
  let first: string
  beforeEach(async () => {
    first = await start({ accountRequestsPerMinute: 1 })
    const answer = await chat(first)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-ratelimit-limit-account-requests')).toBe('1')
    expect(answer.headers.get('x-ratelimit-remaining-account-requests')).toBe('0')
    await answer.text()
  })

  async function expectRefused(answer: Response): Promise<void> {
    expect(answer.status).toBe(429)
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await answer.text()).toContain(
      'all keys and tokens of this account together are allowed 1',
    )
    expect(asked).toBe(1)
  }

  test('a new key, and one created after others were deleted, are refused', async () => {
    const made = await makeKey(first)
    await expectRefused(await chat(made.key))
    await send(made.key, `/v1/keys/${made.id}`, undefined, 'DELETE')
    await expectRefused(await chat((await makeKey(first)).key))
  })

  test('an imported key is refused', async () => {
    const key = generateApiKey().reveal()
    expect((await send(first, '/v1/keys/import', { name: 'mine', key })).status).toBe(201)
    await expectRefused(await chat(key))
  })

  test.each([
    ['/v1/messages/count_tokens', CHAT],
    ['/v1/embeddings', { model: 'demo', input: 'hi' }],
    ['/v1/responses', { model: 'demo', input: 'hi' }],
    ['/v3/chat', { gate: 'demo', messages: [{ role: 'user', content: 'hi' }] }],
    ['/v1/playground', { gate: 'demo', messages: [{ role: 'user', content: 'hi' }] }],
  ])('a call at %s is refused', async (path, body) => {
    await expectRefused(await send(first, path, body))
  })

  test('the test of a gate shows the refusal', async () => {
    const answer = await send(first, '/v1/gates/demo/test', {})
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({
      results: [
        {
          status: 'failed',
          error: {
            message: expect.stringContaining('all keys and tokens of this account together'),
          },
        },
      ],
    })
    expect(asked).toBe(1)
  })

  test('the account shows the limit, and a plan without it lets calls go at once', async () => {
    const account = await (await send(first, '/v1/account', undefined, 'GET')).json()
    expect(account).toMatchObject({
      limits: {
        requestsPerMinute: null,
        accountRequestsPerMinute: 1,
        accountConcurrentCalls: null,
      },
    })
    plans = { default: 'team', definitions: { team: {} } }
    await gatehouse?.reload()
    expect((await chat(first)).status).toBe(200)
  })
})

test('calls of all keys that run at once are counted together, and an ended one makes room', async () => {
  const first = await start({ accountConcurrentCalls: 2 })
  const keys = await Promise.all([makeKey(first), makeKey(first)])
  held = Promise.withResolvers()
  const running = [chat(first), chat(keys[0].key)]
  const refused = await chat(keys[1].key)
  expect(refused.status).toBe(429)
  expect(await refused.text()).toContain(
    'concurrent calls: all keys and tokens of this account together are allowed 2 at a time',
  )
  held.resolve()
  for (const answer of await Promise.all(running)) {
    expect(answer.status).toBe(200)
    await answer.text()
  }
  expect((await chat(keys[1].key)).status).toBe(200)
})
