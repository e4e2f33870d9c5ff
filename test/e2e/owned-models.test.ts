/**
 * Owned models on the real server: registered, called through gates in every dialect, guarded,
 * encrypted, deleted.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { createServer } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import {
  controlPlaneCall,
  createGate,
  listLogRows,
  waitForLogRow,
} from '../support/control-plane.ts'
import {
  CHAT_JSON,
  CHAT_STREAM,
  CHAT_STREAM_WITH_USAGE,
  FIM_JSON,
  MESSAGES_JSON,
  MESSAGES_STREAM,
  RESPONSES_JSON,
} from '../support/dialect-samples.ts'
import { pollUntil } from '../support/poll-until.ts'
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts'
import { runCli } from '../support/run-cli.ts'
import { jsonAnswer, silence, streamAnswer } from '../support/scripted-answers.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder } from '../support/temporary-folder.ts'
import {
  LOCALHOST_CERTIFICATE,
  OTHER_CERTIFICATE,
  type TestCertificate,
} from '../support/tls-certificates.ts'

type Json = Readonly<Record<string, unknown>>
interface Answer {
  readonly status: number
  readonly text: string
  readonly json: Json
  readonly headers: Headers
}

const TRUSTED = {
  GATEHOUSE_TRUSTED_HOSTS: '127.0.0.1,localhost',
  GATEHOUSE_PROBE_TIMEOUT_MS: '2000',
}
const CANARY = 'canary-of-an-owned-model-5577'

let gatehouse: Gatehouse
let upstream: RawUpstream
beforeAll(async () => {
  upstream = await startRawUpstream()
  gatehouse = await startGatehouse({ environment: TRUSTED })
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await gatehouse.remove()
  await upstream.stop()
})

async function call(
  method: string,
  path: string,
  body?: unknown,
  server = gatehouse,
): Promise<Answer> {
  const response = await controlPlaneCall(server, method, path, body)
  const text = await response.text()
  const json = text.startsWith('{') ? (JSON.parse(text) as Json) : {}
  return { status: response.status, text, json, headers: response.headers }
}

const registration = (slug: string, extra: Json = {}): Json => ({
  slug,
  dialect: 'openai-chat',
  baseUrl: `${upstream.url}/v1`,
  upstreamModelId: 'served/model:7b',
  credential: CANARY,
  pricingInput: 25,
  pricingOutput: 100,
  ...extra,
})

/** An upstream's answers to a probe, by dialect. */
const PROBE_ANSWERS: Readonly<Record<string, string>> = {
  'openai-chat': CHAT_JSON,
  'openai-responses': RESPONSES_JSON,
  'mistral-fim': FIM_JSON,
  'anthropic-messages': MESSAGES_JSON,
}

/** Registers it with an upstream that answers the probe well, and has nothing else. */
async function register(slug: string, extra: Json = {}, server = gatehouse): Promise<Answer> {
  upstream.answerOnce(jsonAnswer(200, PROBE_ANSWERS[String(extra.dialect ?? 'openai-chat')] ?? ''))
  upstream.answer(jsonAnswer(404, { detail: 'Not Found' }))
  const answer = await call('POST', '/v1/owned-models', registration(slug, extra), server)
  expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 201 })
  upstream.reset()
  return answer
}

const chat = (gate: string, extra: Json = {}, server = gatehouse) =>
  call(
    'POST',
    '/v1/chat/completions',
    { model: gate, messages: [{ role: 'user', content: 'Hi' }], ...extra },
    server,
  )

/** Further paths that its server is asked for. */
const FURTHER: Readonly<Record<string, readonly string[]>> = {
  'openai-chat': ['/v1/embeddings'],
  'anthropic-messages': ['/v1/messages/count_tokens'],
}

