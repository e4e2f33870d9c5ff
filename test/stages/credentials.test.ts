/**
 * How a credential is sent to its provider: a key, a signature or a token; and the error without a
 * credential.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { Secret } from '../../src/core/secret.ts'
import { awsSignatureOf } from '../support/aws-signature.ts'
import { CALLER_KEY, type GatewayScript, InProcessGateway } from '../support/in-process-gateway.ts'
import { pollUntil } from '../support/poll-until.ts'
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts'
import { jsonAnswer } from '../support/scripted-answers.ts'
import { json, type Script, type SentRequest } from '../support/scripted-upstream.ts'
import { createServiceAccount, type ServiceAccount } from '../support/service-account.ts'
import { CHAT, CHAT_ANSWER, chatBody, GATE } from '../support/stage-rows.ts'
import { TRANSLATED } from '../support/translated-samples.ts'

const answerOf = (dialect: string) =>
  json(200, TRANSLATED.find((row) => row.dialect === dialect)?.answer)
const refusal = (message: string) => json(400, { message, error: { message, status: 'INVALID' } })

interface Scene extends Partial<GatewayScript> {
  readonly target: string
  readonly credential: string
  readonly upstream?: readonly Script[]
}

function open({ target, credential, ...script }: Scene): InProcessGateway {
  const providerId = target.slice(0, target.indexOf('/'))
  const credentials = {
    [providerId]: { secret: new Secret(credential), owner: 'platform' as const },
  }
  return new InProcessGateway({ gates: { [GATE]: [target] }, credentials, ...script })
}

/** Signing and fetching tokens take real time, so these calls do not use the scripted clock. */
async function ask(scene: Scene) {
  const gateway = open(scene)
  const seen = await gateway.begin({ path: CHAT, body: chatBody() }).seen
  await gateway.assertNothingIsLeft()
  return { seen, gateway, sent: gateway.upstream.sent }
}

describe('a key for every call to a target', () => {
  const owned = (key: string, owner: 'account' | 'platform' = 'platform') => ({
    secret: new Secret(key),
    owner,
  })
  const ok = json(200, CHAT_ANSWER)
  const credentials: Record<string, ReturnType<typeof owned> | 'none'> = {}
  const sentKeys = (gateway: InProcessGateway) =>
    gateway.upstream.sent.map(({ headers }) => headers.authorization)

  test('is the current one, from the first call after a rotation or a deletion', async () => {
    credentials.openai = owned('first')
    const upstream = [ok, ok, ok, ok]
    const gateway = new InProcessGateway({ gates: { [GATE]: ['openai/m'] }, credentials, upstream })
    const ask = () => gateway.ask({ path: CHAT, body: chatBody() })
    await ask()
    await ask()
    credentials.openai = owned('second')
    await ask()
    credentials.openai = owned('third', 'account')
    await ask()
    credentials.openai = 'none'
    expect((await ask()).status).toBe(502)
    const keys = ['first', 'first', 'second', 'third'].map((key) => `Bearer ${key}`)
    expect(sentKeys(gateway)).toEqual(keys)
    await gateway.assertNothingIsLeft()
  })

  test('cannot be set by a caller’s header, and one caller’s header does not reach the next call', async () => {
    credentials.openai = owned('ours')
    const gateway = new InProcessGateway({
      gates: { [GATE]: ['openai/m'] },
      credentials,
      upstream: [ok, ok],
      addedHeaders: { request: ['x-team', 'constructor'], answer: [] },
    })
    const body = chatBody()
    const said = { 'content-type': 'application/json', 'x-team': 'first', constructor: 'c' }
    const first = { authorization: `Bearer ${CALLER_KEY}`, 'accept-encoding': 'gzip', ...said }
    await gateway.ask({ path: CHAT, body, headers: first })
    await gateway.ask({ path: CHAT, body })
    const ours = { 'accept-encoding': 'identity', 'content-type': 'application/json' }
    const [before, after] = gateway.upstream.sent.map(({ headers }) => headers)
    expect(before).toEqual({ authorization: 'Bearer ours', ...ours, ...said })
    expect(after).toEqual({ authorization: 'Bearer ours', ...ours })
  })
})

