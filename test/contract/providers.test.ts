/** One suite over every provider of the catalog and every dialect it speaks: a new entry is tested by being there. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { catalog } from '../../src/providers/catalog.ts'
import { baseUrlVariable, keyVariable } from '../../src/providers/define.ts'
import { controlPlaneCall, createGate, waitForLogRow } from '../support/control-plane.ts'
import { DIALECTS, type DialectRow } from '../support/dialect-table.ts'
import { type RawAnswer, sendRaw } from '../support/raw-client.ts'
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts'
import { jsonAnswer, streamAnswer } from '../support/scripted-answers.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

const keyOf = (provider: string) => `planted-key-of-${provider}`

let upstream: RawUpstream
let gatehouse: Gatehouse
beforeAll(async () => {
  upstream = await startRawUpstream()
  const environment = Object.fromEntries(
    catalog.flatMap(({ id }) => [
      [keyVariable(id), keyOf(id)],
      [baseUrlVariable(id), `${upstream.url}/base-of-${id}`],
    ]),
  )
  gatehouse = await startGatehouse({ environment })
  for (const { id } of catalog) await createGate(gatehouse, `of-${id}`, `${id}/some/model-1`)
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await gatehouse.remove()
  await upstream.stop()
})

const PAIRS = catalog.flatMap((provider) =>
  Object.entries(provider.endpoints).map(([dialect, endpoint]) => ({
    provider: provider.id,
    dialect,
    upstreamPath: endpoint.path,
  })),
)

test('every dialect that a provider speaks has a row of samples', () => {
  const sampled = new Set(DIALECTS.map((row) => row.dialect))
  expect(PAIRS.filter(({ dialect }) => !sampled.has(dialect))).toEqual([])
})

test('GET /v1/providers shows the whole catalog, each with its key configured', async () => {
  const { data } = (await (await controlPlaneCall(gatehouse, 'GET', '/v1/providers')).json()) as {
    data: { id: string; configured: boolean }[]
  }
  expect(data.map(({ id, configured }) => [id, configured])).toEqual(catalog.map(({ id }) => [id, true]))
})

describe.each(PAIRS)('$provider over $dialect', ({ provider, dialect, upstreamPath }) => {
  const row = DIALECTS.find((candidate) => candidate.dialect === dialect) as DialectRow

  function call(extra: object = {}): Promise<RawAnswer> {
    return sendRaw(gatehouse.url, {
      path: row.path,
      headers: { authorization: `Bearer ${gatehouse.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: `of-${provider}`, ...row.fields, ...extra }),
    })
  }

  test("goes to its address with its key, under the model's whole name", async () => {
    upstream.answer(jsonAnswer(200, row.answer))
    await call()
    const sent = upstream.last()
    expect(sent.path).toBe(`/base-of-${provider}${upstreamPath}`)
    expect(sent.headers.authorization).toBe(`Bearer ${keyOf(provider)}`)
    expect(JSON.parse(sent.body.toString()).model).toBe('some/model-1')
  })

  test('an answer comes back to the byte, and is counted', async () => {
    upstream.answer(jsonAnswer(200, row.answer))
    const answer = await call()
    expect(answer.text).toBe(row.answer)
    expect(answer.headers['x-gatehouse-target']).toBe(`${provider}/some/model-1`)
    expect((await waitForLogRow(gatehouse, answer.headers['x-request-id'])).usage).toEqual(row.usage)
  })

  test('a stream comes back to the byte', async () => {
    upstream.answer(streamAnswer(row.stream))
    expect((await call({ stream: true })).text).toBe(row.stream.join(''))
  })

  test('a stream that is cut does not look whole', async () => {
    upstream.answer(streamAnswer(row.stream.slice(0, 1), { ending: 'close' }))
    const answer = await call({ stream: true })
    expect(answer.complete).toBe(false)
    expect(answer.text).toContain('"error"')
  })

  test.each([400, 404, 429])("its %i is the caller's", async (status) => {
    upstream.answer(jsonAnswer(status, { error: { message: 'no', type: 't', param: null, code: null } }))
    expect((await call()).status).toBe(status)
  })

  test.each([401, 403, 500, 503])('its %i is a 502 that does not show the key', async (status) => {
    upstream.answer(
      jsonAnswer(status, {
        error: { message: `bad key ${keyOf(provider)}`, type: 't', param: null, code: null },
      }),
    )
    const answer = await call()
    expect(answer.status).toBe(502)
    expect(answer.text).not.toContain(keyOf(provider))
  })
})
