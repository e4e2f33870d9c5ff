/**
 * `POST /v1/gates/:id/test` against a real sandbox: targets that answer, that fail, and that cannot
 * be asked.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { controlPlaneCall, createGate, createKey, listLogRows } from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts'
import { jsonAnswer } from '../support/scripted-answers.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

let gatehouse: Gatehouse
let upstream: RawUpstream
beforeAll(async () => {
  upstream = await startRawUpstream()
  gatehouse = await startGatehouse({
    sandbox: true,
    environment: {
      ANTHROPIC_BASE_URL: upstream.url,
      ANTHROPIC_API_KEY: 'sk-ant-planted-0123456789',
      GEMINI_BASE_URL: upstream.url,
      GEMINI_API_KEY: 'planted-gemini',
    },
  })
})
afterAll(async () => {
  await gatehouse.remove()
  await upstream.stop()
})

interface Row {
  readonly target: string
  readonly status: string
  readonly latencyMs: number
}

async function testGate(
  id: string,
  server: { url: string; key: string } = gatehouse,
): Promise<Row[]> {
  const response = await controlPlaneCall(server, 'POST', `/v1/gates/${id}/test`)
  const text = await response.text()
  expect({ status: response.status, text }).toMatchObject({ status: 200 })
  expect(text).not.toContain('Sandbox echo')
  const body = JSON.parse(text)
  expect(body.gateId).toBe(id)
  return body.results
}

const rowsOf = async (gateId: string) =>
  (await listLogRows(gatehouse)).filter((row) => row.gateId === gateId)

test('every target is called once, and reported in the order of the gate', async () => {
  const targets = [
    'sandbox/503',
    'sandbox/echo',
    'groq/llama',
    'sandbox/context-length',
    'sandbox/echo-reasoning',
    'sandbox/cut-mid-stream',
  ]
  await createGate(gatehouse, 'mixed', targets, {
    maxRetries: 3,
    hedgeAfterMs: 1,
    overrides: 'reject',
  })
  const rows = await testGate('mixed')
  const usage = expect.objectContaining({ inputTokens: expect.any(Number) })
  const asked = { latencyMs: expect.any(Number), dialect: 'openai-responses' }
  expect(rows).toEqual([
    {
      ...asked,
      target: 'sandbox/503',
      status: 'failed',
      httpStatus: 503,
      error: { code: 'upstream_error', message: expect.any(String) },
    },
    {
      ...asked,
      target: 'sandbox/echo',
      status: 'ok',
      httpStatus: 200,
      firstByteMs: expect.any(Number),
      usage,
    },
    {
      target: 'groq/llama',
      status: 'failed',
      latencyMs: expect.any(Number),
      dialect: 'openai-chat',
      error: { code: 'provider_auth_failed', message: expect.stringContaining('Groq') },
    },
    {
      ...asked,
      target: 'sandbox/context-length',
      status: 'failed',
      httpStatus: 400,
      error: { code: 'upstream_error', message: expect.stringContaining('context') },
    },
    {
      ...asked,
      target: 'sandbox/echo-reasoning',
      status: 'ok',
      httpStatus: 200,
      firstByteMs: expect.any(Number),
      usage,
    },
    {
      ...asked,
      target: 'sandbox/cut-mid-stream',
      status: 'failed',
      httpStatus: 502,
      error: { code: 'upstream_error', message: expect.any(String) },
    },
  ] as never)

  const logged = await pollUntil('the rows of the test', async () => {
    const found = await rowsOf('mixed')
    return found.length === targets.length ? found : undefined
  })
  expect(logged.map((row) => row.attempts).toSorted()).toEqual([0, 1, 1, 1, 1, 1])
  expect(logged.find((row) => row.target === 'sandbox/echo')).toMatchObject({
    outcome: 'succeeded',
    dialect: 'openai-responses',
    stream: false,
  })
})

test('a gate’s settings for its callers are tested too, except for the limit', async () => {
  const defaults = {
    maxOutputTokens: 5000,
    instructions: 'Sing',
    reasoningEffort: 'low',
    temperature: 1,
  }
  await createGate(gatehouse, 'both', ['anthropic/claude-opus-5', 'gemini/gemini-3-pro'], {
    defaults,
    overrides: 'reject',
  })
  upstream.answer((exchange) =>
    jsonAnswer(
      200,
      exchange.request.path === '/v1/messages'
        ? {
            type: 'message',
            content: [{ type: 'text', text: 'OK, a secret' }],
            stop_reason: 'end_turn',
            usage: { input_tokens: 3, output_tokens: 1 },
          }
        : {
            error: { code: 404, message: 'models/gemini-3-pro is not found', status: 'NOT_FOUND' },
          },
    )(exchange),
  )
  const rows = await testGate('both')
  expect(JSON.stringify(rows)).not.toContain('secret')
  expect(rows).toMatchObject([
    { status: 'ok', dialect: 'anthropic-messages', usage: { inputTokens: 3, outputTokens: 1 } },
    { status: 'failed', dialect: 'openai-chat' },
  ])
  const asked = upstream.requests.find(({ path }) => path === '/v1/messages')
  expect(JSON.parse(asked?.text ?? '')).toMatchObject({
    system: 'Sing',
    max_tokens: 32,
    output_config: { effort: 'low' },
  })
})

test("a target that hangs is given up when the gate's own time is over", async () => {
  // Longer than the other target takes on a busy machine.
  await createGate(gatehouse, 'hanging', ['sandbox/hang', 'sandbox/echo'], { timeoutMs: 3_000 })
  expect(await testGate('hanging')).toMatchObject([
    { status: 'failed', httpStatus: 504, error: { code: 'upstream_timeout' } },
    { status: 'ok' },
  ])
})

test("a test counts for the key's limits, and waits for the places of the key", async () => {
  const limited = await startGatehouse({
    sandbox: true,
    environment: { GATEHOUSE_CONCURRENT_CALLS: '1', GATEHOUSE_REQUESTS_PER_MINUTE: '3' },
  })
  try {
    await createGate(limited, 'four', [
      'sandbox/echo',
      'sandbox/echo',
      'sandbox/echo',
      'sandbox/echo',
    ])
    const { key } = await createKey(limited, 'limited')
    expect(await testGate('four', { url: limited.url, key })).toMatchObject([
      { status: 'ok' },
      { status: 'ok' },
      { status: 'ok' },
      { status: 'failed', error: { code: 'rate_limit_exceeded' } },
    ])
  } finally {
    await limited.remove()
  }
})

test('an unknown gate is a 404, and a test needs a key', async () => {
  expect((await controlPlaneCall(gatehouse, 'POST', '/v1/gates/nope/test')).status).toBe(404)
  expect(
    (await controlPlaneCall({ ...gatehouse, key: 'no' }, 'POST', '/v1/gates/demo/test')).status,
  ).toBe(401)
})
