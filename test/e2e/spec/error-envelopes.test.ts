/**
 * interface-spec, "Error envelope" and "Errors": every field and every status, each status really
 * provoked.
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
import OpenAI from 'openai'
import { controlPlaneCall, createGate } from '../../support/control-plane.ts'
import {
  DAMAGED_GATE,
  startWithDamagedGate,
  whileTableIsGone,
} from '../../support/damaged-database.ts'
import { type FlatError, readFlatError, readNestedError } from '../../support/envelopes.ts'
import { FIM, RESPONSES } from '../../support/raw-scene.ts'
import { type RawUpstream, startRawUpstream } from '../../support/raw-upstream.ts'
import { jsonAnswer } from '../../support/scripted-answers.ts'
import type { Gatehouse } from '../../support/start-gatehouse.ts'

// A test that outlasts its time has its server killed by the runner, and with it every test that
// follows.
setDefaultTimeout(180_000)

const OWNED_MODEL = '/v1/owned-models/house-model'
const STRANGER = `sk-svc-${'0'.repeat(64)}`

let gatehouse: Gatehouse
let upstream: RawUpstream
beforeAll(async () => {
  upstream = await startRawUpstream()
  gatehouse = await startWithDamagedGate({
    environment: {
      OPENAI_BASE_URL: `${upstream.url}/v1`,
      OPENAI_API_KEY: 'sk-planted-openai',
      MISTRAL_BASE_URL: `${upstream.url}/v1`,
      MISTRAL_API_KEY: 'planted-mistral',
      GATEHOUSE_TRUSTED_HOSTS: '127.0.0.1',
    },
  })
  await createGate(gatehouse, 'gpt', 'openai/gpt-5')
  await createGate(gatehouse, 'codestral', 'mistral/codestral-latest')
  upstream.answer(jsonAnswer(200, {}))
  const made = await controlPlaneCall(gatehouse, 'POST', '/v1/owned-models', {
    slug: 'house-model',
    dialect: 'openai-chat',
    baseUrl: `${upstream.url}/v1`,
    upstreamModelId: 'served-model',
    credential: 'planted-credential',
    pricingInput: 1,
    pricingOutput: 1,
  })
  expect(made.status).toBe(201)
})
afterAll(async () => {
  await gatehouse.remove()
  await upstream.stop()
})
beforeEach(() => upstream.reset())

interface Answer {
  readonly status: number
  readonly text: string
  readonly type: string | null
}

async function send(
  method: string,
  path: string,
  body: unknown,
  key = gatehouse.key,
): Promise<Answer> {
  const response = await fetch(gatehouse.url + path, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return {
    status: response.status,
    text: await response.text(),
    type: response.headers.get('content-type'),
  }
}

const fim = (body: unknown, key?: string): Promise<Answer> => send('POST', FIM, body, key)
const patch = (body: unknown, key?: string): Promise<Answer> =>
  send('PATCH', OWNED_MODEL, body, key)
const responses = (body: unknown, key?: string): Promise<Answer> =>
  send('POST', RESPONSES, body, key)

const GOOD_FIM = { model: 'codestral', prompt: 'def f(' }
const GOOD_RESPONSES = { model: 'gpt', input: 'hi' }

/** How each status comes about at each of the endpoints with the flat envelope. */
const FLAT = [
  ['FIM', 400, 'validation failure', () => fim({ model: 'codestral', prompt: 7 })],
  ['FIM', 400, 'malformed input', () => fim('{"model":"codestral","prompt":')],
  ['FIM', 401, 'missing Bearer credentials', () => fim(GOOD_FIM, '')],
  ['FIM', 401, 'invalid Bearer credentials', () => fim(GOOD_FIM, STRANGER)],
  ['FIM', 500, 'a failure inside the gateway', () => fim({ ...GOOD_FIM, model: DAMAGED_GATE })],
  ['owned-models', 400, 'validation failure', () => patch({ pricingInput: 10_001 })],
  ['owned-models', 400, 'malformed input', () => patch('{"pricingInput":')],
  ['owned-models', 401, 'missing Bearer credentials', () => patch({}, '')],
  ['owned-models', 401, 'invalid Bearer credentials', () => patch({}, STRANGER)],
  [
    'owned-models',
    500,
    'a failure inside the gateway',
    () => whileTableIsGone(gatehouse, 'owned_models', () => patch({ displayName: 'x' })),
  ],
] as const

