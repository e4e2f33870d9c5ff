/** What Prometheus is told: that it counts what happened and nothing else, and who may read it. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { CHAT_JSON, CHAT_STREAM_WITH_USAGE } from '../support/dialect-samples.ts'
import { examine, found } from '../support/examine.ts'
import { pollUntil } from '../support/poll-until.ts'
import { CHAT, openRawScene, RESPONSES } from '../support/raw-scene.ts'
import { scrape, seriesOf } from '../support/scrape.ts'
import { bodyAnswer, jsonAnswer, streamAnswer } from '../support/scripted-answers.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

const TOKEN = 'metrics-token-0123456789'

describe('after a mix of calls', () => {
  let scene: Awaited<ReturnType<typeof openRawScene>>
  beforeAll(async () => {
    scene = await openRawScene({
      gates: { one: 'openai/gpt-4o', two: ['openai/gpt-4o', 'openai/gpt-4o-mini'] },
      environment: { GATEHOUSE_METRICS_TOKEN: TOKEN, GATEHOUSE_REQUESTS_PER_MINUTE: '8' },
    })
  })
  afterAll(() => scene.close())

  test('every count is exact', async () => {
    const { upstream } = scene
    const call = (gate: string, more = '') =>
      scene.post(CHAT, `{"model":"${gate}","messages":[]${more}}`)
    upstream.answer(jsonAnswer(200, CHAT_JSON))
    for (let index = 0; index < 3; index += 1) expect((await call('one')).status).toBe(200)
    upstream.answerOnce(streamAnswer(CHAT_STREAM_WITH_USAGE))
    expect((await call('one', ',"stream":true')).complete).toBe(true)
    upstream.answerOnce(jsonAnswer(500, { error: { message: 'boom' } }))
    expect((await call('two')).headers).toMatchObject({ 'x-gatehouse-attempts': '2' })
    upstream.answerOnce(
      bodyAnswer(400, '{"error":{"message":"no"}}', { 'content-type': 'application/json' }),
    )
    expect((await call('one')).status).toBe(400)
    upstream.answerOnce(streamAnswer(CHAT_STREAM_WITH_USAGE.slice(0, 2), { ending: 'close' }))
    expect((await call('one', ',"stream":true')).complete).toBe(false)
    // The key's limit still has room: a limit is reported before a fault of the body.
    expect((await scene.post(CHAT, '{"model":', {})).status).toBe(400)
    expect((await call('nowhere')).status).toBe(404)
    // Turned away before they were admitted.
    expect((await call('one')).status).toBe(429)
    expect((await scene.post(RESPONSES, '{}', { authorization: 'Bearer nonsense' })).status).toBe(
      401,
    )

    const series = await scrape(`${scene.gatehouse.url}/metrics`, TOKEN)
    const chat = 'dialect="openai-chat"'
    expect(seriesOf(series, 'gatehouse_calls_total')).toEqual({
      [`{target="openai/gpt-4o",${chat},outcome="succeeded",error_kind="none",status_class="2xx"}`]: 4,
      [`{target="openai/gpt-4o-mini",${chat},outcome="succeeded",error_kind="none",status_class="2xx"}`]: 1,
      [`{target="openai/gpt-4o",${chat},outcome="failed",error_kind="upstream_error",status_class="4xx"}`]: 1,
      [`{target="openai/gpt-4o",${chat},outcome="failed",error_kind="upstream_error",status_class="2xx"}`]: 1,
      [`{target="none",${chat},outcome="failed",error_kind="gate_not_found",status_class="4xx"}`]: 1,
      [`{target="none",${chat},outcome="refused",error_kind="rate_limited",status_class="4xx"}`]: 1,
      [`{target="none",${chat},outcome="refused",error_kind="invalid_request",status_class="4xx"}`]: 1,
      '{target="none",dialect="openai-responses",outcome="refused",error_kind="unauthorized",status_class="4xx"}': 1,
    })
    expect(seriesOf(series, 'gatehouse_gate_calls_total')).toEqual({
      '{gate="one",outcome="succeeded"}': 4,
      '{gate="one",outcome="failed"}': 2,
      '{gate="two",outcome="succeeded"}': 1,
      '{gate="(unknown)",outcome="failed"}': 1,
    })
    expect(seriesOf(series, 'gatehouse_attempts_total')).toEqual({
      '{target="openai/gpt-4o",status_class="2xx"}': 5,
      '{target="openai/gpt-4o",status_class="4xx"}': 1,
      '{target="openai/gpt-4o",status_class="5xx"}': 1,
      '{target="openai/gpt-4o-mini",status_class="2xx"}': 1,
    })
    expect(seriesOf(series, 'gatehouse_fallbacks_total')).toEqual({ '{gate="two"}': 1 })
    expect(seriesOf(series, 'gatehouse_tokens_total')).toEqual({
      '{target="openai/gpt-4o",type="input"}': 44,
      '{target="openai/gpt-4o",type="output"}': 28,
      '{target="openai/gpt-4o",type="cached_input"}': 12,
      '{target="openai/gpt-4o",type="reasoning"}': 8,
      '{target="openai/gpt-4o-mini",type="input"}': 11,
      '{target="openai/gpt-4o-mini",type="output"}': 7,
      '{target="openai/gpt-4o-mini",type="cached_input"}': 3,
      '{target="openai/gpt-4o-mini",type="reasoning"}': 2,
    })
    expect(seriesOf(series, 'gatehouse_limits_refused_total')).toEqual({
      '{kind="rate_limited"}': 1,
      '{kind="quota_exceeded"}': 0,
    })
    expect(seriesOf(series, 'gatehouse_call_duration_seconds_count')).toMatchObject({
      '{target="openai/gpt-4o",outcome="succeeded"}': 4,
      '{target="openai/gpt-4o",outcome="failed"}': 2,
    })
    expect(seriesOf(series, 'gatehouse_first_byte_seconds_bucket')).toMatchObject({
      '{le="+Inf",target="openai/gpt-4o"}': 5,
      '{le="600",target="openai/gpt-4o"}': 5,
    })
    // One call after the other: one connection serves them all.
    expect(seriesOf(series, 'gatehouse_upstream_connections_total')).toEqual({
      '{provider="openai",event="opened"}': 1,
      '{provider="openai",event="reused"}': 7,
      '{provider="openai",event="failed"}': 0,
    })
    expect(series.get('gatehouse_calls_in_flight')).toBe(0)
    expect(series.get('gatehouse_journal_writable')).toBe(1)
    expect(series.get('gatehouse_resident_memory_bytes')).toBeGreaterThan(1_000_000)
    const handles = seriesOf(series, 'gatehouse_handles')
    expect(handles['{state="open"}']).toBeGreaterThan(5)
    expect(handles['{state="most"}']).toBeGreaterThan(handles['{state="open"}'] ?? Number.NaN)
    const heap = seriesOf(series, 'gatehouse_heap_bytes')
    expect(heap['{state="used"}']).toBeGreaterThan(1_000_000)
    expect(heap['{state="total"}']).toBeGreaterThanOrEqual(heap['{state="used"}'] ?? Number.NaN)
    // Nothing of who called.
    const names = [...series.keys()].join('\n')
    expect(names).not.toContain('key_')
    expect(names).not.toContain('acct_')
    const examined = await examine({
      GATEHOUSE_URL: scene.gatehouse.url,
      GATEHOUSE_METRICS_TOKEN: TOKEN,
    })
    expect(found(examined, 'connections', 'ok')).toContain('openai: 1 opened for 8 calls, 0 failed')
    // A second scrape adds nothing.
    const again = await scrape(`${scene.gatehouse.url}/metrics`, TOKEN)
    expect(seriesOf(again, 'gatehouse_calls_total')).toEqual(
      seriesOf(series, 'gatehouse_calls_total'),
    )
  })
})

test('a running call and an open breaker show, and the journal’s backlog is shipped', async () => {
  const scene = await openRawScene({
    gates: { hang: 'openai/gpt-4o', broken: 'mistral/codestral-latest' },
    environment: { GATEHOUSE_METRICS_TOKEN: TOKEN },
  })
  try {
    const url = `${scene.gatehouse.url}/metrics`
    scene.upstream.answer(jsonAnswer(500, {}))
    for (let index = 0; index < 5; index += 1)
      await scene.post('/alt/v1/fim/completions', '{"model":"broken","prompt":"a"}')
    scene.upstream.answer(streamAnswer(CHAT_STREAM_WITH_USAGE.slice(0, 2), { ending: 'hang' }))
    const leave = new AbortController()
    const open = await fetch(`${scene.gatehouse.url}${CHAT}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${scene.gatehouse.key}`,
        'content-type': 'application/json',
      },
      body: '{"model":"hang","messages":[],"stream":true}',
      signal: leave.signal,
    })
    expect(open.status).toBe(200)
    const series = await scrape(url, TOKEN)
    expect(series.get('gatehouse_calls_in_flight')).toBe(1)
    expect(seriesOf(series, 'gatehouse_breakers_open')).toEqual({
      '{target="mistral/codestral-latest"}': 1,
    })
    leave.abort()
    await pollUntil(
      'no call in flight',
      async () => (await scrape(url, TOKEN)).get('gatehouse_calls_in_flight') === 0,
    )
    await pollUntil(
      'an empty journal',
      async () => (await scrape(url, TOKEN)).get('gatehouse_journal_unshipped_bytes') === 0,
    )
    expect((await scrape(url, TOKEN)).get('gatehouse_shipper_lag_seconds')).toBe(0)
  } finally {
    await scene.close()
  }
})

describe('access to the metrics', () => {
  const servers: Gatehouse[] = []
  const start = async (environment: Record<string, string>) => {
    const server = await startGatehouse({ environment })
    servers.push(server)
    return server
  }
  afterAll(async () => {
    for (const server of servers) await server.remove()
  })
  const statusOf = async (url: string, headers: Record<string, string> = {}, method = 'GET') =>
    (await fetch(url, { headers, method })).status

  test('is closed without a port and a token', async () => {
    const server = await start({})
    expect(await statusOf(`${server.url}/metrics`, { authorization: `Bearer ${server.key}` })).toBe(
      404,
    )
  })

  test('is open on the main port with the token, and not with an API key', async () => {
    const server = await start({ GATEHOUSE_METRICS_TOKEN: TOKEN })
    const url = `${server.url}/metrics`
    expect(await statusOf(url, { authorization: `Bearer ${TOKEN}` })).toBe(200)
    for (const authorization of [
      `Bearer ${server.key}`,
      `Bearer ${TOKEN}x`,
      `Basic ${TOKEN}`,
      'Bearer',
      '',
    ])
      expect(await statusOf(url, { authorization })).toBe(401)
    expect(await statusOf(`${url}?token=${TOKEN}`)).toBe(401)
    expect(await statusOf(url, { authorization: `Bearer ${TOKEN}` }, 'POST')).toBe(405)
    const refused = await fetch(url)
    expect(refused.headers.get('www-authenticate')).toBe('Bearer')
    expect(await refused.json()).toMatchObject({ error: 'unauthorized' })
  })

  test.each([undefined, TOKEN])(
    'is only on their own port if they have one (token: %p)',
    async (token) => {
      const server = await start({
        GATEHOUSE_METRICS_PORT: '0',
        ...(token === undefined ? {} : { GATEHOUSE_METRICS_TOKEN: token }),
      })
      const url = await pollUntil(
        'the address of the metrics',
        () => /"url":"(http:\/\/127\.0\.0\.1:\d+\/metrics)"/.exec(server.output())?.[1],
      )
      expect((await scrape(url, token)).get('gatehouse_calls_in_flight')).toBe(0)
      expect(await statusOf(url)).toBe(token === undefined ? 200 : 401)
      expect(await statusOf(url.replace('/metrics', '/v1/gates'))).toBe(404)
      expect(await statusOf(`${server.url}/metrics`, { authorization: `Bearer ${TOKEN}` })).toBe(
        404,
      )
      expect(await server.stop()).toBe(0)
    },
  )
})