describe('registering', () => {
  test('shows all members except the credential, with the probe’s result and defaults', async () => {
    const { json, text } = await register('least')
    expect(json).toEqual({
      slug: 'least',
      displayName: 'least',
      dialect: 'openai-chat',
      baseUrl: `${upstream.url}/v1`,
      upstreamModelId: 'served/model:7b',
      credentialHeader: 'auto',
      fimEndpoint: 'auto',
      fimTemplate: 'auto',
      pricingInput: 25,
      pricingOutput: 100,
      pricingCachedInput: 25,
      credentialSetAt: expect.stringMatching(/^\d{4}-.*Z$/),
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      probe: {
        status: 'reachable',
        httpStatus: 200,
        checkedAt: expect.any(String),
        latencyMs: expect.any(Number),
        found: { embeddings: false },
      },
      warnings: [],
    })
    expect(text).not.toContain(CANARY)
    const { warnings: _, ...shown } = json
    expect((await call('GET', '/v1/owned-models/least')).json).toEqual(shown)
    expect((await call('GET', '/v1/owned-models')).json).toMatchObject({
      data: [shown],
      nextCursor: null,
    })
    expect((await call('POST', '/v1/owned-models', registration('least'))).status).toBe(409)
  })

  test.each([
    ['a slug with capitals', { slug: 'Big' }, 'slug: must be 1 to 63 small letters'],
    ['a slug of 64 characters', { slug: 'a'.repeat(64) }, 'slug: '],
    ['a slug that begins with a hyphen', { slug: '-a' }, 'slug: '],
    ['no slug', { slug: undefined }, 'slug: is required'],
    ['an invalid dialect', { dialect: 'cohere-chat' }, 'dialect: must be "openai-chat"'],
    ['no address', { baseUrl: undefined }, 'baseUrl: is required'],
    [
      'http to a host that is not trusted',
      { baseUrl: 'http://127.0.0.2:8000/v1' },
      'baseUrl: The address must begin with https://',
    ],
    [
      'an inner address',
      { baseUrl: 'https://10.0.0.1/v1' },
      'baseUrl: The host resolves to an address outside the public internet',
    ],
    ['metadata', { baseUrl: 'https://169.254.169.254/latest' }, 'baseUrl: '],
    [
      'a user name in the address',
      { baseUrl: 'https://u:p@models.vendor.com/' },
      'baseUrl: The address must not contain a user name',
    ],
    ['an empty credential', { credential: '' }, 'credential: must '],
    ['a credential of nothing', { credential: null }, 'credential: must '],
    ['a price of nothing', { pricingInput: null }, 'pricingInput: must '],
    ['a price in dollars', { pricingInput: 0.25 }, 'pricingInput: must be a whole number'],
    ['a field that is not known', { provider: 'x' }, 'provider: is not a known field'],
    ['a time of creation', { createdAt: 'x' }, 'createdAt: is set by the gateway'],
  ])('%s is a 400 that names the field', async (_what, extra, message) => {
    const { status, json, text } = await call(
      'POST',
      '/v1/owned-models',
      registration('bad', extra),
    )
    expect({ status, json }).toMatchObject({ status: 400, json: { error: 'invalid_request' } })
    expect(json.message).toStartWith(message)
    expect(text).not.toContain(CANARY)
    expect(upstream.requests).toEqual([])
    expect((await call('GET', '/v1/owned-models/bad')).status).toBe(404)
  })

  test.each([
    ['openai-chat', '/v1', '/v1/chat/completions', 'authorization', 'Bearer '],
    ['openai-responses', '/v1', '/v1/responses', 'authorization', 'Bearer '],
    ['mistral-fim', '/v1', '/v1/fim/completions', 'authorization', 'Bearer '],
    ['anthropic-messages', '', '/v1/messages', 'x-api-key', ''],
  ])('%s is probed with one small request', async (dialect, base, path, header, prefix) => {
    upstream.answerOnce(jsonAnswer(200, PROBE_ANSWERS[dialect] ?? ''))
    upstream.answer(jsonAnswer(404, { detail: 'Not Found' }))
    const baseUrl = upstream.url + base
    const { json } = await call(
      'POST',
      '/v1/owned-models',
      registration(`probe-${dialect}`, { dialect, baseUrl }),
    )
    expect(json).toMatchObject({ probe: { status: 'reachable' } })
    const further = upstream.requests.slice(1).map(({ path: asked }) => asked)
    expect(further).toEqual([...(FURTHER[dialect] ?? [])])
    const [first] = upstream.requests
    if (first === undefined) throw new Error('Nobody was asked.')
    const { method, path: asked, headers, text } = first
    expect([method, asked, headers[header]]).toEqual(['POST', path, prefix + CANARY])
    expect(JSON.parse(text)).toMatchObject({ model: 'served/model:7b' })
    expect(headers['anthropic-version']).toBe(
      dialect === 'anthropic-messages' ? '2023-06-01' : undefined,
    )
  })
})

