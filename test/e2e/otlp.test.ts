/**
 * Traces and metrics over OTLP, as a real collector gets them, and what becomes of calls when there
 * is none.
 */
import { afterEach, expect, test } from 'bun:test'
import {
  CHAT_JSON,
  CHAT_STREAM_WITH_USAGE,
  MESSAGES_JSON,
  MESSAGES_STREAM,
  RESPONSES_JSON,
  RESPONSES_STREAM,
} from '../support/dialect-samples.ts'
import { startOtlpReceiver } from '../support/otlp-receiver.ts'
import { pollUntil } from '../support/poll-until.ts'
import {
  CHAT,
  MESSAGES,
  openRawScene,
  plantedKeyOf,
  type RawScene,
  type RawSceneOptions,
} from '../support/raw-scene.ts'
import { jsonAnswer, streamAnswer } from '../support/scripted-answers.ts'

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'
const CALLER_SPAN = 'b7ad6b7169203331'
const PARENT = `00-${TRACE_ID}-${CALLER_SPAN}-01`
const PROMPT = 'canary-prompt-7c1e'
const CANARY_HEADER = 'canary-header-91aa'

const GATES = {
  one: 'openai/gpt-4o',
  two: ['openai/gpt-4o', 'openai/gpt-4o-mini'],
  claude: 'anthropic/claude-sonnet-4-5',
}

let closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing) await close()
  closing = []
})

async function open(environment: Record<string, string>, gates: RawSceneOptions['gates'] = GATES) {
  const receiver = startOtlpReceiver()
  const scene = await openRawScene({
    gates,
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=collector-secret',
      OTEL_BSP_SCHEDULE_DELAY: '50',
      OTEL_METRIC_EXPORT_INTERVAL: '100',
      ...environment,
    },
  })
  closing.push(
    () => scene.close(),
    () => receiver.stop(),
  )
  return { receiver, scene }
}

const ask = (scene: RawScene, gate: string, headers: Record<string, string> = {}, more = '') =>
  scene.post(
    CHAT,
    `{"model":"${gate}","messages":[{"role":"user","content":"${PROMPT}"}]${more}}`,
    headers,
  )

test('a call is a span under the caller’s, with one under it for each attempt, whose id goes upstream', async () => {
  const { receiver, scene } = await open({
    OTEL_SERVICE_NAME: 'edge-gateway',
    OTEL_RESOURCE_ATTRIBUTES: 'team=platform',
  })
  scene.upstream.answerOnce(jsonAnswer(500, { error: { message: 'boom' } }))
  scene.upstream.answer(jsonAnswer(200, CHAT_JSON))
  const answer = await ask(scene, 'two', {
    traceparent: PARENT,
    tracestate: 'vendor=1',
    'x-canary': CANARY_HEADER,
  })
  expect(answer.status).toBe(200)
  const spans = await receiver.waitForSpans(3)
  expect(spans).toHaveLength(3)
  const root = spans.find((span) => span.parentSpanId === CALLER_SPAN)
  expect(root).toMatchObject({ traceId: TRACE_ID, name: 'chat two', kind: 2, status: { code: 0 } })
  expect(root?.attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'gpt-4o-mini',
    // As the upstream named it.
    'gen_ai.response.model': 'gpt-4o-2024-08-06',
    'gen_ai.response.id': 'chatcmpl-1',
    'gen_ai.response.finish_reasons': ['stop'],
    'gatehouse.cost.usd': expect.any(Number),
    'gatehouse.cost.status': 'exact',
    'gen_ai.usage.input_tokens': 11,
    'gen_ai.usage.output_tokens': 7,
    'gatehouse.gate': 'two',
    'gatehouse.attempts': 2,
    'gatehouse.outcome': 'succeeded',
    'gatehouse.request_id': answer.headers['x-request-id'],
    'http.response.status_code': 200,
  })
  const attempts = spans.filter((span) => span.parentSpanId === root?.spanId)
  expect(attempts.map(({ name, kind, status }) => [name, kind, status.code])).toEqual([
    ['chat gpt-4o', 3, 2],
    ['chat gpt-4o-mini', 3, 0],
  ])
  expect(attempts[0]?.attributes).toMatchObject({
    'error.type': '500',
    'http.response.status_code': 500,
  })
  for (const { startTimeUnixNano, endTimeUnixNano } of spans)
    expect(BigInt(endTimeUnixNano) - BigInt(startTimeUnixNano)).toBeGreaterThanOrEqual(0n)
  // Each upstream works under the span of its own attempt.
  expect(
    scene.upstream.requests.map(({ headers }) => [headers.traceparent, headers.tracestate]),
  ).toEqual(attempts.map(({ spanId }) => [`00-${TRACE_ID}-${spanId}-01`, 'vendor=1']))
  expect(receiver.resource()).toMatchObject({ 'service.name': 'edge-gateway', team: 'platform' })
  expect(receiver.headers()[0]?.get('x-collector-key')).toBe('collector-secret')
})

