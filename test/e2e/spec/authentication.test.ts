/**
 * interface-spec, "Authentication": its eight rules, and what "Endpoints" says of the headers of
 * every request.
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
import { randomBytes } from 'node:crypto'
import { areasOfAnAccount } from '../../support/areas-of-an-account.ts'
import { Browser } from '../../support/browser.ts'
import {
  type ControlPlane,
  controlPlaneCall,
  createKey,
  deleteKey,
} from '../../support/control-plane.ts'
import { DIALECT_GATES, DIALECTS, requestBody } from '../../support/dialect-table.ts'
import { readErrorCode, readFlatError } from '../../support/envelopes.ts'
import {
  CHAT_V3,
  openRawScene,
  PLANTED_OPENAI_KEY,
  type RawScene,
} from '../../support/raw-scene.ts'
import { runCli } from '../../support/run-cli.ts'
import { jsonAnswer } from '../../support/scripted-answers.ts'

// A test that outlasts its time has its server killed by the runner, and with it every test that
// follows.
setDefaultTimeout(180_000)

const messages = [{ role: 'user', content: 'hi' }]
const OPENAI_CALL = { model: 'chat-gate', messages }

let scene: RawScene
beforeAll(async () => {
  scene = await openRawScene({
    gates: DIALECT_GATES,
    environment: { GATEHOUSE_TRUSTED_HOSTS: '127.0.0.1', GATEHOUSE_SIGN_UP: 'open' },
  })
})
afterAll(() => scene.close())
beforeEach(() => {
  scene.upstream.reset()
  scene.upstream.answer(async (exchange) => {
    const row = DIALECTS.find(({ upstreamPath }) => upstreamPath === exchange.request.path)
    await jsonAnswer(200, row?.answer ?? '{}')(exchange)
  })
})

const withKey = (key: string): ControlPlane => ({ url: scene.gatehouse.url, key })

/** The statuses of a call through a gate and of one to the control plane. */
async function statuses(key: string): Promise<readonly number[]> {
  const answers = await Promise.all([
    controlPlaneCall(withKey(key), 'POST', '/v1/chat/completions', OPENAI_CALL),
    controlPlaneCall(withKey(key), 'GET', '/v1/gates'),
  ])
  await Promise.all(answers.map((answer) => answer.text()))
  return answers.map(({ status }) => status)
}

/**
 * Every operation of the interface description that is not for everybody: method and path,
 * parameters filled in.
 */