describe('the probe reports', () => {
  const SAID = 'words of the upstream, and canary'
  test.each([
    [
      'a refused credential',
      jsonAnswer(401, { error: { message: SAID } }),
      401,
      'refused the credential',
    ],
    [
      'a forbidden one',
      jsonAnswer(403, { error: { message: SAID } }),
      403,
      'refused the credential',
    ],
    [
      'an unknown model',
      jsonAnswer(404, { error: { message: `${SAID}: model x not found` } }),
      404,
      'does not know the model',
    ],
    [
      'an unknown model by 400',
      jsonAnswer(400, { error: { message: `${SAID}: Invalid model` } }),
      400,
      'does not know the model',
    ],
    ['a wrong path', jsonAnswer(404, { detail: SAID }), 404, 'no endpoint at this address'],
    ['a server in trouble', jsonAnswer(503, { detail: SAID }), 503, 'failed to answer'],
    [
      'a redirect, which is not followed',
      jsonAnswer(302, SAID, { location: '/elsewhere' }),
      302,
      'redirect',
    ],
  ])('%s', async (what, script, httpStatus, said) => {
    upstream.answer(script)
    const slug = what.replaceAll(/[^a-z]/g, '-')
    const { status, json, text } = await call('POST', '/v1/owned-models', registration(slug))
    expect(status).toBe(201)
    expect(json).toMatchObject({
      probe: { status: 'unreachable', httpStatus, detail: expect.stringContaining(said) },
      warnings: [{ code: 'probe_failed', message: expect.stringContaining(said) }],
    })
    expect(text).not.toContain('canary')
    expect(upstream.requests).toHaveLength(1)
  })

  test.each([
    ['a used-up limit', jsonAnswer(429, { error: { message: SAID } }), 429],
    ['a model that wants more tokens', jsonAnswer(400, { error: { message: SAID } }), 400],
  ])('%s from a failure: the model is there', async (what, script, httpStatus) => {
    upstream.answer(script)
    const { json, text } = await call(
      'POST',
      '/v1/owned-models',
      registration(what.replaceAll(/[^a-z]/g, '-')),
    )
    expect(json).toMatchObject({ probe: { status: 'reachable', httpStatus }, warnings: [] })
    expect(text).not.toContain('canary')
  })

  test('a server that is not there', async () => {
    const { json } = await call(
      'POST',
      '/v1/owned-models',
      registration('nobody', { baseUrl: 'http://127.0.0.1:9' }),
    )
    expect(json).toMatchObject({
      slug: 'nobody',
      probe: { status: 'unreachable', detail: 'The connection to the upstream failed.' },
      warnings: [{ code: 'probe_failed' }],
    })
    expect(json.probe).not.toHaveProperty('httpStatus')
  })

  test('silence, within its time', async () => {
    upstream.answer(silence)
    const { json } = await call('POST', '/v1/owned-models', registration('silent'))
    expect(json.warnings).toHaveLength(1)
    expect(json).toMatchObject({
      probe: { status: 'unreachable', detail: 'The server did not answer in time.' },
    })
  })
})

