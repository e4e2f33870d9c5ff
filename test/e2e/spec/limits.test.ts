/**
 * interface-spec, "Limits": per key and by plan, refused so that clients can back off; and the
 * bounds of fields.
 */
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import OpenAI from 'openai'
import { Browser } from '../../support/browser.ts'
import {
  type ControlPlane,
  controlPlaneCall,
  createGate,
  createKey,
} from '../../support/control-plane.ts'
import { DIALECT_GATES, DIALECTS, requestBody } from '../../support/dialect-table.ts'
import { readErrorCode } from '../../support/envelopes.ts'
import { CHAT, openRawScene, type RawScene } from '../../support/raw-scene.ts'
import { jsonAnswer } from '../../support/scripted-answers.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../../support/temporary-folder.ts'

// A test that outlasts its time has its server killed by the runner, and with it every test that
// follows.
setDefaultTimeout(180_000)

/** The first account's plan, and that of everybody else. */
const LARGE = 4
const SMALL = 2
const PLANS = `plans:
  default: small
  accounts: {acct_default: large}
  definitions:
    small: {requestsPerMinute: ${SMALL}}
    large: {requestsPerMinute: ${LARGE}}
`

let scene: RawScene
let folder: TemporaryFolder
beforeAll(async () => {
  folder = await createTemporaryFolder()
  const file = join(folder.path, 'plans.yaml')
  await writeFile(file, PLANS)
  scene = await openRawScene({
    gates: DIALECT_GATES,
    environment: {
      GATEHOUSE_CONFIG: file,
      GATEHOUSE_SIGN_UP: 'open',
      // Else these would count, whatever the plan says.
      GATEHOUSE_REQUESTS_PER_MINUTE: '',
      GATEHOUSE_CONCURRENT_CALLS: '',
    },
  })
})
afterAll(async () => {
  await scene.close()
  await folder.remove()
})
beforeEach(() => {
  scene.upstream.reset()
  scene.upstream.answer(async (exchange) => {
    const row = DIALECTS.find(({ upstreamPath }) => upstreamPath === exchange.request.path)
    await jsonAnswer(200, row?.answer ?? '{}')(exchange)
  })
})

const withKey = (key: string): ControlPlane => ({ url: scene.gatehouse.url, key })

async function call(key: string): Promise<number> {
  const body = { model: 'chat-gate', messages: [{ role: 'user', content: 'hi' }] }
  const response = await controlPlaneCall(withKey(key), 'POST', CHAT, body)
  await response.text()
  return response.status
}

/** One call after the other, until one more than `limit` was made. */
async function callBeyond(limit: number, key: string): Promise<readonly number[]> {
  const statuses: number[] = []
  while (statuses.length <= limit) statuses.push(await call(key))
  return statuses
}

const served = (count: number): readonly number[] => [
  ...Array.from({ length: count }, () => 200),
  429,
]

/** A key of an account that has just been made. */
async function keyOfNewAccount(): Promise<string> {
  const browser = new Browser(scene.gatehouse.url)
  const body = { email: 'new@example.test', name: 'New', password: 'correct horse battery staple' }
  await browser.json('/v1/auth/sign-up', 201, { method: 'POST', body })
  const { key } = await browser.json('/v1/keys', 201, { method: 'POST', body: { name: 'first' } })
  await createGate(withKey(String(key)), 'chat-gate', 'openai/gpt-4o')
  return String(key)
}

