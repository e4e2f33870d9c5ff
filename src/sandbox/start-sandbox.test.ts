import { afterAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { startSandbox } from './start-sandbox.ts'

const sandbox = startSandbox()
const open = startSandbox({ requireKey: false, chunkDelayMs: 1 })
afterAll(() => Promise.all([sandbox.stop(), open.stop()]))

const send = (path: string, init: RequestInit = {}, key = 'any') =>
  fetch(sandbox.url + path, {
    ...init,
    headers: { authorization: `Bearer ${key}`, ...init.headers },
  })
const post = (path: string, body: unknown, key?: string) =>
  send(path, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) }, key)

async function errorOf(answer: Response) {
  const { error } = (await answer.json()) as {
    error: { message: string; type: string; code: string | null }
  }
  return error
}

const chat = { model: 'echo', messages: [{ role: 'user', content: 'Hi' }] }

test('lists its models, with and without /v1', async () => {
  for (const path of ['/v1/models', '/models', '/mistral/v1/models']) {
    const list = (await (await send(path)).json()) as { data: { id: string }[] }
    expect(list.data.map((model) => model.id)).toContain('echo-reasoning')
  }
})

test('every generating path answers with and without /v1', async () => {
  const fim = { model: 'codestral', prompt: 'a', suffix: 'b' }
  const bodies = {
    responses: { model: 'echo', input: 'Hi' },
    'chat/completions': chat,
    'fim/completions': fim,
  }
  for (const [path, body] of Object.entries(bodies)) {
    for (const prefix of ['/v1/', '/']) expect((await post(prefix + path, body)).status).toBe(200)
  }
  for (const [path, body] of Object.entries({ 'chat/completions': chat, 'fim/completions': fim })) {
    for (const prefix of ['/mistral/v1/', '/mistral/'])
      expect((await post(prefix + path, body)).status).toBe(200)
  }
})

test('unknown paths and wrong methods are refused in the shape of the dialect', async () => {
  const lost = await post('/v1/completions', chat)
  expect(lost.status).toBe(404)
  expect(await errorOf(lost)).toMatchObject({ code: 'unknown_url', param: null })
  const wrong = await send('/v1/fim/completions')
  expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST'])
  expect(await wrong.json()).toMatchObject({ object: 'error', code: 'method_not_supported' })
  expect((await post('/mistral/v1/nowhere', chat)).status).toBe(404)
  expect((await post('/v1/__proto__', chat)).status).toBe(404)
})

test('a missing key and the bad key are 401, the bad one named in masked form', async () => {
  const missing = await fetch(`${sandbox.url}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify(chat),
  })
  expect([missing.status, await errorOf(missing)]).toMatchObject([
    401,
    { type: 'invalid_request_error', code: null },
  ])
  const bad = await post('/v1/responses', { model: 'echo', input: 'Hi' }, 'sandbox-bad-key')
  const error = await errorOf(bad)
  expect([bad.status, error.code]).toEqual([401, 'invalid_api_key'])
  expect(error.message).toContain('sandbox-***-key')
  const mistral = await post(
    '/v1/fim/completions',
    { model: 'codestral', prompt: '' },
    'sandbox-bad-key',
  )
  expect([mistral.status, await mistral.json()]).toMatchObject([401, { object: 'error' }])
})

test('a sandbox that requires no key accepts a request without one', async () => {
  const answer = await fetch(`${open.url}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ ...chat, stream: true }),
  })
  expect(await answer.text()).toEndWith('data: [DONE]\n\n')
})

test('every answer has the hash and the length of its request’s body, refusals too', async () => {
  for (const body of [
    ' {"model":"echo","messages":[{"role":"user","content":"é 1e999"}]}',
    '{"model":"echo","odd":1}',
    '{',
  ]) {
    const answer = await post('/v1/chat/completions', body)
    expect(answer.headers.get('x-sandbox-body-sha256')).toBe(
      createHash('sha256').update(body).digest('hex'),
    )
    expect(answer.headers.get('x-sandbox-body-bytes')).toBe(String(Buffer.byteLength(body)))
  }
})

test('equal requests get equal answers, and no answer hides that it is a sandbox', async () => {
  for (const path of ['/v1/chat/completions', '/mistral/v1/chat/completions']) {
    const [first, second] = await Promise.all(
      [post(path, chat), post(path, chat)].map(async (sent) => (await sent).text()),
    )
    expect(first).toBe(second ?? '')
    expect(first).toContain('"model":"sandbox-echo"')
    expect(first).toContain('Sandbox echo: Hi')
  }
})

test('a body that is not a request is refused', async () => {
  for (const body of ['', '{', '[]', 'null', '"x"', '{"model":"echo"}}', '\ufeff\ufeff{}']) {
    expect((await post('/v1/responses', body)).status).toBe(400)
  }
  for (const path of ['/v1/responses', '/v1/chat/completions', '/v1/fim/completions']) {
    const unnamed = await post(path, {})
    expect([unnamed.status, JSON.stringify(await unnamed.json())]).toEqual([
      400,
      expect.stringContaining('missing_required_parameter'),
    ])
    const unknown = await post(path, { model: 'gpt-0', input: 'x' })
    expect([unknown.status, JSON.stringify(await unknown.json())]).toEqual([
      404,
      expect.stringContaining('model_not_found'),
    ])
  }
})

test('an unknown path below a vendor’s prefix is refused in that vendor’s shape', async () => {
  for (const [path, body] of [
    ['/anthropic/v1/nowhere', { type: 'error', error: { type: 'not_found_error' } }],
    ['/gemini/v1beta/models/echo:nothing', { error: { code: 404, status: 'NOT_FOUND' } }],
    ['/bedrock/model/echo/nothing', { message: expect.any(String) }],
    ['/cohere/v2/nowhere', { message: expect.any(String) }],
    ['/bedrock/model//converse', { message: expect.any(String) }],
  ] as const) {
    const lost = await post(path, {})
    expect([lost.status, await lost.json()]).toMatchObject([404, body])
  }
})

test('a name in a path may be written in escapes', async () => {
  const path = `/gemini/v1beta/models/${encodeURIComponent('sandbox/echo+429-2')}:generateContent`
  const limited = await post(path, { contents: [] })
  expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '2'])
  expect((await post('/gemini/v1beta/models/%zz:generateContent', {})).status).toBe(404)
})