describe('behind a gate', () => {
  test('a chat call is relayed to it byte for byte, and a streamed one', async () => {
    await register('chatty')
    await createGate(gatehouse, 'chatty-gate', 'owned/chatty')
    upstream.answerOnce(jsonAnswer(200, CHAT_JSON))
    const answer = await chat('chatty-gate')
    expect(answer.text).toBe(CHAT_JSON)
    expect(answer.headers.get('x-gatehouse-target')).toBe('owned/chatty')
    expect(upstream.last().headers.authorization).toBe(`Bearer ${CANARY}`)
    expect(upstream.last().text).toContain('"model":"served/model:7b"')
    upstream.answerOnce(streamAnswer(CHAT_STREAM_WITH_USAGE))
    const streamed = await chat('chatty-gate', { stream: true })
    expect(streamed.text).toContain('h\\u00e9')
    expect(streamed.text).toEndWith('data: [DONE]\n\n')
    expect(streamed.text.split('\n\n')).toHaveLength(CHAT_STREAM.length + 1)
    expect(await waitForLogRow(gatehouse, streamed.headers.get('x-request-id'))).toMatchObject({
      target: 'owned/chatty',
      outcome: 'succeeded',
      usage: { inputTokens: 11, outputTokens: 7 },
    })
  })

  test('a large body arrives whole although its address is looked up first', async () => {
    await register('large')
    await createGate(gatehouse, 'large-gate', 'owned/large')
    upstream.answer(jsonAnswer(200, CHAT_JSON))
    const texts = Array.from({ length: 8 }, (_, index) => `${index}`.repeat(200_000))
    await Promise.all(
      texts.map((content) => chat('large-gate', { messages: [{ role: 'user', content }] })),
    )
    const arrived = upstream.requests.map(
      ({ text }) => JSON.parse(text).messages[0].content as string,
    )
    expect(arrived.sort()).toEqual(texts)
  })

  test('each dialect is relayed at its own path with its own key header', async () => {
    await register('as-responses', { dialect: 'openai-responses' })
    await createGate(gatehouse, 'responses-gate', 'owned/as-responses')
    upstream.answerOnce(jsonAnswer(200, RESPONSES_JSON))
    expect(
      (await call('POST', '/v1/responses', { model: 'responses-gate', input: 'Hi' })).text,
    ).toBe(RESPONSES_JSON)
    expect([upstream.last().path, JSON.parse(upstream.last().text).store]).toEqual([
      '/v1/responses',
      false,
    ])

    await register('as-fim', { dialect: 'mistral-fim' })
    await createGate(gatehouse, 'fim-gate', 'owned/as-fim')
    upstream.answerOnce(jsonAnswer(200, FIM_JSON))
    const fim = await call('POST', '/alt/v1/fim/completions', {
      model: 'fim-gate',
      prompt: 'a',
      suffix: 'b',
    })
    expect([fim.text, upstream.last().path]).toEqual([FIM_JSON, '/v1/fim/completions'])
    expect((await chat('fim-gate')).status).toBe(400)

    await register('as-messages', { dialect: 'anthropic-messages', baseUrl: upstream.url })
    await createGate(gatehouse, 'messages-gate', 'owned/as-messages')
    upstream.answerOnce(jsonAnswer(200, MESSAGES_JSON))
    const body = {
      model: 'messages-gate',
      max_tokens: 5,
      messages: [{ role: 'user', content: 'Hi' }],
    }
    expect((await call('POST', '/v1/messages', body)).text).toBe(MESSAGES_JSON)
    const { path, headers } = upstream.last()
    expect([path, headers['x-api-key'], headers.authorization]).toEqual([
      '/v1/messages',
      CANARY,
      undefined,
    ])
  })

  test('chat callers reach one that speaks the Messages format, streamed too', async () => {
    await register('translated', { dialect: 'anthropic-messages', baseUrl: upstream.url })
    await createGate(gatehouse, 'translated-gate', 'owned/translated')
    upstream.answerOnce(jsonAnswer(200, MESSAGES_JSON))
    expect((await chat('translated-gate')).json).toMatchObject({
      object: 'chat.completion',
      choices: [{ message: { content: 'café 😀' } }],
      usage: { prompt_tokens: 11, completion_tokens: 7 },
    })
    expect(JSON.parse(upstream.last().text)).toMatchObject({
      model: 'served/model:7b',
      max_tokens: expect.any(Number),
    })
    expect(upstream.last().headers['anthropic-version']).toBe('2023-06-01')
    upstream.answerOnce(streamAnswer(MESSAGES_STREAM))
    const streamed = await chat('translated-gate', { stream: true })
    expect(streamed.text).toContain('hé 😀')
    expect(streamed.text).toEndWith('data: [DONE]\n\n')
  })

  test('it may be followed by another target when it fails', async () => {
    await register('first', { baseUrl: 'http://127.0.0.1:9/v1' })
    await register('second')
    await createGate(gatehouse, 'both', ['owned/first', 'owned/second'])
    upstream.answer(jsonAnswer(200, CHAT_JSON))
    const { status, headers } = await chat('both')
    expect([
      status,
      headers.get('x-gatehouse-target'),
      headers.get('x-gatehouse-attempts'),
    ]).toEqual([200, 'owned/second', '2'])
  })

  test('a redirect is not followed', async () => {
    await register('moved')
    await createGate(gatehouse, 'moved-gate', 'owned/moved')
    upstream.answer(jsonAnswer(307, '', { location: `${upstream.url}/v1/elsewhere` }))
    expect((await chat('moved-gate')).status).toBe(502)
    expect(upstream.requests).toHaveLength(1)
  })

  test('a gate cannot name a missing one, and a used one cannot be deleted', async () => {
    const unknown = await call('POST', '/v1/gates', {
      id: 'x',
      targets: [{ model: 'openai/x' }, { model: 'owned/none' }],
    })
    expect(unknown.status).toBe(400)
    expect(unknown.json.message).toStartWith(
      'targets[1].model: names an owned model that does not exist',
    )
    await register('used')
    await createGate(gatehouse, 'user-b', ['openai/gpt-4o', 'owned/used'])
    await createGate(gatehouse, 'user-a', 'owned/used')
    expect(
      (await call('PATCH', '/v1/gates/user-a', { targets: [{ model: 'owned/Used' }] })).status,
    ).toBe(400)
    const kept = await call('DELETE', '/v1/owned-models/used')
    expect(kept).toMatchObject({
      status: 409,
      json: { error: 'conflict', details: { gates: ['user-a', 'user-b'] } },
    })
    expect(kept.json.message).toContain('the gates user-a, user-b')
    await call('DELETE', '/v1/gates/user-a')
    await call('PATCH', '/v1/gates/user-b', { targets: [{ model: 'openai/gpt-4o' }] })
    expect((await call('DELETE', '/v1/owned-models/used')).status).toBe(204)
    expect((await call('DELETE', '/v1/owned-models/used')).status).toBe(404)
  })

  test('a gate created while its model is deleted: one of the two is refused', async () => {
    for (let round = 0; round < 10; round += 1) {
      await register(`race-${round}`)
      const [gate, deletion] = await Promise.all([
        call('POST', '/v1/gates', {
          id: `race-${round}`,
          targets: [{ model: `owned/race-${round}` }],
        }),
        call('DELETE', `/v1/owned-models/race-${round}`),
      ])
      expect([
        [201, 409],
        [400, 204],
      ]).toContainEqual([gate.status, deletion.status])
    }
  })
})

