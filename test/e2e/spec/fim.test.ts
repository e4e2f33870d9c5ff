/**
 * interface-spec, "POST {base_url}/alt/v1/fim/completions": its request rows, its response rows,
 * its envelope.
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
import { Mistral } from '@mistralai/mistralai'
import { controlPlaneCall } from '../../support/control-plane.ts'
import { DAMAGED_GATE, startWithDamagedGate } from '../../support/damaged-database.ts'
import { FIM_JSON, FIM_STREAM } from '../../support/dialect-samples.ts'
import { readFlatError } from '../../support/envelopes.ts'
import type { RawAnswer } from '../../support/raw-client.ts'
import { FIM, openRawScene, type RawScene } from '../../support/raw-scene.ts'
import { jsonAnswer, streamAnswer } from '../../support/scripted-answers.ts'
import { parseEvents } from '../../support/server-sent-events.ts'

// A test that outlasts its time has its server killed by the runner, and with it every test that
// follows.
setDefaultTimeout(180_000)

const BASE = { model: 'codestral', prompt: 'def f(' }
const ODD_CODE = 'def grüß(x):\r\n\t"""\\u0041 \u{1F600} \u2028</s>[SUFFIX]"""\n'

interface Chunk {
  readonly choices: readonly { readonly delta: { readonly content?: string } }[]
}

let scene: RawScene
beforeAll(async () => {
  scene = await openRawScene({
    gates: { codestral: 'mistral/codestral-latest', gpt: 'openai/gpt-4o' },
  })
})
afterAll(() => scene.close())
beforeEach(() => {
  scene.upstream.reset()
  scene.upstream.answer(jsonAnswer(200, FIM_JSON))
})

const post = (body: unknown, headers?: Readonly<Record<string, string>>): Promise<RawAnswer> =>
  scene.post(FIM, body, headers)

function sent(): Record<string, unknown> {
  return JSON.parse(scene.upstream.last().text) as Record<string, unknown>
}

async function expectRefused(field: string, value: unknown): Promise<void> {
  const answer = await post({ ...BASE, [field]: value })
  expect({ value, status: answer.status }).toEqual({ value, status: 400 })
  expect(readFlatError(answer.text)).toMatchObject({
    error: 'invalid_request',
    message: expect.stringContaining(`'${field}'`),
  })
  expect(scene.upstream.requests).toBeEmpty()
}

describe('POST {base_url}/alt/v1/fim/completions', () => {
  describe('Request body (JSON)', () => {
    test('| prompt | string | Code before the cursor |', async () => {
      for (const prompt of [ODD_CODE, '']) {
        expect((await post({ ...BASE, prompt })).status).toBe(200)
        expect(sent().prompt).toBe(prompt)
      }
      scene.upstream.reset()
      for (const wrong of [7, true, ['def f('], { text: 'def f(' }, null])
        await expectRefused('prompt', wrong)
    })

    test('| suffix | string | Code after the cursor |', async () => {
      for (const suffix of [ODD_CODE, '']) {
        expect((await post({ ...BASE, suffix })).status).toBe(200)
        expect(sent()).toEqual({ model: 'codestral-latest', prompt: BASE.prompt, suffix })
      }
      expect((await post(BASE)).status).toBe(200)
      expect(sent()).not.toHaveProperty('suffix')
      scene.upstream.reset()
      for (const wrong of [7, true, ['x'], { text: 'x' }]) await expectRefused('suffix', wrong)
    })

    describe('| stream | boolean | When true, the response is a server-sent-event stream of chunks |', () => {
      test('true', async () => {
        scene.upstream.answer(streamAnswer(FIM_STREAM))
        const answer = await post({ ...BASE, stream: true })
        expect(sent().stream).toBe(true)
        expect(answer).toMatchObject({ status: 200, complete: true })
        expect(answer.headers['content-type']).toStartWith('text/event-stream')
      })

      test.each([
        ['false', { stream: false }],
        ['absent', {}],
      ])('%s: one JSON document', async (_, extra) => {
        const answer = await post({ ...BASE, ...extra }, { accept: 'text/event-stream' })
        expect(answer.headers['content-type']).toStartWith('application/json')
        expect(answer.text).toBe(FIM_JSON)
      })

      test('no boolean: refused', async () => {
        for (const wrong of ['true', 1, [], {}]) await expectRefused('stream', wrong)
      })
    })

    describe('| min_tokens | number | Accepted, but not forwarded to the model (no effect) |', () => {
      test.each([[0], [1], [5], [2.5], [1e9], [-1]])('%p', async (min_tokens) => {
        const answer = await post({ ...BASE, max_tokens: 10, min_tokens })
        expect(answer).toMatchObject({ status: 200, text: FIM_JSON })
        expect(sent()).toEqual({ model: 'codestral-latest', prompt: BASE.prompt, max_tokens: 10 })
        expect(answer.headers['x-gatehouse-ignored']).toBe('min_tokens')
      })

      test('in a stream', async () => {
        scene.upstream.answer(streamAnswer(FIM_STREAM))
        const answer = await post({ ...BASE, stream: true, min_tokens: 5 })
        expect(answer.text).toBe(FIM_STREAM.join(''))
        expect(sent()).toEqual({ model: 'codestral-latest', prompt: BASE.prompt, stream: true })
      })

      test('through the official SDK', async () => {
        const client = new Mistral({
          apiKey: scene.gatehouse.key,
          serverURL: `${scene.gatehouse.url}/alt`,
        })
        await client.fim.complete({ ...BASE, minTokens: 5 })
        expect(scene.upstream.last().text).not.toContain('min_tokens')
      })

      test('no number: refused', async () => {
        for (const wrong of ['5', true, [5]]) await expectRefused('min_tokens', wrong)
      })
    })
  })

  describe('Responses', () => {
    test('| 200 | A completion shaped like a chat completion |', async () => {
      const answer = await post({ ...BASE, suffix: 'return a' })
      expect(answer).toMatchObject({ status: 200, text: FIM_JSON, complete: true })
      expect(JSON.parse(answer.text)).toMatchObject({
        id: 'cmpl-1',
        object: 'chat.completion',
        model: expect.any(String),
        created: expect.any(Number),
        choices: [{ index: 0, message: { role: 'assistant', content: 'return café \u{1F600}' } }],
        usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
      })
    })

    test('| 200 | when `stream` is true, SSE chunks |', async () => {
      scene.upstream.answer(streamAnswer(FIM_STREAM))
      const { text } = await post({ ...BASE, stream: true })
      expect(text).toBe(FIM_STREAM.join(''))
      const events = parseEvents(text)
      expect(events.map(({ event }) => event)).toEqual(events.map(() => undefined))
      const chunks = events
        .filter(({ data }) => data !== '[DONE]')
        .map(({ data }) => JSON.parse(data) as Chunk)
      expect(chunks).toHaveLength(3)
      for (const chunk of chunks)
        expect(chunk).toMatchObject({ object: 'chat.completion.chunk', choices: [{ index: 0 }] })
      expect(chunks.map(({ choices }) => choices[0]?.delta.content).join('')).toBe(
        'return \u{1F600}',
      )
    })

    test('| 200 | SSE chunks are read by the official SDK |', async () => {
      scene.upstream.answer(streamAnswer(FIM_STREAM))
      const client = new Mistral({
        apiKey: scene.gatehouse.key,
        serverURL: `${scene.gatehouse.url}/alt`,
      })
      let content = ''
      for await (const { data } of await client.fim.stream({ ...BASE, suffix: 'return a' }))
        content += String(data.choices[0]?.delta.content ?? '')
      expect(content).toBe('return \u{1F600}')
    })

    describe('| 400 | Error envelope. Invalid request: schema validation failure or malformed input |', () => {
      test.each([
        ['a field that is missing', '{"model":"codestral"}'],
        ['no gate', '{"prompt":"x"}'],
        ['a field of a wrong type', '{"model":"codestral","prompt":["x"]}'],
        ['a gate that cannot fill in the middle', '{"model":"gpt","prompt":"x"}'],
        ['no JSON', 'prompt=x'],
        ['half of a document', '{"model":"codestral","prompt":"x"'],
        ['no object', '["codestral"]'],
        ['nothing', ''],
        ['a key twice', '{"model":"codestral","prompt":"x","prompt":"y"}'],
      ])('%s', async (_, body) => {
        const answer = await post(body)
        expect(answer.status).toBe(400)
        expect(readFlatError(answer.text).error).toBe('invalid_request')
        expect(scene.upstream.requests).toBeEmpty()
      })

      test('a refusal by the model itself', async () => {
        scene.upstream.answer(jsonAnswer(422, { object: 'error', message: 'temperature too high' }))
        const answer = await post({ ...BASE, temperature: 99 })
        expect(answer.status).toBe(400)
        readFlatError(answer.text)
      })
    })

    test.each([
      ['missing', ''],
      ['no Bearer', 'Basic dXNlcjpwYXNz'],
      ['empty', 'Bearer '],
      ['unknown', `Bearer sk-svc-${'0'.repeat(64)}`],
      ['of an unknown form', 'Bearer planted-nonsense'],
    ])(
      '| 401 | Error envelope. Missing or invalid Bearer credentials | (%s)',
      async (_, authorization) => {
        for (const stream of [false, true]) {
          const response = await fetch(scene.gatehouse.url + FIM, {
            method: 'POST',
            headers: {
              'content-type': 'application/json',
              ...(authorization === '' ? {} : { authorization }),
            },
            body: JSON.stringify({ ...BASE, stream }),
          })
          const text = await response.text()
          expect(response.status).toBe(401)
          expect(readFlatError(text).error).toBe('unauthorized')
          expect(text).not.toContain('planted')
        }
        expect(scene.upstream.requests).toBeEmpty()
      },
    )

    test('| 500 | Error envelope. Internal server error |', async () => {
      const gatehouse = await startWithDamagedGate({ sandbox: true })
      try {
        for (const stream of [false, true]) {
          const body = { ...BASE, model: DAMAGED_GATE, stream }
          const response = await controlPlaneCall(gatehouse, 'POST', FIM, body)
          expect(response.status).toBe(500)
          expect(readFlatError(await response.text()).error).toBe('internal_error')
        }
      } finally {
        await gatehouse.remove()
      }
    })
  })

  test('Errors on this endpoint use the flat error envelope, not the nested one', async () => {
    const bodies = [
      '{',
      { model: 'nobody', prompt: 'x' },
      { model: 'gpt', prompt: 'x' },
      { ...BASE, stream: 'x' },
    ]
    for (const body of bodies) {
      const { error } = readFlatError((await post(body)).text)
      expect(error).toBeString()
    }
    for (const status of [400, 401, 404, 422, 429, 500, 503]) {
      scene.upstream.answer(
        jsonAnswer(status, { error: { message: 'nested', type: 'x', code: 'y', param: null } }),
      )
      const answer = await post(BASE)
      expect(answer.status).toBeGreaterThanOrEqual(400)
      expect(readFlatError(answer.text).error).toBeString()
    }
  })
})
