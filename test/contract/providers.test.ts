/**
 * One suite over every provider of the catalog and every dialect it speaks: a new entry is tested
 * by being there. How a dialect is relayed and translated is the same code for all that speak it:
 * one provider of each is tried in full, the others with what is their own, and with
 * GATEHOUSE_CHAOS=long everything is tried with everybody.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { catalog } from '../../src/providers/catalog.ts'
import { baseUrlVariableOf, keyVariableOf } from '../../src/providers/define.ts'
import { IS_LONG } from '../support/chaos-form.ts'
import { controlPlaneCall, createGate, waitForLogRow } from '../support/control-plane.ts'
import { DIALECTS, type DialectRow } from '../support/dialect-table.ts'
import { type RawAnswer, sendRaw } from '../support/raw-client.ts'
import { CHAT } from '../support/raw-scene.ts'
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts'
import { jsonAnswer, streamAnswer } from '../support/scripted-answers.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { TRANSLATED, TRANSLATED_TEXT, type TranslatedRow } from '../support/translated-samples.ts'
import { WHOLE_ANSWERS, type WholeAnswerRow } from '../support/whole-answer-samples.ts'

/** Providers of one vendor may share a variable, and with it the key. */
const keyOf = (provider: string) =>
  `planted-key-of-${catalog.filter(({ id }) => id === provider).map(keyVariableOf)}`

let upstream: RawUpstream
let gatehouse: Gatehouse
beforeAll(async () => {
  upstream = await startRawUpstream()
  const environment = Object.fromEntries(
    catalog.flatMap((provider) => [
      [keyVariableOf(provider), keyOf(provider.id)],
      [baseUrlVariableOf(provider), `${upstream.url}/base-of-${provider.id}`],
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
    upstreamPath: endpoint.path.replace('{model}', encodeURIComponent('some/model-1')),
    insteadOfModel: 'insteadOfModel' in endpoint ? endpoint.insteadOfModel : undefined,
  })),
)

test('every dialect of a provider has a row of samples', () => {
  const sampled = new Set([...DIALECTS, ...TRANSLATED, ...WHOLE_ANSWERS].map((row) => row.dialect))
  expect(PAIRS.filter(({ dialect }) => !sampled.has(dialect))).toEqual([])
})

test('GET /v1/providers shows the whole catalog, each with its key configured', async () => {
  const { data } = (await (await controlPlaneCall(gatehouse, 'GET', '/v1/providers')).json()) as {
    data: { id: string; configured: boolean; hasAddress: boolean }[]
  }
  expect(data.map(({ id, configured, hasAddress }) => [id, configured, hasAddress])).toEqual(
    catalog.map(({ id }) => [id, true, true]),
  )
})

const isRelayed = (pair: { readonly dialect: string }) =>
  DIALECTS.some((row) => row.dialect === pair.dialect)

/** One for each dialect of these, the first of the catalog; all of them in the long form. */
function withFullOnes<Pair extends { readonly dialect: string }>(pairs: readonly Pair[]) {
  return pairs.map((pair) => {
    const first = pairs.find(({ dialect }) => dialect === pair.dialect)
    return { ...pair, isInFull: IS_LONG || first === pair }
  })
}

describe.each(withFullOnes(PAIRS.filter(isRelayed)))(
  '$provider over $dialect',
  ({ provider, dialect, upstreamPath, insteadOfModel, isInFull }) => {
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
      expect(sent.head).toContain(keyOf(provider))
      expect(sent.head).not.toContain(gatehouse.key)
      expect(JSON.parse(sent.text)).toMatchObject(insteadOfModel ?? { model: 'some/model-1' })
      expect('model' in JSON.parse(sent.text)).toBe(insteadOfModel === undefined)
    })

    test('an answer comes back to the byte, and is counted', async () => {
      upstream.answer(jsonAnswer(200, row.answer))
      const answer = await call()
      expect(answer.text).toBe(row.answer)
      expect(answer.headers['x-gatehouse-target']).toBe(`${provider}/some/model-1`)
      expect((await waitForLogRow(gatehouse, answer.headers['x-request-id'])).usage).toEqual(
        row.usage,
      )
    })

    test('a stream comes back to the byte', async () => {
      upstream.answer(streamAnswer(row.stream))
      expect((await call({ stream: true })).text).toBe(row.stream.join(''))
    })

    if (!isInFull) return

    test('a stream that is cut does not look whole', async () => {
      upstream.answer(streamAnswer(row.stream.slice(0, 1), { ending: 'close' }))
      const answer = await call({ stream: true })
      expect(answer.complete).toBe(false)
      expect(answer.text).toContain('"error"')
    })

    test.each([400, 404, 429])("its %i is the caller's", async (status) => {
      upstream.answer(
        jsonAnswer(status, { error: { message: 'no', type: 't', param: null, code: null } }),
      )
      expect((await call()).status).toBe(status)
    })

    test.each([
      [401, 502],
      [403, 502],
      [500, 502],
      [503, 503],
      [529, 503],
    ])('its %i is a %i that does not show the key', async (status, told) => {
      upstream.answer(
        jsonAnswer(status, {
          error: { message: `bad key ${keyOf(provider)}`, type: 't', param: null, code: null },
        }),
      )
      const answer = await call()
      expect(answer.status).toBe(told)
      expect(answer.text).not.toContain(keyOf(provider))
    })
  },
)

const hasNoStreams = (pair: { readonly dialect: string }) =>
  WHOLE_ANSWERS.some((row) => row.dialect === pair.dialect)