describe('over TLS, connected by its checked address', () => {
  async function serveTls(certificate: TestCertificate) {
    const seen: { readonly name: string | false | null; readonly host: string | undefined }[] = []
    const server = createTlsServer({ ...certificate }, (socket) => {
      socket.on('error', () => undefined)
      socket.on('data', (data) => {
        seen.push({
          name: socket.servername,
          host: /^host: (.*)$/im.exec(String(data))?.[1]?.trim(),
        })
        socket.end(
          `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${CHAT_JSON_BYTES}\r\n\r\n${CHAT_JSON}`,
        )
      })
    })
    server.on('tlsClientError', () => undefined)
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : undefined
    return { seen, port, stop: () => new Promise((stopped) => server.close(stopped)) }
  }
  const CHAT_JSON_BYTES = Buffer.byteLength(CHAT_JSON)

  test.each([
    ['its certificate must name the host as it was registered', LOCALHOST_CERTIFICATE, 'reachable'],
    [
      'one that names another host is refused before anything is sent',
      OTHER_CERTIFICATE,
      'unreachable',
    ],
  ])('%s', async (_what, certificate, status) => {
    const folder = await createTemporaryFolder()
    const tls = await serveTls(certificate)
    const authorities = `${folder.path}/authorities.pem`
    await Bun.write(authorities, LOCALHOST_CERTIFICATE.cert + OTHER_CERTIFICATE.cert)
    const server = await startGatehouse({
      environment: { ...TRUSTED, NODE_EXTRA_CA_CERTS: authorities },
    })
    try {
      const baseUrl = `https://localhost:${tls.port}/v1`
      const { json } = await call(
        'POST',
        '/v1/owned-models',
        registration('tls', { baseUrl }),
        server,
      )
      expect(json).toMatchObject({ probe: { status } })
      if (status === 'unreachable') return expect(tls.seen).toEqual([])
      await createGate(server, 'tls-gate', 'owned/tls')
      expect((await chat('tls-gate', {}, server)).text).toBe(CHAT_JSON)
      for (const { name, host } of tls.seen)
        expect([name, host]).toEqual(['localhost', `localhost:${tls.port}`])
      // The probe's two questions, and the call.
      expect(tls.seen).toHaveLength(3)
    } finally {
      await server.remove()
      await tls.stop()
      await folder.remove()
    }
  })
})