test('metrics follow the conventions, without a call’s content, keys or headers', async () => {
  const { receiver, scene } = await open({})
  scene.upstream.answer(streamAnswer(CHAT_STREAM_WITH_USAGE))
  await ask(scene, 'one', { 'x-canary': CANARY_HEADER }, ',"stream":true')
  scene.upstream.answer(jsonAnswer(200, MESSAGES_JSON))
  expect((await ask(scene, 'claude')).status).toBe(200)
  expect((await ask(scene, `nowhere-${PROMPT}`)).status).toBe(404)
  expect((await ask(scene, 'one', { authorization: 'Bearer nonsense' })).status).toBe(401)
  const spans = await receiver.waitForSpans(6)
  await pollUntil(
    'metrics of both',
    () => receiver.points().filter(({ name }) => name.endsWith('duration')).length === 2,
  )
  const seen = receiver
    .points()
    .filter(({ attributes }) => attributes['gen_ai.request.model'] === 'gpt-4o')
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'gpt-4o',
    'gen_ai.response.model': 'gpt-4o',
  }
  expect(seen).toContainEqual({
    name: 'gen_ai.client.token.usage',
    attributes: { ...attributes, 'gen_ai.token.type': 'input' },
    count: 1,
    sum: 11,
  })
  expect(seen).toContainEqual({
    name: 'gen_ai.client.token.usage',
    attributes: { ...attributes, 'gen_ai.token.type': 'output' },
    count: 1,
    sum: 7,
  })
  for (const measured of ['duration', 'time_to_first_chunk', 'time_per_output_chunk'])
    expect(seen).toContainEqual({
      name: `gen_ai.client.operation.${measured}`,
      attributes,
      count: 1,
      sum: expect.any(Number),
    })
  expect(
    spans
      .map(({ attributes: own }) => own['error.type'])
      .filter(Boolean)
      .toSorted(),
  ).toEqual(['gate_not_found', 'unauthorized'])
  const sent = receiver.text()
  for (const canary of [
    PROMPT,
    CANARY_HEADER,
    'café',
    'nonsense',
    scene.gatehouse.key,
    plantedKeyOf('openai/x'),
    'collector-secret',
  ])
    expect(sent).not.toContain(canary)
})

const CLAUDE_TOLD = {
  'gen_ai.response.id': 'msg_1',
  'gen_ai.response.model': 'claude-opus-5-1',
}
const ENDED = 'gen_ai.response.finish_reasons'

test.each([
  ['a whole Messages answer', 'claude', MESSAGES, false, MESSAGES_JSON, ['end_turn']],
  ['a stream of Messages', 'claude', MESSAGES, true, MESSAGES_STREAM, ['end_turn']],
  ['a translated answer', 'claude', CHAT, false, MESSAGES_JSON, ['end_turn']],
  ['a translated stream', 'claude', CHAT, true, MESSAGES_STREAM, ['stop']],
])('the span of %s has its id, model and end as the upstream told them', async (...row) => {
  const [, gate, path, stream, answer, reasons] = row
  const { receiver, scene } = await open({})
  scene.upstream.answer(typeof answer === 'string' ? jsonAnswer(200, answer) : streamAnswer(answer))
  const body = { model: gate, stream, max_tokens: 9, messages: [{ role: 'user', content: PROMPT }] }
  expect((await scene.post(path, JSON.stringify(body))).status).toBe(200)
  for (const { attributes } of await receiver.waitForSpans(2))
    expect(attributes).toMatchObject({ ...CLAUDE_TOLD, [ENDED]: reasons })
})