describe('an AWS key pair', () => {
  const target = 'bedrock/amazon.nova-lite-v1:0'
  const KEY_ID = 'AKIDEXAMPLE012345678'
  const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'
  const SESSION = 'session-token-0123456789'

  const signatureOf = ({ url, headers, body }: SentRequest, sessionToken?: string) =>
    awsSignatureOf(
      {
        method: 'POST',
        path: new URL(url).pathname,
        head: '',
        headers,
        body: Buffer.from(body),
        text: body,
      },
      {
        region: 'us-east-1',
        service: 'bedrock',
        credentials: {
          accessKeyId: KEY_ID,
          secretAccessKey: SECRET,
          ...(sessionToken === undefined ? {} : { sessionToken }),
        },
      },
    )

  test.each([
    ['', undefined],
    [' of a session', SESSION],
  ])('signs the sent bytes exactly, and is not sent itself%s', async (_, session) => {
    const credential = [KEY_ID, SECRET, ...(session === undefined ? [] : [session])].join(':')
    const { seen, sent } = await ask({
      target,
      credential,
      upstream: [answerOf('bedrock-converse')],
    })
    expect(seen.status).toBe(200)
    const [request] = sent
    if (request === undefined) throw new Error('Nothing was sent.')
    expect(request.headers.authorization).toStartWith(`AWS4-HMAC-SHA256 Credential=${KEY_ID}/`)
    expect(request.headers.authorization).toMatch(/SignedHeaders=content-type;host;x-amz-date/)
    expect(request.headers.authorization).toBe(await signatureOf(request, session))
    expect<string | undefined>(request.headers['x-amz-security-token']).toBe(session)
    expect(request.headers['content-type']).toBe('application/json')
    expect(JSON.stringify(request)).not.toContain(SECRET)
  })

  test('is masked in all its parts, whoever repeats them', async () => {
    const credential = `${KEY_ID}:${SECRET}:${SESSION}`
    const said = `${SECRET} of ${KEY_ID} in ${SESSION}, which is ${credential}`
    const { seen } = await ask({ target, credential, upstream: [refusal(said)] })
    expect(seen.status).toBe(400)
    expect(JSON.parse(seen.text).error.message).toBe(
      '[secret] of [secret] in [secret], which is [secret]',
    )
  })

  test.each(['bedrock-api-key-0123456789', 'AKID:short', `${KEY_ID}:${SECRET}:${SESSION}:more`])(
    'in another form is a plain key, sent unchanged: %s',
    async (credential) => {
      const upstream = [answerOf('bedrock-converse'), refusal(`bad ${credential}`)]
      const gateway = open({ target, credential, upstream })
      const answered = await gateway.begin({ path: CHAT, body: chatBody() }).seen
      const refused = await gateway.begin({ path: CHAT, body: chatBody() }).seen
      expect([answered.status, refused.status]).toEqual([200, 400])
      expect(gateway.upstream.sent[0]?.headers).toMatchObject({
        authorization: `Bearer ${credential}`,
      })
      expect(gateway.upstream.sent[0]?.headers).not.toHaveProperty('x-amz-date')
      expect(refused.text).toContain('bad [secret]')
    },
  )
})