describe('after a restart', () => {
  test('a name that now has a private address is refused unconnected; its credential is encrypted', async () => {
    const folder = await createTemporaryFolder()
    let connections = 0
    const listener = createServer((socket) => {
      connections += 1
      // A trial that waited for what never comes would take all its time.
      socket.destroy()
    })
    await new Promise<void>((listening) => listener.listen(0, '127.0.0.1', listening))
    const address = listener.address()
    const baseUrl = `https://localhost:${typeof address === 'object' ? address?.port : 0}/v1`
    let server = await startGatehouse({ environment: TRUSTED, dataFolder: folder.path })
    const { key } = server
    try {
      await call('POST', '/v1/owned-models', registration('moved-inside', { baseUrl }), server)
      await createGate(server, 'inside', 'owned/moved-inside')
      await server.stop()
      connections = 0
      const files = await Array.fromAsync(new Bun.Glob('**/*').scan(folder.path))
      for (const file of files)
        expect(await Bun.file(`${folder.path}/${file}`).text()).not.toContain(CANARY)

      server = await startGatehouse({ dataFolder: folder.path, key })
      const refused = await chat('inside', {}, server)
      expect(refused).toMatchObject({ status: 502, json: { error: { code: 'address_refused' } } })
      expect(refused.text).toContain('GATEHOUSE_TRUSTED_HOSTS')
      const patched = await call(
        'PATCH',
        '/v1/owned-models/moved-inside',
        { credential: 'new' },
        server,
      )
      expect(patched).toMatchObject({ status: 200, json: { probe: { status: 'unreachable' } } })
      expect(connections).toBe(0)
      expect(server.output()).not.toContain(CANARY)
    } finally {
      await server.remove()
      listener.close()
      await folder.remove()
    }
  })

  test('another master key stops the start; accepted, it sends no credential until there is a new one', async () => {
    const folder = await createTemporaryFolder()
    const environment = (key: string) => ({ ...TRUSTED, GATEHOUSE_MASTER_KEY: key.repeat(32) })
    let server = await startGatehouse({ environment: environment('1a'), dataFolder: folder.path })
    const { key } = server
    try {
      await register('sealed', {}, server)
      await createGate(server, 'sealed-gate', 'owned/sealed')
      await server.stop()
      const stopped = await startGatehouse({
        environment: environment('2b'),
        dataFolder: folder.path,
        key,
      }).catch(String)
      expect(stopped).toContain('The master key is not the one')
      expect(stopped).toContain('gatehouse store accept')
      const accepted = await runCli(['store', 'accept'], {
        environment: { ...environment('2b'), GATEHOUSE_DATA_DIR: folder.path },
      })
      expect(accepted).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Accepted: ') })
      server = await startGatehouse({
        environment: environment('2b'),
        dataFolder: folder.path,
        key,
      })
      const refused = await chat('sealed-gate', {}, server)
      expect(refused).toMatchObject({
        status: 502,
        json: { error: { code: 'provider_auth_failed' } },
      })
      expect(refused.text).toContain('owned/sealed')
      expect(upstream.requests).toEqual([])
      upstream.answer(jsonAnswer(200, CHAT_JSON))
      await call('PATCH', '/v1/owned-models/sealed', { credential: 'fresh' }, server)
      expect((await chat('sealed-gate', {}, server)).text).toBe(CHAT_JSON)
      expect(upstream.last().headers.authorization).toBe('Bearer fresh')
    } finally {
      await server.remove()
      await folder.remove()
    }
  })
})

