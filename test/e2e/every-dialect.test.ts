/**
 * Behaviour common to every dialect: routing, relay byte for byte, refusals, retries and the
 * ledger.
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
import { createGate } from '../support/control-plane.ts'
import { CHAT_STREAM_WITH_USAGE } from '../support/dialect-samples.ts'
import { DIALECT_GATES, DIALECTS, requestBody } from '../support/dialect-table.ts'
import { expectUpstreamError, readErrorCode, readFlatError } from '../support/envelopes.ts'
import { createExpectedRows } from '../support/expected-rows.ts'
import { sendRaw } from '../support/raw-client.ts'
import { openRawScene, plantedKeyOf, type RawScene } from '../support/raw-scene.ts'
import {
  bodyAnswer,
  jsonAnswer,
  resetBeforeAnswer,
  streamAnswer,
} from '../support/scripted-answers.ts'

// A test that outlasts its time has its server killed by the runner, and with it every test that
// follows.
setDefaultTimeout(180_000)

const DONE = 'data: [DONE]\n\n'
const rows = createExpectedRows()
let scene: RawScene
beforeAll(async () => {
  scene = await openRawScene({ gates: DIALECT_GATES })
})
afterAll(() => scene.close())
beforeEach(() => scene.upstream.reset())

describe.each(DIALECTS.map((row) => [row.dialect, row] as const))('%s', (dialect, row) => {
  const credential = plantedKeyOf(row.target)
  const upstreamModel = row.target.slice(row.target.indexOf('/') + 1)

  test('the gate sets the model, the address and the credential', async () => {
    scene.upstream.answer(jsonAnswer(200, row.answer))
    await scene.post(row.path, requestBody(row))
    const { path, method, headers, text } = scene.upstream.last()
    expect({ path, method }).toEqual({ path: row.upstreamPath, method: 'POST' })
    expect(headers[row.keyHeader ?? 'authorization']).toBe(
      row.keyHeader === undefined ? `Bearer ${credential}` : credential,
    )
    expect(JSON.parse(text)).toMatchObject({ model: upstreamModel })
  })

  test('a JSON answer comes back byte for byte and names call, target and attempts', async () => {
    scene.upstream.answer(jsonAnswer(200, row.answer))
    const answer = await scene.post(row.path, requestBody(row))
    expect(answer).toMatchObject({ status: 200, text: row.answer, complete: true })
    expect(answer.headers['content-type']).toStartWith('application/json')
    expect(answer.headers['x-request-id']).toMatch(/^req_[0-9a-z]+$/)
    expect(answer.headers['x-gatehouse-target']).toBe(row.target)
    expect(answer.headers['x-gatehouse-attempts']).toBe('1')
    expect(answer.headers).not.toHaveProperty('x-gatehouse-ignored')
    rows.expectRow(answer, {
      gateId: row.gate,
      dialect,
      stream: false,
      target: row.target,
      attempts: 1,
      outcome: 'succeeded',
      status: 200,
      errorKind: null,
      usage: row.usage,
    })
  })

  test('a stream comes back byte for byte', async () => {
    scene.upstream.answer(streamAnswer(row.stream))
    const answer = await scene.post(row.path, requestBody(row, { stream: true }))
    expect(answer).toMatchObject({ status: 200, complete: true })
    expect(answer.headers['content-type']).toStartWith('text/event-stream')
    expect(answer.headers['x-gatehouse-target']).toBe(row.target)
    // Some Responses clients expect the mark that OpenAI itself does not send: adding it would be
    // no change.
    const mark = row.stream.at(-1) === DONE ? '' : answer.text.endsWith(DONE) ? DONE : ''
    expect(answer.text).toBe(row.stream.join('') + mark)
  })

  test('a stream is in the ledger with its usage', async () => {
    // Chat streams count only when asked to; the other dialects' samples hold their usage anyway.
    const pieces = row.dialect === 'openai-chat' ? CHAT_STREAM_WITH_USAGE : row.stream
    scene.upstream.answer(streamAnswer(pieces))
    const answer = await scene.post(row.path, requestBody(row, { stream: true }))
    rows.expectRow(answer, {
      stream: true,
      outcome: 'succeeded',
      status: 200,
      usage: row.usage,
    })
  })

  test.each([
    ['no key', {}],
    ['an empty key', { authorization: 'Bearer ' }],
    ['a wrong key', { authorization: `Bearer sk-svc-${'0'.repeat(64)}` }],
    ['a legacy key that was not imported', { authorization: 'Bearer svc_0123456789abcdef' }],
    ['another scheme', { authorization: 'Basic abc' }],
    ['two credentials', { authorization: 'Bearer a, Bearer b' }],
  ])('%s is 401 in its own envelope', async (_, headers) => {
    const answer = await sendRaw(scene.gatehouse.url, {
      path: row.path,
      headers,
      body: requestBody(row),
    })
    expect(answer.status).toBe(401)
    expect(readErrorCode(row.envelope, answer.text)).toBe(
      { nested: 'invalid_api_key', flat: 'unauthorized', messages: 'authentication_error' }[
        row.envelope
      ],
    )
    expect(answer.headers['x-request-id']).toMatch(/^req_/)
    expect(answer.headers['www-authenticate'] ?? 'Bearer').toStartWith('Bearer')
    expect(scene.upstream.requests).toBeEmpty()
  })

  test('an unknown gate is 404', async () => {
    const answer = await scene.post(row.path, requestBody(row, { model: 'nobody' }))
    expect(answer.status).toBe(404)
    expect(readErrorCode(row.envelope, answer.text)).toBe(
      { nested: 'model_not_found', flat: 'gate_not_found', messages: 'not_found_error' }[
        row.envelope
      ],
    )
  })

  test('a gate to a provider without a credential is refused without a call', async () => {
    await createGate(scene.gatehouse, `${row.gate}-groq`, 'groq/llama-3.3-70b-versatile')
    const answer = await scene.post(row.path, requestBody(row, { model: `${row.gate}-groq` }))
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(answer.status).not.toBe(401)
    expect(answer.status).not.toBe(500)
    readErrorCode(row.envelope, answer.text)
    expect(scene.upstream.requests).toBeEmpty()
  })

  test.each([401, 403])(
    'the upstream refusing our credential (%d) is 502 provider_auth_failed',
    async (status) => {
      scene.upstream.answer(
        jsonAnswer(status, { error: { message: `Incorrect API key provided: ${credential}` } }),
      )
      const answer = await scene.post(row.path, requestBody(row))
      expect(answer.status).toBe(502)
      expect(readErrorCode(row.envelope, answer.text)).toBe(
        row.envelope === 'messages' ? 'api_error' : 'provider_auth_failed',
      )
      expect(answer.text).not.toContain(credential)
      rows.expectRow(answer, {
        outcome: 'failed',
        status: 502,
        errorKind: 'provider_auth_failed',
        usage: null,
      })
    },
  )

  const ownError =
    '{ "error": {"message":"No caf\\u00e9","type":"invalid_request_error","param":"tools[0]","code":"odd", "extra":1} }'

  test.each([
    [500, 502],
    [502, 502],
    [503, 503],
    [529, 503],
  ])('an upstream %d is %d', async (status, told) => {
    const error = { message: `boom ${credential}`, type: 'server_error', param: null, code: null }
    scene.upstream.answer(jsonAnswer(status, { error }, { 'retry-after': '7' }))
    const answer = await scene.post(row.path, requestBody(row))
    expect(answer.status).toBe(told)
    expect(answer.headers['retry-after']).toBe('7')
    expect(answer.text).not.toContain(credential)
    // Where the upstream's own words are in the caller's own form, they are passed on as they are.
    if (row.envelope === 'flat') expectUpstreamError('flat', answer.text)
    else expect(JSON.parse(answer.text)).toHaveProperty('error.message')
  })

  test.each([400, 404, 409, 429])(
    'an upstream %d keeps its status and its body',
    async (status) => {
      scene.upstream.answer(jsonAnswer(status, ownError))
      const answer = await scene.post(row.path, requestBody(row))
      expect(answer.status).toBe(status)
      if (row.envelope !== 'flat') expect(answer.text).toBe(ownError)
      else {
        const error = readFlatError(answer.text)
        expect(error.error).toBe('upstream_error')
        expect(JSON.stringify(error.details)).toContain('No caf')
      }
    },
  )

  test('an upstream 422 is a 400 where the envelope is flat', async () => {
    const body = {
      detail: [
        { loc: ['body', 'x'], msg: 'Extra inputs are not permitted', type: 'extra_forbidden' },
      ],
    }
    scene.upstream.answer(jsonAnswer(422, row.envelope === 'flat' ? body : ownError))
    const answer = await scene.post(row.path, requestBody(row))
    expect(answer.status).toBe(row.envelope === 'flat' ? 400 : 422)
    if (row.envelope === 'flat') {
      expect(JSON.stringify(readFlatError(answer.text).details)).toContain('extra_forbidden')
      expect(JSON.parse(answer.text)).not.toHaveProperty('detail')
    }
  })

  test('an upstream 4xx that names our credential is scrubbed', async () => {
    const error = { message: `bad: ${credential}`, type: 't', param: null, code: null }
    scene.upstream.answer(jsonAnswer(400, { error }))
    const answer = await scene.post(row.path, requestBody(row))
    expect(answer.status).toBe(400)
    expect(answer.text).not.toContain(credential)
  })

  test("an upstream's retry-after reaches the client", async () => {
    scene.upstream.answer(jsonAnswer(429, ownError, { 'retry-after': '7' }))
    const answer = await scene.post(row.path, requestBody(row))
    expect(answer.status).toBe(429)
    expect(answer.headers['retry-after']).toBe('7')
  })

  test('an early failure of a stream is a real HTTP status', async () => {
    for (const script of [bodyAnswer(500, 'boom'), resetBeforeAnswer]) {
      scene.upstream.answer(script)
      const answer = await scene.post(row.path, requestBody(row, { stream: true }))
      expect(answer.status).toBe(502)
      expectUpstreamError(row.envelope, answer.text)
    }
  })

  test('a failure that may pass is retried, and the attempts are counted', async () => {
    await createGate(scene.gatehouse, `${row.gate}-retry`, row.target, { maxRetries: 2 })
    scene.upstream.answerOnce(jsonAnswer(503, { error: { message: 'later' } }))
    scene.upstream.answerOnce(resetBeforeAnswer)
    scene.upstream.answer(jsonAnswer(200, row.answer))
    const answer = await scene.post(row.path, requestBody(row, { model: `${row.gate}-retry` }))
    expect(answer).toMatchObject({ status: 200, text: row.answer })
    expect(answer.headers['x-gatehouse-attempts']).toBe('3')
    expect(scene.upstream.requests).toHaveLength(3)
  })

  test('a permanent refusal is not retried', async () => {
    await createGate(scene.gatehouse, `${row.gate}-no-retry`, [row.target, row.target], {
      maxRetries: 2,
    })
    scene.upstream.answer(jsonAnswer(400, ownError))
    expect(
      (await scene.post(row.path, requestBody(row, { model: `${row.gate}-no-retry` }))).status,
    ).toBe(400)
    expect(scene.upstream.requests).toHaveLength(1)
  })

  test('the next target is tried when the first one fails', async () => {
    const provider = row.target.slice(0, row.target.indexOf('/'))
    await createGate(scene.gatehouse, `${row.gate}-two`, [row.target, `${provider}/second-model`])
    scene.upstream.answerOnce(jsonAnswer(500, { error: { message: 'boom' } }))
    scene.upstream.answer(jsonAnswer(200, row.answer))
    const answer = await scene.post(row.path, requestBody(row, { model: `${row.gate}-two` }))
    expect(answer.status).toBe(200)
    expect(answer.headers['x-gatehouse-target']).toBe(`${provider}/second-model`)
    expect(answer.headers['x-gatehouse-attempts']).toBe('2')
    expect(JSON.parse(scene.upstream.last().text)).toMatchObject({ model: 'second-model' })
  })
})

test('every one of these calls has its row in the ledger', async () => {
  await rows.check(scene.gatehouse)
})

test('no key is in any output of the process', () => {
  for (const secret of [...DIALECTS.map((row) => plantedKeyOf(row.target)), scene.gatehouse.key]) {
    expect(scene.gatehouse.output()).not.toContain(secret)
  }
})