async function protectedOperations(): Promise<readonly (readonly [string, string])[]> {
  const document = (await (await fetch(`${scene.gatehouse.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { security?: object[] }>>
  }
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { security }]) => security?.some((way) => Object.keys(way).length === 0) !== true)
      .filter(([, { security }]) => security === undefined || security.length > 0)
      .map(([method]) => [method.toUpperCase(), path.replace(/\{\w+\}/g, 'x')] as const),
  )
}

describe('Endpoints', () => {
  test('JSON bodies are sent with Content-Type: application/json', async () => {
    for (const row of DIALECTS) {
      for (const type of ['application/json', 'application/json; charset=utf-8']) {
        const { status } = await scene.post(row.path, requestBody(row), { 'content-type': type })
        expect({ path: row.path, type, status }).toEqual({ path: row.path, type, status: 200 })
      }
      const refused = await scene.post(row.path, requestBody(row), { 'content-type': 'text/plain' })
      expect(refused.status).toBe(400)
      expect(refused.text).toContain('content-type')
    }
  })
})

describe('Authentication', () => {
  test('1. Every request carries the header Authorization: Bearer <API_KEY>', async () => {
    const operations = await protectedOperations()
    expect(operations.length).toBeGreaterThan(50)
    for (const [method, path] of operations) {
      for (const headers of [{}, { authorization: scene.gatehouse.key }] as const) {
        const response = await fetch(scene.gatehouse.url + path, { method, headers })
        await response.text()
        expect({ method, path, status: response.status }).toEqual({ method, path, status: 401 })
      }
    }
    expect(await statuses(scene.gatehouse.key)).toEqual([200, 200])
  })

  describe("2. Keys are created in the dashboard or with a command-line tool's key-create command", () => {
    test('in the dashboard: by a signed-in user, with a name', async () => {
      const browser = new Browser(scene.gatehouse.url)
      await browser.json('/v1/auth/sign-up', 201, {
        method: 'POST',
        body: { email: 'ann@example.test', name: 'Ann', password: 'correct horse battery staple' },
        headers: { authorization: `Bearer ${scene.gatehouse.key}` },
      })
      const body = { name: 'from the dashboard' }
      const created = await browser.json('/v1/keys', 201, { method: 'POST', body })
      expect(await statuses(String(created.key))).toEqual([200, 200])
    })

    test('with the command-line tool', async () => {
      const ran = await runCli(['keys', 'create', 'from the command line'], {
        environment: { GATEHOUSE_URL: scene.gatehouse.url, GATEHOUSE_API_KEY: scene.gatehouse.key },
      })
      expect(ran.exitCode).toBe(0)
      expect(ran.stdout).toMatch(/^sk-svc-[0-9a-f]{64}\n$/)
      expect(await statuses(ran.stdout.trim())).toEqual([200, 200])
      const keys = await (await controlPlaneCall(scene.gatehouse, 'GET', '/v1/keys')).text()
      expect(keys).toContain('"from the command line"')
      expect(keys).toContain('"from the dashboard"')
    })
  })

  test('3. Legacy keys continue to validate', async () => {
    for (const prefix of ['svc_', 'legacy_']) {
      const key = prefix + randomBytes(24).toString('hex')
      const body = { name: prefix, key }
      expect(
        (await controlPlaneCall(scene.gatehouse, 'POST', '/v1/keys/import', body)).status,
      ).toBe(201)
      expect(await statuses(key)).toEqual([200, 200])
    }
  })

  describe('4. Every key has full access to the account: one key walks every area of it', () => {
    test.each([
      ['a key that a key has created', 'sk-svc-'],
      ['a legacy key', 'svc_'],
    ])('%s', async (_, prefix) => {
      const made = await createKey(scene.gatehouse, 'walker')
      const legacy = `svc_${randomBytes(24).toString('hex')}`
      await controlPlaneCall(scene.gatehouse, 'POST', '/v1/keys/import', {
        name: 'walker',
        key: legacy,
      })
      const key = prefix === 'svc_' ? legacy : made.key
      for (const [area, walk] of areasOfAnAccount(`${scene.upstream.url}/v1`)) {
        expect({ area, refused: await walk(withKey(key)) }).toEqual({ area, refused: [] })
      }
    })

    test('there are no per-key permission levels: none can be given, none is shown', async () => {
      for (const extra of [
        { permissions: ['read'] },
        { scopes: [] },
        { role: 'reader' },
        { readOnly: true },
      ]) {
        const response = await controlPlaneCall(scene.gatehouse, 'POST', '/v1/keys', {
          name: 'x',
          ...extra,
        })
        expect({ extra, status: response.status }).toEqual({ extra, status: 400 })
      }
      const { data } = (await (
        await controlPlaneCall(scene.gatehouse, 'GET', '/v1/keys')
      ).json()) as {
        data: object[]
      }
      for (const row of data)
        expect(Object.keys(row).sort()).toEqual([
          ...['createdAt', 'createdBy', 'expiresAt', 'id', 'lastUsedAt'],
          ...['maskedPrefix', 'name', 'previous', 'tags', 'user'],
        ])
    })
  })

  test('5. Deleting a key takes effect immediately; requests using it fail authentication', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id, key } = await createKey(scene.gatehouse, 'short-lived')
      expect(await statuses(key)).toEqual([200, 200])
      await deleteKey(scene.gatehouse, id)
      for (const row of DIALECTS) {
        const answer = await scene.post(row.path, requestBody(row), {
          authorization: `Bearer ${key}`,
        })
        expect(answer.status).toBe(401)
      }
      expect(await statuses(key)).toEqual([401, 401])
    }
    expect(await statuses(scene.gatehouse.key)).toEqual([200, 200])
  })

  test.each([
    ['missing', undefined],
    ['empty', 'Bearer '],
    ['of another scheme', 'Basic dXNlcjpwYXNz'],
    ['unknown', `Bearer sk-svc-${'0'.repeat(64)}`],
    ['of an unknown form', 'Bearer planted-nonsense'],
    ['one character short', 'short'],
  ])('6. A missing or invalid key yields status 401 (%s)', async (_, given) => {
    const authorization = given === 'short' ? `Bearer ${scene.gatehouse.key.slice(0, -1)}` : given
    const endpoints = [
      ...DIALECTS.map((row) => ['POST', row.path, row.envelope, requestBody(row)] as const),
      ['POST', CHAT_V3, 'flat', JSON.stringify({ gate_id: 'chat-gate', messages })],
      ['PATCH', '/v1/owned-models/house-model', 'flat', '{}'],
      ['POST', '/v1/keys', 'flat', '{"name":"x"}'],
      ['GET', '/v1/models', 'nested', undefined],
    ] as const
    for (const [method, path, envelope, body] of endpoints) {
      const response = await fetch(scene.gatehouse.url + path, {
        method,
        headers: {
          'content-type': 'application/json',
          ...(authorization === undefined ? {} : { authorization }),
        },
        ...(body === undefined ? {} : { body }),
      })
      const text = await response.text()
      expect({ path, status: response.status }).toEqual({ path, status: 401 })
      expect(readErrorCode(envelope, text)).toBeString()
      expect(text).not.toContain(scene.gatehouse.key.slice(8, 40))
    }
    expect(scene.upstream.requests).toBeEmpty()
  })

  describe('7. Keys must not be put in client-side code or source control', () => {
    test('a key in an address opens nothing', async () => {
      for (const name of ['api_key', 'key', 'access_token', 'token']) {
        const response = await fetch(
          `${scene.gatehouse.url}/v1/gates?${name}=${scene.gatehouse.key}`,
        )
        expect(response.status).toBe(401)
        readFlatError(await response.text())
      }
    })

    test('rotation: create a new key, switch the application, then delete the old one; no call fails', async () => {
      const [old, renewed] = [
        await createKey(scene.gatehouse, 'old'),
        await createKey(scene.gatehouse, 'new'),
      ]
      const failed: (readonly number[])[] = []
      let current = old.key
      let isDone = false
      const application = async (): Promise<void> => {
        while (!isDone) {
          const seen = await statuses(current)
          if (seen.some((status) => status !== 200)) failed.push(seen)
        }
      }
      const running = application()
      expect(await statuses(renewed.key)).toEqual([200, 200])
      current = renewed.key
      expect(await statuses(old.key)).toEqual([200, 200])
      isDone = true
      await running
      await deleteKey(scene.gatehouse, old.id)
      expect(failed).toEqual([])
      expect(await statuses(old.key)).toEqual([401, 401])
      expect(await statuses(renewed.key)).toEqual([200, 200])
    })
  })

  test('8. Provider keys authenticate to the upstream provider, not to the service; they are independent of service keys', async () => {
    const { id, key } = await createKey(scene.gatehouse, 'sets the provider key')
    const providerKey = `sk-svc-${randomBytes(32).toString('hex')}`
    const path = '/v1/provider-keys/openai'
    expect((await controlPlaneCall(withKey(key), 'PUT', path, { key: providerKey })).status).toBe(
      201,
    )
    // Even one in the form of ours.
    expect(await statuses(providerKey)).toEqual([401, 401])
    await deleteKey(scene.gatehouse, id)
    expect(await statuses(scene.gatehouse.key)).toEqual([200, 200])
    expect(scene.upstream.last().headers.authorization).toBe(`Bearer ${providerKey}`)
    expect((await controlPlaneCall(scene.gatehouse, 'DELETE', path)).status).toBe(204)
    expect(await statuses(scene.gatehouse.key)).toEqual([200, 200])
    expect(scene.upstream.last().headers.authorization).toBe(`Bearer ${PLANTED_OPENAI_KEY}`)
    // A service key never goes out.
    for (const { head, text } of scene.upstream.requests)
      expect((head + text).includes(scene.gatehouse.key)).toBeFalse()
  })
})