test('an invalid entry of GATEHOUSE_TRUSTED_HOSTS stops the start, and is named', async () => {
  const started = startGatehouse({
    environment: { GATEHOUSE_TRUSTED_HOSTS: 'localhost,10.0.0.1/8' },
  })
  await expect(started).rejects.toThrow("GATEHOUSE_TRUSTED_HOSTS: '10.0.0.1/8'")
})

describe('beside the settings of gates and accounts', () => {
  test('a gate test calls an owned model with its own credential, and its row has the credential’s owner', async () => {
    await register('tested', { dialect: 'anthropic-messages', baseUrl: upstream.url })
    await register('infill', { dialect: 'mistral-fim' })
    await createGate(gatehouse, 'tested', ['owned/tested', 'owned/infill'], {
      defaults: { maxOutputTokens: 5000, instructions: 'Sing' },
      overrides: 'reject',
    })
    upstream.answer((exchange) =>
      jsonAnswer(
        200,
        exchange.request.path === '/v1/messages' ? MESSAGES_JSON : FIM_JSON,
      )(exchange),
    )
    const { status, json } = await call('POST', '/v1/gates/tested/test')
    expect(status).toBe(200)
    expect(json.results).toMatchObject([
      { target: 'owned/tested', status: 'ok', dialect: 'anthropic-messages' },
      { target: 'owned/infill', status: 'ok', dialect: 'mistral-fim' },
    ])
    const asked = upstream.requests.find(({ path }) => path === '/v1/messages')
    expect(asked?.headers['x-api-key']).toBe(CANARY)
    expect(JSON.parse(asked?.text ?? '')).toMatchObject({
      model: 'served/model:7b',
      system: 'Sing',
    })
    const row = await pollUntil('the row of the test', async () =>
      (await listLogRows(gatehouse)).find((logged) => logged.target === 'owned/tested'),
    )
    expect(row).toMatchObject({ credential: 'own' })
  })

  test('a gate test reports a refused credential and a forbidden address', async () => {
    await register('shut')
    await createGate(gatehouse, 'shut', 'owned/shut')
    upstream.answer(jsonAnswer(401, { error: { message: 'words' } }))
    const { json } = await call('POST', '/v1/gates/shut/test')
    expect(json.results).toMatchObject([
      {
        status: 'failed',
        httpStatus: 502,
        error: {
          code: 'provider_auth_failed',
          message: expect.stringContaining('/v1/owned-models'),
        },
      },
    ])
  })

  test('a changed model is called in its new form by an unchanged gate', async () => {
    await register('changing')
    await createGate(gatehouse, 'changing', 'owned/changing')
    upstream.answer(jsonAnswer(200, CHAT_JSON))
    await chat('changing')
    expect(JSON.parse(upstream.last().text)).toMatchObject({ model: 'served/model:7b' })
    await call('PATCH', '/v1/owned-models/changing', { upstreamModelId: 'other' })
    await chat('changing')
    expect(JSON.parse(upstream.last().text)).toMatchObject({ model: 'other' })
    await call('PATCH', '/v1/owned-models/changing', { credential: 'canary-2' })
    await chat('changing')
    expect(upstream.last().headers.authorization).toBe('Bearer canary-2')
  })

  test('a caller may choose an owned model of the account if the gate lets it, and no other', async () => {
    await register('chosen')
    await register('usual')
    await createGate(gatehouse, 'choosing', 'owned/usual', {
      overrides: 'allow',
      defaults: { temperature: 0.5, reasoningEffort: 'low' },
    })
    upstream.answer(jsonAnswer(200, CHAT_JSON))
    const chosen = await chat('owned/chosen', { gate_id: 'choosing' })
    expect(chosen).toMatchObject({ status: 200 })
    expect(chosen.headers.get('x-gatehouse-target')).toBe('owned/chosen')
    // Nothing is known of a model with such a name, so what its owner's gate says is sent.
    expect(JSON.parse(upstream.last().text)).toMatchObject({
      temperature: 0.5,
      reasoning_effort: 'low',
    })
    expect(await chat('owned/nobodys', { gate_id: 'choosing' })).toMatchObject({
      status: 400,
      json: { error: { param: 'model' } },
    })
  })
})
