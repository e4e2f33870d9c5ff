/** The rules of the fill-in-the-middle endpoint, seen from both sides of the gateway. */
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test'
import { waitForLogRow } from '../support/control-plane.ts'
import { FIM_JSON, FIM_STREAM, FIM_USAGE } from '../support/dialect-samples.ts'
import { readFlatError } from '../support/envelopes.ts'
import { FIM, openRawScene, type RawScene } from '../support/raw-scene.ts'
import { jsonAnswer, streamAnswer } from '../support/scripted-answers.ts'

// A test that outlasts its time has its server killed by the runner, and with it every test that
// follows.
setDefaultTimeout(180_000)

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

const BASE = { model: 'codestral', prompt: 'def f(' }

function sent(): Record<string, unknown> {
  return JSON.parse(scene.upstream.last().text) as Record<string, unknown>
}

function ignored(headers: Readonly<Record<string, string>>): string[] {
  return (headers['x-gatehouse-ignored'] ?? '').split(/,\s*/).sort()
}

describe('fields', () => {
  test('min_tokens is accepted and not forwarded', async () => {
    const answer = await scene.post(FIM, { ...BASE, suffix: 'return a', min_tokens: 5 })
    expect(answer.status).toBe(200)
    expect(sent()).toEqual({ model: 'codestral-latest', prompt: 'def f(', suffix: 'return a' })
    expect(ignored(answer.headers)).toEqual(['min_tokens'])
  })

  test('min_tokens: null is accepted too', async () => {
    expect((await scene.post(FIM, { ...BASE, min_tokens: null })).status).toBe(200)
    expect(sent()).not.toHaveProperty('min_tokens')
  })

  test('known to the provider reach it', async () => {
    const known = {
      suffix: 'return a',
      temperature: 0.5,
      top_p: 0.9,
      max_tokens: 10,
      random_seed: 7,
      stop: ['\n'],
      stream: false,
      metadata: { a: 'b' },
      prompt_cache_key: 'k',
    }
    const answer = await scene.post(FIM, { ...BASE, ...known })
    expect(sent()).toEqual({ ...BASE, ...known, model: 'codestral-latest' })
    expect(answer.headers).not.toHaveProperty('x-gatehouse-ignored')
  })

  test('that the provider would refuse are left out and named', async () => {
    const unknown = {
      frequency_penalty: 0.1,
      presence_penalty: 0.1,
      max_completion_tokens: 5,
      n_prediction: 1,
      store: false,
      stream_options: { include_usage: true },
      unheard_of: { a: 1 },
    }
    const answer = await scene.post(FIM, { ...BASE, ...unknown })
    expect(answer.status).toBe(200)
    expect(sent()).toEqual({ ...BASE, model: 'codestral-latest' })
    expect(ignored(answer.headers)).toEqual(Object.keys(unknown).sort())
  })

  test('a field name that cannot stand in a header does not break the answer', async () => {
    const answer = await scene.post(
      FIM,
      '{"model":"codestral","prompt":"x","a\\r\\nset-cookie: x=1":1,"\u{1F600}":2,"b,c":3}',
    )
    expect(answer.status).toBe(200)
    expect(answer.headers).not.toHaveProperty('set-cookie')
    expect(answer.headers['x-gatehouse-ignored']).toBeString()
    expect(sent()).toEqual({ model: 'codestral-latest', prompt: 'x' })
  })

  test('a great number of unknown fields does not break the answer', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 900 }, (_, index) => [`unknown_field_${index}`, index]),
    )
    const answer = await scene.post(FIM, { ...BASE, ...many })
    expect(answer.status).toBe(200)
    expect(sent()).toEqual({ ...BASE, model: 'codestral-latest' })
  })

  test('that remain stay byte for byte', async () => {
    await scene.post(
      FIM,
      '{ "frequency_penalty":0, "prompt" : "h\\u00e9 \u{1F600}\\/", "temperature":1.0e-1,"min_tokens":1,"mod\\u0065l":"codestral","random_seed":12345678901234567890,"stop":null , "user":"u"}',
    )
    const { text } = scene.upstream.last()
    for (const kept of [
      '"prompt" : "h\\u00e9 \u{1F600}\\/"',
      '"temperature":1.0e-1',
      '"mod\\u0065l":"codestral-latest"',
      '"random_seed":12345678901234567890',
      '"stop":null',
    ]) {
      expect(text).toContain(kept)
    }
    expect(Object.keys(sent())).toEqual(['prompt', 'temperature', 'model', 'random_seed', 'stop'])
  })

  test('a suffix may be absent, null or empty', async () => {
    for (const extra of [{}, { suffix: null }, { suffix: '' }]) {
      expect((await scene.post(FIM, { ...BASE, ...extra })).status).toBe(200)
    }
  })

  test.each([
    ['prompt is absent', { model: 'codestral' }, 'prompt'],
    ['prompt is not a string', { ...BASE, prompt: ['a'] }, 'prompt'],
    ['prompt is null', { ...BASE, prompt: null }, 'prompt'],
    ['suffix is not a string', { ...BASE, suffix: 1 }, 'suffix'],
    ['stream is not a boolean', { ...BASE, stream: 'true' }, 'stream'],
    ['min_tokens is not a number', { ...BASE, min_tokens: 'many' }, 'min_tokens'],
    ['model is absent', { prompt: 'x' }, 'model'],
  ])('%s: 400 in the flat envelope, naming the field', async (_, body, field) => {
    const answer = await scene.post(FIM, body)
    expect(answer.status).toBe(400)
    const error = readFlatError(answer.text)
    expect(error.error).toBe('invalid_request')
    expect(error.message).toContain(field)
    expect(scene.upstream.requests).toBeEmpty()
  })
})