describe('a Google service account', () => {
  const target = 'vertex/gemini-2.5-pro'
  const ANSWER = answerOf('gemini-generate-content')
  const TOKEN = 'ya29.token-0123456789'
  let endpoint: RawUpstream
  let account: ServiceAccount
  beforeAll(async () => {
    endpoint = await startRawUpstream()
    account = createServiceAccount(`${endpoint.url}/token`)
  })
  afterEach(() => endpoint.reset())
  afterAll(() => endpoint.stop())
  const grant = () => endpoint.answer(jsonAnswer(200, { access_token: TOKEN, expires_in: 3600 }))

  test('is exchanged for a token, which alone is sent, and is requested once', async () => {
    grant()
    const gateway = open({ target, credential: account.json, upstream: [ANSWER, ANSWER] })
    for (const status of [200, 200])
      expect((await gateway.begin({ path: CHAT, body: chatBody() }).seen).status).toBe(status)
    const { sent } = gateway.upstream
    expect(sent.map(({ headers }) => headers.authorization)).toEqual([
      `Bearer ${TOKEN}`,
      `Bearer ${TOKEN}`,
    ])
    for (const secret of account.secrets) expect(JSON.stringify(sent)).not.toContain(secret)
    expect(endpoint.requests).toHaveLength(1)
    expect(account.readClaims(endpoint.last().text)).toMatchObject({
      scope: 'https://www.googleapis.com/auth/cloud-platform',
    })
  })

  test('is masked, like its token, whoever repeats them', async () => {
    grant()
    const { seen } = await ask({
      target,
      credential: account.json,
      upstream: [refusal(`bad ${TOKEN}`)],
    })
    expect(seen.status).toBe(400)
    expect(JSON.parse(seen.text).error.message).toBe('bad [secret]')
  })

  test('in another form is a token already, sent unchanged and masked', async () => {
    const { seen, sent } = await ask({
      target,
      credential: TOKEN,
      upstream: [refusal(`bad ${TOKEN}`)],
    })
    expect(sent[0]?.headers).toMatchObject({ authorization: `Bearer ${TOKEN}` })
    expect(JSON.parse(seen.text).error.message).toBe('bad [secret]')
    expect(endpoint.requests).toEqual([])
  })

  const failures = [
    [
      'is refused',
      400,
      { error: 'invalid_grant' },
      'provider_auth_failed',
      'was refused by its token endpoint',
    ],
    ['has no endpoint at work', 503, {}, 'token_endpoint_failed', 'failed (HTTP 503)'],
    ['gets no token', 200, {}, 'token_endpoint_failed', 'answered without a token'],
  ] as const
  test.each(failures)(
    'that %s fails the call with the reason, before any attempt',
    async (_, status, answer, code, why) => {
      endpoint.answer(jsonAnswer(status, answer))
      const { seen, sent, gateway } = await ask({ target, credential: account.json })
      expect(seen.status).toBe(502)
      const { error } = JSON.parse(seen.text)
      expect(error.code).toBe(code)
      expect(error.message).toContain(why)
      expect(error.message).toEndWith(` (${target})`)
      for (const secret of account.secrets) expect(seen.text).not.toContain(secret)
      expect(sent).toEqual([])
      const errorKind = code === 'token_endpoint_failed' ? 'upstream_error' : code
      expect(gateway.ledger.records).toMatchObject([
        { outcome: 'failed', status: 502, errorKind, attempts: 1 },
      ])
      expect(gateway.failures).toEqual([])
    },
  )

  test.each(failures)('that %s moves the call on to the next target', async (_, status, answer) => {
    endpoint.answer(jsonAnswer(status, answer))
    const gates = { [GATE]: [target, 'groq/llama-7b'] }
    const { seen } = await ask({ target, gates, credential: account.json, upstream: [CHAT_ANSWER] })
    expect(seen.headers).toMatchObject({
      'x-gatehouse-target': 'groq/llama-7b',
      'x-gatehouse-attempts': '2',
    })
  })

  test('of another type is refused by the gateway itself', async () => {
    const { seen } = await ask({ target, credential: '{"type":"authorized_user"}' })
    expect(seen.status).toBe(502)
    expect(JSON.parse(seen.text).error).toMatchObject({
      code: 'provider_auth_failed',
      message: expect.stringContaining('has a type other than "service_account"'),
    })
    expect(endpoint.requests).toEqual([])
  })

  test('delays a call for the gate’s time at most', async () => {
    endpoint.answer(() => {})
    const gates = { [GATE]: { targets: [{ model: target }], timeoutMs: 50 } }
    const { seen, sent, gateway } = await ask({ target, gates, credential: account.json })
    expect(seen.status).toBe(504)
    expect(sent).toEqual([])
    expect(gateway.ledger.records).toMatchObject([{ errorKind: 'upstream_timeout' }])
  })

  test('delays a call only while its client stays', async () => {
    endpoint.answer(() => {})
    const gateway = open({ target, credential: account.json })
    const call = gateway.begin({ path: CHAT, body: chatBody() })
    await pollUntil('the token being asked for', () => endpoint.requests.length === 1)
    call.leave()
    expect((await call.seen).ending).toBe('left')
    expect(gateway.ledger.records).toMatchObject([{ outcome: 'cancelled', errorKind: null }])
    expect(gateway.upstream.sent).toEqual([])
    await gateway.assertNothingIsLeft()
  })
})