describe.each(PAIRS.filter(hasNoStreams))(
  '$provider over $dialect',
  ({ provider, dialect, upstreamPath }) => {
    const row = WHOLE_ANSWERS.find((candidate) => candidate.dialect === dialect) as WholeAnswerRow

    function call(): Promise<RawAnswer> {
      return sendRaw(gatehouse.url, {
        path: row.path,
        headers: { authorization: `Bearer ${gatehouse.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: `of-${provider}`, ...row.fields }),
      })
    }

    test("goes to its address with the provider's key alone; the answer comes back and is counted", async () => {
      upstream.answer(jsonAnswer(200, row.answer))
      const answer = await call()
      const sent = upstream.last()
      expect(sent.path).toBe(
        `/base-of-${provider}${upstreamPath.replace('{model}', encodeURIComponent('some/model-1'))}`,
      )
      expect(sent.head).toContain(keyOf(provider))
      expect(sent.head).not.toContain(gatehouse.key)
      if (row.seen === undefined) expect(answer.text).toBe(row.answer)
      else
        expect(JSON.parse(answer.text)).toEqual({ ...row.seen, model: `${provider}/some/model-1` })
      const { usage } = await waitForLogRow(gatehouse, answer.headers['x-request-id'])
      if (row.usage === 'estimated') {
        expect(usage).toMatchObject({ outputTokens: 0 })
        expect(usage?.inputTokens).toBeGreaterThan(0)
      } else expect(usage).toEqual(row.usage)
    })

    test("its refusals are split into the caller's mistakes and the provider's failures", async () => {
      upstream.answer(jsonAnswer(400, { error: { message: 'no' } }))
      expect((await call()).status).toBe(400)
      upstream.answer(jsonAnswer(401, { error: { message: `bad key ${keyOf(provider)}` } }))
      const refused = await call()
      expect(refused.status).toBe(502)
      expect(refused.text).not.toContain(keyOf(provider))
    })
  },
)

/** A provider that speaks the caller's own dialect needs no translation. */
const isTranslated = (pair: { readonly provider: string; readonly dialect: string }) =>
  TRANSLATED.some((row) => row.dialect === pair.dialect) &&
  !PAIRS.some(({ provider, dialect }) => provider === pair.provider && dialect === 'openai-chat')

describe.each(withFullOnes(PAIRS.filter(isTranslated)))(
  '$provider over $dialect, for chat callers',
  ({ provider, dialect, upstreamPath, isInFull }) => {
    const row = TRANSLATED.find((candidate) => candidate.dialect === dialect) as TranslatedRow

    function call(extra: object = {}): Promise<RawAnswer> {
      const messages = [{ role: 'user', content: 'Hi' }]
      return sendRaw(gatehouse.url, {
        path: CHAT,
        headers: { authorization: `Bearer ${gatehouse.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: `of-${provider}`, messages, ...extra }),
      })
    }

    test("goes to its address with the provider's key and without the caller's", async () => {
      upstream.answer(jsonAnswer(200, row.answer))
      await call()
      const sent = upstream.last()
      expect(sent.path).toBe(`/base-of-${provider}${upstreamPath}`)
      expect(sent.head).toContain(keyOf(provider))
      expect(sent.head).not.toContain(gatehouse.key)
    })

    test('an answer comes back as a chat completion, and is counted', async () => {
      upstream.answer(jsonAnswer(200, row.answer))
      const answer = await call()
      expect(JSON.parse(answer.text)).toMatchObject({
        object: 'chat.completion',
        choices: [{ message: { content: TRANSLATED_TEXT }, finish_reason: 'stop' }],
      })
      expect((await waitForLogRow(gatehouse, answer.headers['x-request-id'])).usage).toEqual(
        row.usage,
      )
    })

    test('a stream comes back as chunks, ends in [DONE], and is counted', async () => {
      upstream.answer(streamAnswer(row.stream, { headers: row.streamHeaders ?? {} }))
      const answer = await call({ stream: true })
      const chunks = answer.text
        .split('\n\n')
        .filter((event) => event.startsWith('data: {'))
        .map((event) => JSON.parse(event.slice('data: '.length)))
      expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(
        TRANSLATED_TEXT,
      )
      expect(chunks.at(-1).choices[0].finish_reason).toBe('stop')
      expect(answer.text).toEndWith('data: [DONE]\n\n')
      expect((await waitForLogRow(gatehouse, answer.headers['x-request-id'])).usage).toEqual(
        row.usage,
      )
    })

    if (!isInFull) return

    test('a stream that is cut does not look whole, wherever it is cut', async () => {
      for (let kept = 1; kept < row.stream.length; kept += 1) {
        upstream.answer(
          streamAnswer(row.stream.slice(0, kept), {
            headers: row.streamHeaders ?? {},
            ending: 'close',
          }),
        )
        const answer = await call({ stream: true })
        if (answer.status !== 200) continue
        expect(answer.complete).toBe(false)
        expect(answer.text).toContain('"error"')
      }
    })

    test.each([
      [400, 'invalid_request_error'],
      [404, 'upstream_error'],
      [429, 'rate_limit_error'],
    ])("its %i is the caller's, in the caller's own form", async (status, type) => {
      upstream.answer(jsonAnswer(status, { error: { message: 'no' } }))
      const answer = await call()
      expect(answer.status).toBe(status)
      expect(JSON.parse(answer.text)).toEqual({
        error: { message: 'no', type, param: null, code: 'upstream_error' },
      })
    })

    test.each([
      [401, 502],
      [403, 502],
      [500, 502],
      [503, 503],
      [529, 503],
    ])('its %i is a %i that does not show the key', async (status, told) => {
      upstream.answer(jsonAnswer(status, { error: { message: `bad key ${keyOf(provider)}` } }))
      const answer = await call()
      expect(answer.status).toBe(told)
      expect(answer.text).not.toContain(keyOf(provider))
    })
  },
)
