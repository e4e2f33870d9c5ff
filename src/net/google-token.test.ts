import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { type RawUpstream, startRawUpstream } from '../../test/support/raw-upstream.ts'
import { bodyAnswer, jsonAnswer } from '../../test/support/scripted-answers.ts'
import { ScriptedClock } from '../../test/support/scripted-clock.ts'
import { createServiceAccount } from '../../test/support/service-account.ts'
import { Secret } from '../core/secret.ts'
import { AddressGuard } from './address-guard.ts'
import {
  GoogleTokenError,
  GoogleTokenSource,
  googleTokenOf,
  isServiceAccount,
} from './google-token.ts'
import { TrustedHosts } from './trusted-hosts.ts'

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
const HOUR_MS = 3_600_000

let endpoint: RawUpstream
let account: ReturnType<typeof createServiceAccount>
beforeAll(async () => {
  endpoint = await startRawUpstream()
  account = createServiceAccount(`${endpoint.url}/token`)
})
afterEach(() => endpoint.reset())
afterAll(() => endpoint.stop())

const granted = (token: string, seconds = 3600) =>
  jsonAnswer(200, { access_token: token, expires_in: seconds, token_type: 'Bearer' })

function createSource(json = account.json) {
  const time = { now: 1_000_000 }
  return {
    time,
    source: new GoogleTokenSource(new Secret(json), SCOPE, {
      clock: { now: () => time.now, elapsed: () => time.now },
    }),
  }
}

async function failureOf(call: Promise<unknown>): Promise<GoogleTokenError> {
  const thrown = await call.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(thrown instanceof GoogleTokenError))
    throw new Error(`no GoogleTokenError: ${String(thrown)}`)
  const shown = Bun.inspect(thrown)
  for (const secret of account.secrets) expect(shown).not.toContain(secret)
  expect(thrown.cause).toBeUndefined()
  return thrown
}

test('is requested with a signed assertion for the endpoint that the account names', async () => {
  endpoint.answer(granted('ya29.first'))
  expect(await createSource().source.get()).toBe('ya29.first')
  const { method, path, headers, text } = endpoint.last()
  expect([method, path]).toEqual(['POST', '/token'])
  expect(headers['content-type']).toBe('application/x-www-form-urlencoded')
  expect(new URLSearchParams(text).get('grant_type')).toBe(
    'urn:ietf:params:oauth:grant-type:jwt-bearer',
  )
  expect(account.readClaims(text)).toMatchObject({
    iss: 'gateway@acme-1.iam.gserviceaccount.com',
    scope: SCOPE,
    aud: `${endpoint.url}/token`,
  })
})

describe('of an account that a customer gave', () => {
  const sourceAt = (tokenUri: string, resolve: (name: string) => Promise<string[]>) => {
    const trustedHosts = new TrustedHosts(['127.0.0.1'])
    const guard = new AddressGuard({ trustedHosts, resolve })
    const { json } = createServiceAccount(tokenUri)
    return new GoogleTokenSource(new Secret(json), SCOPE, {
      locate: (address) => guard.locate(address),
    })
  }
  const nowhere = () => Promise.resolve([])

  test('is fetched at the very address that was checked', async () => {
    endpoint.answer(granted('ya29.checked'))
    const { port } = new URL(endpoint.url)
    const { json } = createServiceAccount(`http://localhost:${port}/token`)
    const source = new GoogleTokenSource(new Secret(json), SCOPE, {
      locate: async (address) => {
        expect(address).toBe(`http://localhost:${port}/token`)
        return {
          url: `http://127.0.0.1:${port}/checked`,
          host: `localhost:${port}`,
          serverName: undefined,
        }
      },
    })
    expect(await source.get()).toBe('ya29.checked')
    expect(endpoint.last().path).toBe('/checked')
    expect(endpoint.last().headers.host).toBe(`localhost:${port}`)
  })

  test.each([
    ['https://169.254.169.254/computeMetadata/v1/', nowhere],
    ['https://[::1]/token', nowhere],
    ['https://2130706434/token', nowhere],
    ['https://tokens.internal/token', async () => ['8.8.8.8']],
    ['https://tokens.example.com/token', async () => ['8.8.8.8', '10.0.0.7']],
    ['https://tokens.example.com:22/token', async () => ['8.8.8.8']],
    ['http://localhost:1/token', async () => ['127.0.0.9']],
  ])('is not fetched at %s, where no customer may lead the gateway', async (uri, resolve) => {
    const failure = await failureOf(sourceAt(uri, resolve).get())
    expect(failure.isRefusal).toBe(true)
    expect(failure.message).toContain('has a token_uri that is not allowed')
  })
})