describe('routing', () => {
  test('gate_id routes too, is not sent, and names the ignored model', async () => {
    const answer = await scene.post(FIM, {
      gate_id: 'codestral',
      model: 'codestral-2501',
      prompt: 'x',
    })
    expect(sent()).toEqual({ model: 'codestral-latest', prompt: 'x' })
    expect(ignored(answer.headers)).toEqual(['model'])
  })

  test('a gate without a target for fill-in-the-middle is a 400', async () => {
    const answer = await scene.post(FIM, { model: 'gpt', prompt: 'x' })
    expect(answer.status).toBe(400)
    expect(readFlatError(answer.text).error).toBe('invalid_request')
    expect(scene.upstream.requests).toBeEmpty()
  })
})

describe('streams', () => {
  test('usage in the last chunk is shown and counted', async () => {
    scene.upstream.answer(streamAnswer(FIM_STREAM))
    const answer = await scene.post(FIM, { ...BASE, stream: true })
    expect(sent()).toEqual({ ...BASE, model: 'codestral-latest', stream: true })
    expect(answer.text).toBe(FIM_STREAM.join(''))
    expect(await waitForLogRow(scene.gatehouse, answer.headers['x-request-id'])).toMatchObject({
      outcome: 'succeeded',
      usage: FIM_USAGE,
    })
  })

  test('Accept: application/json does not stop a stream', async () => {
    scene.upstream.answer(streamAnswer(FIM_STREAM))
    const answer = await scene.post(FIM, { ...BASE, stream: true }, { accept: 'application/json' })
    expect(answer.headers['content-type']).toStartWith('text/event-stream')
  })
})

describe("the provider's own errors", () => {
  test('a message that is an object becomes text', async () => {
    scene.upstream.answer(
      jsonAnswer(422, {
        object: 'error',
        message: { detail: [{ type: 'extra_forbidden', loc: ['body', 'x'] }] },
        type: 'invalid_request_error',
        param: null,
        code: null,
      }),
    )
    const answer = await scene.post(FIM, BASE)
    expect(answer.status).toBe(400)
    expect(JSON.stringify(readFlatError(answer.text).details)).toContain('extra_forbidden')
  })

  test('an error that is not JSON is wrapped', async () => {
    scene.upstream.answer(jsonAnswer(400, 'bad <b>request</b>', { 'content-type': 'text/html' }))
    const answer = await scene.post(FIM, BASE)
    expect(answer.status).toBe(400)
    expect(answer.headers['content-type']).toStartWith('application/json')
    readFlatError(answer.text)
  })
})