test.each([
  ['a whole response', false, RESPONSES_JSON],
  ['a stream of a response', true, RESPONSES_STREAM],
])('the span of %s has its id and status', async (_, stream, answer) => {
  const { receiver, scene } = await open({})
  scene.upstream.answer(typeof answer === 'string' ? jsonAnswer(200, answer) : streamAnswer(answer))
  const body = JSON.stringify({ model: 'one', stream, store: false, input: PROMPT })
  expect((await scene.post('/v1/responses', body)).status).toBe(200)
  for (const { attributes } of await receiver.waitForSpans(2))
    expect(attributes).toMatchObject({
      'gen_ai.response.id': 'resp_1',
      [ENDED]: ['completed'],
    })
})

test('a caller’s invalid context is replaced; its sampling decision is kept', async () => {
  const { receiver, scene } = await open({})
  scene.upstream.answer(jsonAnswer(200, CHAT_JSON))
  await ask(scene, 'one', {
    traceparent: `00-${'0'.repeat(32)}-${CALLER_SPAN}-01`,
    tracestate: 'vendor=1',
  })
  const first = scene.upstream.last().headers
  expect(first.traceparent).toMatch(/^00-(?!0{32})[0-9a-f]{32}-[0-9a-f]{16}-01$/)
  expect(first.tracestate).toBeUndefined()
  await ask(scene, 'one', { traceparent: PARENT.replace(/01$/, '00') })
  expect(scene.upstream.last().headers.traceparent).toMatch(
    new RegExp(`^00-${TRACE_ID}-(?!${CALLER_SPAN})[0-9a-f]{16}-00$`),
  )
  await ask(scene, 'one')
  const spans = await receiver.waitForSpans(4)
  expect(spans.filter(({ traceId }) => traceId === TRACE_ID)).toEqual([])
})

test('a sampler that drops every span still passes a context on', async () => {
  const { receiver, scene } = await open({
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0',
  })
  scene.upstream.answer(jsonAnswer(200, CHAT_JSON))
  await ask(scene, 'one', { traceparent: PARENT })
  expect(scene.upstream.last().headers.traceparent).toMatch(
    new RegExp(`^00-${TRACE_ID}-[0-9a-f]{16}-00$`),
  )
  await pollUntil('metrics', () => receiver.points().length > 0)
  expect(receiver.spans()).toEqual([])
})

test('the caller’s context reaches every upstream unchanged without tracing, of any dialect', async () => {
  const scene = await openRawScene({ gates: GATES })
  closing.push(() => scene.close())
  const context = { traceparent: PARENT, tracestate: 'vendor=1' }
  scene.upstream.answer(jsonAnswer(200, CHAT_JSON))
  await ask(scene, 'one', context)
  expect(scene.upstream.last().headers).toMatchObject(context)
  scene.upstream.answer(jsonAnswer(200, MESSAGES_JSON))
  expect((await ask(scene, 'claude', context)).status).toBe(200)
  expect(scene.upstream.last().headers).toMatchObject(context)
  await ask(scene, 'claude')
  expect(scene.upstream.last().headers.traceparent).toBeUndefined()
})

test('remaining spans and metrics are sent at the end', async () => {
  const { receiver, scene } = await open({
    OTEL_BSP_SCHEDULE_DELAY: '600000',
    OTEL_METRIC_EXPORT_INTERVAL: '600000',
  })
  scene.upstream.answer(jsonAnswer(200, CHAT_JSON))
  await ask(scene, 'one')
  expect(await scene.gatehouse.stop()).toBe(0)
  expect(receiver.spans()).toHaveLength(2)
  expect(receiver.points().length).toBeGreaterThan(0)
})

test.each([
  ['that refuses connections', 'http://127.0.0.1:1'],
  ['that never answers', 'silent'],
])('a collector %s fails no call, fills no log and delays no end', async (_, address) => {
  const silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  closing.push(async () => silent.stop(true))
  const endpoint = address === 'silent' ? `http://127.0.0.1:${silent.port}` : address
  const { scene } = await open({
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_TIMEOUT: '200',
    OTEL_BSP_MAX_QUEUE_SIZE: '16',
    OTEL_BSP_SCHEDULE_DELAY: '20',
  })
  scene.upstream.answer(jsonAnswer(200, CHAT_JSON))
  // Many more spans than the queue holds.
  for (let round = 0; round < 10; round += 1) {
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask(scene, 'one')))
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200))
  }
  const failures = () =>
    scene.gatehouse.output().split('telemetry could not be exported').length - 1
  await pollUntil('the log to say so', () => failures() > 0)
  expect(await scene.gatehouse.stop()).toBe(0)
  expect(failures()).toBe(1)
  expect(scene.gatehouse.output()).not.toContain('collector-secret')
})