describe('is kept', () => {
  test('until five minutes before its end', async () => {
    const { source, time } = createSource()
    endpoint.answerOnce(granted('first'))
    expect(await source.get()).toBe('first')
    time.now += HOUR_MS - 300_001
    expect(await source.get()).toBe('first')
    time.now += 1
    endpoint.answerOnce(granted('second'))
    expect(await source.get()).toBe('second')
    expect(endpoint.requests).toHaveLength(2)
  })

  test('for no longer if the clock is set back, or if the machine slept', async () => {
    const clock = new ScriptedClock()
    const source = new GoogleTokenSource(new Secret(account.json), SCOPE, { clock })
    for (const token of ['first', 'second', 'third']) endpoint.answerOnce(granted(token))
    expect(await source.get()).toBe('first')
    clock.jump(-HOUR_MS)
    clock.pass(HOUR_MS - 300_001)
    expect(await source.get()).toBe('first')
    clock.pass(1)
    expect(await source.get()).toBe('second')
    clock.jump(HOUR_MS)
    expect(await source.get()).toBe('third')
  })

  test('for callers at the same time, which share one request', async () => {
    const { source } = createSource()
    endpoint.answer(granted('one'))
    const tokens = await Promise.all(Array.from({ length: 50 }, () => source.get()))
    expect(new Set(tokens)).toEqual(new Set(['one']))
    expect(endpoint.requests).toHaveLength(1)
  })

  test('with the credential that it belongs to', async () => {
    const [one, other] = [new Secret(account.json), new Secret(account.json)]
    endpoint.answerOnce(granted('of-one'))
    endpoint.answerOnce(granted('of-other'))
    expect(await googleTokenOf(one, SCOPE)).toBe('of-one')
    expect(await googleTokenOf(other, SCOPE)).toBe('of-other')
    expect(await googleTokenOf(one, SCOPE)).toBe('of-one')
  })

  test('to its very end while its endpoint is away', async () => {
    const { source, time } = createSource()
    endpoint.answerOnce(granted('first'))
    await source.get()
    time.now += HOUR_MS - 1
    endpoint.answer(jsonAnswer(503, {}))
    expect(await source.get()).toBe('first')
    time.now += 1
    expect((await failureOf(source.get())).isRefusal).toBe(false)
  })

  test('not beyond the moment at which its account is refused', async () => {
    const { source, time } = createSource()
    endpoint.answerOnce(granted('first'))
    await source.get()
    time.now += HOUR_MS - 1
    endpoint.answer(jsonAnswer(400, { error: 'invalid_grant' }))
    expect((await failureOf(source.get())).isRefusal).toBe(true)
  })
})

test('a failure is not kept', async () => {
  const { source } = createSource()
  endpoint.answerOnce((exchange) => exchange.reset())
  endpoint.answerOnce(granted('second'))
  expect((await failureOf(source.get())).message).toContain('could not be reached')
  expect(await source.get()).toBe('second')
})

describe('the endpoint', () => {
  test.each([
    [
      400,
      { error: 'invalid_grant', error_description: 'Invalid JWT: canary' },
      true,
      'HTTP 400, invalid_grant',
    ],
    [401, { error: 'a canary with spaces' }, true, 'HTTP 401'],
    [403, 'no JSON, canary', true, 'HTTP 403'],
    [302, '', true, 'HTTP 302'],
    [429, {}, false, 'HTTP 429'],
    [500, { error: 'internal_failure' }, false, 'HTTP 500, internal_failure'],
    [200, {}, false, 'without a token'],
    [200, { access_token: 'two words', expires_in: 3600 }, false, 'without a token'],
    [200, 'no JSON, canary', false, 'without a token'],
  ])('answers %i %j', async (status, body, isRefusal, said) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    endpoint.answer(bodyAnswer(status, text, { location: `${endpoint.url}/elsewhere` }))
    const failure = await failureOf(createSource().source.get())
    expect(failure.isRefusal).toBe(isRefusal)
    expect(failure.message).toContain(said)
    expect(failure.message).not.toContain('canary')
    expect(endpoint.requests).toHaveLength(1)
  })
})

describe('a service account is refused, and nothing is sent,', () => {
  const account = (members: object) =>
    createServiceAccount('http://127.0.0.1:9/token', members).json
  test.each([
    ['that is cut short', '{"type": "service_account", "private_key": "canary', 'not valid JSON'],
    ['of another type', account({ type: 'authorized_user' }), 'type'],
    ['without an email address', account({ client_email: undefined }), 'client_email'],
    ['without a key', account({ private_key: '' }), 'private_key'],
    ['with an invalid key', account({ private_key: 'canary' }), 'private_key'],
    ['with a key that takes long', account({ private_key: 'canary'.repeat(700) }), 'too long'],
    ['without an endpoint', account({ token_uri: undefined }), 'token_uri'],
    [
      'whose endpoint is elsewhere, unencrypted',
      account({ token_uri: 'http://example.com/token' }),
      'token_uri',
    ],
    [
      'whose endpoint only looks local',
      account({ token_uri: 'http://127.0.0.1.example.com/' }),
      'token_uri',
    ],
    [
      'whose endpoint only looks local again',
      account({ token_uri: 'http://localhost@example.com/' }),
      'token_uri',
    ],
    ['with an invalid endpoint', account({ token_uri: 'file:///etc/passwd' }), 'token_uri'],
  ])('%s', async (_name, json, said) => {
    const failure = await failureOf(createSource(json).source.get())
    expect(failure.isRefusal).toBe(true)
    expect(failure.message).toContain(said)
    expect(failure.message).not.toContain('canary')
    expect(endpoint.requests).toHaveLength(0)
  })
})

test('only a JSON object is a service account', () => {
  expect(isServiceAccount(account.json)).toBe(true)
  expect(isServiceAccount('ya29.a0AfH6SMB')).toBe(false)
})