const CODES: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'unauthorized',
  500: 'internal_error',
}

async function readFlatErrors(): Promise<readonly FlatError[]> {
  const errors: FlatError[] = []
  for (const [, , , provoke] of FLAT) errors.push(readFlatError((await provoke()).text))
  return errors
}

describe('Error envelope', () => {
  test('| error | string | required | Stable error code |', async () => {
    const codes = (await readFlatErrors()).map(({ error }) => error)
    expect(codes).toEqual(FLAT.map(([, status]) => CODES[status] ?? ''))
  })

  test('| message | string | required | Human-readable message |', async () => {
    // A sentence: words with spaces between them, and no code.
    for (const { message } of await readFlatErrors()) expect(message).toMatch(/^\S+( \S+){2,}$/)
  })

  describe('| details | any | not required | Additional data of unspecified shape |', () => {
    test('is there if there is more to say', async () => {
      const refused = readFlatError((await patch({ pricingInput: -1, displayName: '' })).text)
      expect(refused.details).toMatchObject([{ field: 'displayName' }, { field: 'pricingInput' }])
      upstream.answerOnce(jsonAnswer(422, { object: 'error', message: 'prompt too odd', code: 7 }))
      const wrapped = readFlatError((await fim(GOOD_FIM)).text)
      expect(JSON.stringify(wrapped.details)).toContain('prompt too odd')
    })

    test('is absent, and not null, otherwise', async () => {
      const keysOf = ({ text }: Answer) => Object.keys(JSON.parse(text) as object)
      expect(keysOf(await patch({}, STRANGER))).toEqual(['error', 'message'])
      // With what Mistral's clients parse beside it.
      const ofMistral = ['object', 'type', 'param', 'code']
      expect(keysOf(await fim(GOOD_FIM, STRANGER))).toEqual(['error', 'message', ...ofMistral])
    })
  })

  test('The responses endpoint uses a different, nested envelope', async () => {
    const { text } = await responses({ ...GOOD_RESPONSES, store: true })
    expect(Object.keys(JSON.parse(text) as object)).toEqual(['error'])
    readNestedError(text)
  })
})