describe('Limits', () => {
  describe("1. Rate limits apply per API key according to the customer's plan", () => {
    test('per API key: one used-up key leaves another key of the account its limit', async () => {
      const [one, two] = [
        await createKey(scene.gatehouse, 'one'),
        await createKey(scene.gatehouse, 'two'),
      ]
      expect(await callBeyond(LARGE, one.key)).toEqual(served(LARGE))
      expect(await callBeyond(LARGE, two.key)).toEqual(served(LARGE))
      expect(await call(one.key)).toBe(429)
    })

    test('according to the plan: another account, another limit; higher limits are available on other plans', async () => {
      const small = await keyOfNewAccount()
      expect(await callBeyond(SMALL, small)).toEqual(served(SMALL))
      const large = await createKey(scene.gatehouse, 'large')
      expect(await callBeyond(LARGE, large.key)).toEqual(served(LARGE))
      for (const [key, plan, requestsPerMinute] of [
        [small, 'small', SMALL],
        [large.key, 'large', LARGE],
      ] as const) {
        const account = await controlPlaneCall(withKey(key), 'GET', '/v1/account')
        expect(await account.json()).toMatchObject({ plan, limits: { requestsPerMinute } })
      }
    })

    test.each(DIALECTS.map((row) => [row.path, row] as const))(
      'a rejection has status 429 and a time to come back, and reaches no provider (%s)',
      async (_, row) => {
        const { key } = await createKey(scene.gatehouse, row.dialect)
        const headers = { authorization: `Bearer ${key}` }
        for (let used = 0; used < LARGE; used += 1)
          expect((await scene.post(row.path, requestBody(row), headers)).status).toBe(200)
        for (const stream of [false, true]) {
          const refused = await scene.post(row.path, requestBody(row, { stream }), headers)
          expect(refused.status).toBe(429)
          expect(refused.headers['content-type']).toStartWith('application/json')
          expect(readErrorCode(row.envelope, refused.text)).toStartWith('rate_limit')
          // Whole seconds, and no longer than the time in which one call comes back.
          expect(refused.headers['retry-after']).toMatch(/^[1-9]\d*$/)
          expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60 / LARGE)
        }
        expect(scene.upstream.requests).toHaveLength(LARGE)
      },
    )

    test('clients should retry with exponential backoff: the official SDK retries a rejection', async () => {
      const { key } = await createKey(scene.gatehouse, 'patient')
      expect(await callBeyond(LARGE, key)).toEqual(served(LARGE))
      const asked: (string | null)[] = []
      const client = new OpenAI({
        baseURL: `${scene.gatehouse.url}/v1`,
        apiKey: key,
        maxRetries: 1,
        fetch: async (address, init) => {
          const response = await fetch(address, init)
          asked.push(response.headers.get('retry-after'))
          // The wait is seconds long: this shows only that the SDK would retry.
          const headers = new Headers(response.headers)
          headers.set('retry-after-ms', '1')
          return new Response(response.body, { status: response.status, headers })
        },
      })
      const body = { model: 'chat-gate', messages: [{ role: 'user' as const, content: 'hi' }] }
      const error: unknown = await client.chat.completions
        .create(body)
        .catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(OpenAI.RateLimitError)
      expect(asked).toEqual([expect.stringMatching(/^\d+$/), expect.stringMatching(/^\d+$/)])
    })
  })

  test('2. Field bounds: the interface description has those of the PATCH table', async () => {
    const document = (await (await fetch(`${scene.gatehouse.url}/openapi.json`)).json()) as {
      components: {
        schemas: { UpdateOwnedModel: { properties: object; additionalProperties: boolean } }
      }
    }
    const { properties, additionalProperties } = document.components.schemas.UpdateOwnedModel
    const price = { type: 'integer', minimum: 0, maximum: 10_000 }
    expect(properties).toMatchObject({
      displayName: { type: 'string', minLength: 1, maxLength: 120 },
      upstreamModelId: { type: 'string', minLength: 1, maxLength: 200 },
      credential: { type: 'string', minLength: 1, maxLength: 500 },
      pricingInput: price,
      pricingOutput: price,
      pricingCachedInput: price,
      // Beyond the table: what a server of one's own may have to be told.
      credentialHeader: { enum: ['auto', 'authorization', 'x-api-key'] },
      fimEndpoint: { enum: expect.arrayContaining(['auto', 'infill']) },
      fimTemplate: { enum: expect.arrayContaining(['auto', 'qwen-coder']) },
    })
    expect(Object.keys(properties)).toHaveLength(9)
    expect(additionalProperties).toBeFalse()
  })
})