describe('Errors', () => {
  describe('Flat envelope (FIM endpoint and owned-models endpoint)', () => {
    test.each(FLAT)('%s | %i | %s', async (_endpoint, status, _cause, provoke) => {
      const answer = await provoke()
      expect(answer.status).toBe(status)
      expect(answer.type).toStartWith('application/json')
      expect(readFlatError(answer.text).error).toBe(CODES[status] ?? '')
    })

    test('500 shows no internals, and the next call is served', async () => {
      for (const [, status, , provoke] of FLAT) {
        if (status !== 500) continue
        const { text } = await provoke()
        expect(text).not.toMatch(/sql|table|TypeError|\.ts|undefined/i)
        expect(text).not.toContain(gatehouse.dataFolder)
      }
      upstream.answer(jsonAnswer(200, { choices: [] }))
      expect((await fim(GOOD_FIM)).status).toBe(200)
      expect((await patch({ displayName: 'House model' })).status).toBe(200)
    })
  })

  describe('Nested envelope (responses endpoint): an error object holding message, type, code and an optional param', () => {
    test.each([
      [
        'a field is to blame',
        400,
        () => responses({ model: 'gpt', input: 7 }),
        'invalid_type',
        'input',
      ],
      ['no field is to blame', 400, () => responses('{"model":'), 'invalid_json', null],
      ['the key is missing', 401, () => responses(GOOD_RESPONSES, ''), 'invalid_api_key', null],
      [
        'the key is unknown',
        401,
        () => responses(GOOD_RESPONSES, STRANGER),
        'invalid_api_key',
        null,
      ],
      [
        'the gateway failed',
        500,
        () => responses({ ...GOOD_RESPONSES, model: DAMAGED_GATE }),
        'internal_error',
        null,
      ],
    ] as const)('%s | %i', async (_, status, provoke, code, param) => {
      const answer = await provoke()
      expect(answer.status).toBe(status)
      expect(answer.type).toStartWith('application/json')
      const type = status === 500 ? 'server_error' : 'invalid_request_error'
      expect(readNestedError(answer.text)).toMatchObject({ type, code, param })
    })

    test.each([
      [
        'with all members, which passes byte for byte',
        '{ "error":{"message":"m","type":"t","code":null} }',
      ],
      [
        'without a type',
        '{"error":{"message":"m","code":"content_filter","innererror":{"a":1.0}}}',
      ],
      ['without a code', '{"error":{"message":"m","type":"t","param":"input"}}'],
      ['without a message', '{"error":{"type":"t","code":"c"}}'],
      [
        'with a message that is not a text',
        '{"error":{"message":{"detail":["m"]},"type":"t","code":"c"}}',
      ],
      ['in an array', '[{"error":{"message":"m","type":"t","code":"c"}}]'],
      ['whose error is a text', '{"error":"m"}'],
      ['of another form', '{"object":"error","message":"m","code":40301}'],
      ['that is not JSON', '<html>m</html>'],
      ['that is empty', ''],
    ])("holds of an upstream's own error too: one %s", async (name, body) => {
      upstream.answerOnce(jsonAnswer(400, body))
      const answer = await responses(GOOD_RESPONSES)
      expect(answer.status).toBe(400)
      const told = JSON.parse(answer.text) as { error: Readonly<Record<string, unknown>> }
      expect(told.error.message).toMatch(/\S/)
      expect(told.error.type).toMatch(/\S/)
      expect(told.error).toHaveProperty('code')
      const { error } = body.startsWith('{"error":{')
        ? (JSON.parse(body) as typeof told)
        : { error: {} }
      // Its own words are kept, except an unreadable message.
      for (const [member, value] of Object.entries(error))
        if (member !== 'message') expect(told.error[member]).toEqual(value)
      if (name.includes('byte for byte')) expect(answer.text).toBe(body)
    })

    test.each([
      [
        'BadRequestError',
        { model: 'gpt', input: 'hi', store: true },
        'unsupported_parameter',
        'store',
      ],
      ['InternalServerError', { model: DAMAGED_GATE, input: 'hi' }, 'internal_error', null],
    ] as const)('is read by the official SDK (%s)', async (name, body, code, param) => {
      const client = new OpenAI({
        baseURL: `${gatehouse.url}/v1`,
        apiKey: gatehouse.key,
        maxRetries: 0,
      })
      const error: unknown = await client.responses.create(body).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(OpenAI[name])
      expect(error).toMatchObject({ code, param, type: expect.any(String) })
    })
  })

  describe('Responses endpoint conditions that return 400', () => {
    test.each([
      ['store true', { store: true }, 'store'],
      ['previous_response_id present', { previous_response_id: 'resp_1' }, 'previous_response_id'],
      ['gate resolving to a non-matching provider', { model: 'codestral' }, 'model'],
    ])('%s', async (_, extra, param) => {
      const answer = await responses({ ...GOOD_RESPONSES, ...extra })
      expect(answer.status).toBe(400)
      expect(readNestedError(answer.text)).toMatchObject({ type: 'invalid_request_error', param })
      expect(upstream.requests).toBeEmpty()
    })
  })
})
