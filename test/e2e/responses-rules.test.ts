/** The rules of the responses endpoint, seen from both sides of the gateway. */
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
import { RESPONSES_JSON, RESPONSES_STREAM, RESPONSES_USAGE } from '../support/dialect-samples.ts'
import { type NestedError, readNestedError } from '../support/envelopes.ts'
import type { RawAnswer } from '../support/raw-client.ts'
import { sendRaw } from '../support/raw-client.ts'
import {
  openRawScene,
  PLANTED_OPENAI_KEY,
  type RawScene,
  RESPONSES,
  withoutMember,
} from '../support/raw-scene.ts'
import { jsonAnswer, streamAnswer } from '../support/scripted-answers.ts'

// A test that outlasts its time has its server killed by the runner, and with it every test that
// follows.
setDefaultTimeout(180_000)

let scene: RawScene
beforeAll(async () => {
  scene = await openRawScene({
    gates: {
      gpt5: 'openai/gpt-5',
      o3: 'openai/o3',
      gpt4o: 'openai/gpt-4o',
      codestral: 'mistral/codestral-latest',
      mixed: ['mistral/mistral-large-latest', 'openai/gpt-5'],
    },
  })
})
afterAll(() => scene.close())
beforeEach(() => {
  scene.upstream.reset()
  scene.upstream.answer(jsonAnswer(200, RESPONSES_JSON))
})

const send = (body: unknown, headers?: Record<string, string>): Promise<RawAnswer> =>
  scene.post(RESPONSES, body, headers)

function sent(): Record<string, unknown> {
  return JSON.parse(scene.upstream.last().text) as Record<string, unknown>
}

async function refused(body: unknown, param: string): Promise<NestedError> {
  const answer = await send(body)
  const error = readNestedError(answer.text)
  expect(answer.status).toBe(400)
  expect(error).toMatchObject({ type: 'invalid_request_error', param })
  expect(scene.upstream.requests).toBeEmpty()
  return error
}

const STREAM_BODY = { model: 'gpt5', input: 'hi', stream: true }

describe('store', () => {
  test('store: true is refused with 400 and names the field', async () => {
    await refused({ model: 'gpt5', input: 'hi', store: true }, 'store')
  })

  test('store: true is refused in any spelling of the key', async () => {
    await refused('{"model":"gpt5","input":"hi","st\\u006fre":true}', 'store')
  })

  test.each([
    ['absent', {}],
    ['null', { store: null }],
    ['false', { store: false }],
  ])('store %s is accepted, and the upstream gets store: false', async (_, extra) => {
    expect((await send({ model: 'gpt4o', input: 'hi', ...extra })).status).toBe(200)
    expect(sent().store).toBe(false)
    expect(scene.upstream.last().text.match(/"store"/g)).toHaveLength(1)
  })

  test.each([['yes'], [1], [[]], [{}]])('store of a wrong type (%p) is refused', async (store) => {
    await refused({ model: 'gpt5', input: 'hi', store }, 'store')
  })
})

describe('state that a stateless service cannot store', () => {
  test('previous_response_id with a value is refused', async () => {
    const error = await refused(
      { model: 'gpt5', input: 'hi', previous_response_id: 'resp_1' },
      'previous_response_id',
    )
    expect(error.message).toContain('input')
  })

  test('previous_response_id: "" is refused', async () => {
    await refused({ model: 'gpt5', input: 'hi', previous_response_id: '' }, 'previous_response_id')
  })

  test('previous_response_id: null is accepted', async () => {
    expect((await send({ model: 'gpt5', input: 'hi', previous_response_id: null })).status).toBe(
      200,
    )
  })

  test.each([
    ['conversation', 'conv_1'],
    ['conversation', { id: 'conv_1' }],
    ['background', true],
    ['prompt', { id: 'pmpt_1' }],
  ])('%s %p is refused', async (field, value) => {
    await refused({ model: 'gpt5', input: 'hi', [field]: value }, field)
  })

  test.each([
    ['conversation', null],
    ['background', false],
    ['background', null],
    ['prompt', null],
  ])('%s %p has no effect and is accepted', async (field, value) => {
    expect((await send({ model: 'gpt5', input: 'hi', [field]: value })).status).toBe(200)
  })

  test.each([
    ['plain', '{"type":"item_reference","id":"rs_1"}'],
    ['escaped type', '{"type":"item\\u005freference","id":"rs_1"}'],
    ['escaped key', '{"t\\u0079pe":"item_reference","id":"rs_1"}'],
    ['id first', '{"id":"rs_1" , "type" : "item_reference"}'],
  ])('an item_reference (%s) is refused with the remedy', async (_, item) => {
    const answer = await send(`{"model":"gpt5","input":[{"role":"user","content":"hi"},${item}]}`)
    const error = readNestedError(answer.text)
    expect(answer.status).toBe(400)
    expect(error.param).toStartWith('input')
    expect(error.message).toContain('providerOptions.openai.store')
    expect(scene.upstream.requests).toBeEmpty()
  })

  test('the words item_reference inside a prompt are harmless', async () => {
    const answer = await send({
      model: 'gpt5',
      input: [{ role: 'user', content: 'what is {"type":"item_reference"}?' }],
    })
    expect(answer.status).toBe(200)
  })
})

describe('encrypted reasoning', () => {
  test.each(['gpt5', 'o3'])('is requested on behalf of the client (%s)', async (gate) => {
    await send({ model: gate, input: 'hi' })
    expect(sent().include).toEqual(['reasoning.encrypted_content'])
  })

  test('is added to the client’s own include', async () => {
    await send({ model: 'gpt5', input: 'hi', include: ['message.output_text.logprobs'] })
    expect(sent().include).toEqual(['message.output_text.logprobs', 'reasoning.encrypted_content'])
  })

  test.each([[[]], [null]])('is requested beside include: %p', async (include) => {
    await send({ model: 'gpt5', input: 'hi', include })
    expect(sent().include).toEqual(['reasoning.encrypted_content'])
  })

  test('is not requested twice', async () => {
    await send({ model: 'gpt5', input: 'hi', include: ['reasoning.encrypted_content'] })
    expect(sent().include).toEqual(['reasoning.encrypted_content'])
  })

  test('is not requested from a model that does not reason', async () => {
    await send({ model: 'gpt4o', input: 'hi' })
    expect(sent()).not.toHaveProperty('include')
    await send({ model: 'gpt4o', input: 'hi', include: ['message.output_text.logprobs'] })
    expect(sent().include).toEqual(['message.output_text.logprobs'])
  })

  test('passes to the upstream unchanged when replayed', async () => {
    const items =
      '[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA\\u0042+/=="},{"type":"function_call","call_id":"c1","name":"f","arguments":"{\\"a\\":1}"},{"type":"function_call_output","call_id":"c1","output":"{}"}]'
    await send(`{"model":"gpt5","input":${items}}`)
    expect(scene.upstream.last().text).toContain(`"input":${items}`)
  })

  test('an include of a wrong type is refused', async () => {
    await refused({ model: 'gpt5', input: 'hi', include: 'reasoning.encrypted_content' }, 'include')
  })
})

describe('routing', () => {
  test('the gate id in model becomes the model of the target', async () => {
    await send({ model: 'gpt5', input: 'hi' })
    expect(sent().model).toBe('gpt-5')
    expect(scene.upstream.last()).toMatchObject({ method: 'POST', path: '/v1/responses' })
    expect(scene.upstream.last().headers.authorization).toBe(`Bearer ${PLANTED_OPENAI_KEY}`)
  })

  test('a gate to another provider is refused with 400', async () => {
    const error = await refused({ model: 'codestral', input: 'hi' }, 'model')
    expect(error.message).toContain('/v1/chat/completions')
  })

  test('an unknown gate is 404 model_not_found', async () => {
    const answer = await send({ model: 'nobody', input: 'hi' })
    expect(answer.status).toBe(404)
    expect(readNestedError(answer.text)).toMatchObject({ code: 'model_not_found' })
  })

  test('a WebSocket upgrade is answered 426 at once', async () => {
    const answer = await sendRaw(scene.gatehouse.url, {
      method: 'GET',
      path: RESPONSES,
      headers: {
        authorization: `Bearer ${scene.gatehouse.key}`,
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      },
    })
    expect(answer.status).toBe(426)
    readNestedError(answer.text)
  })
})

describe('bytes', () => {
  const ODD = `{ "zeta" :\t[1.0e+2, -0, 12345678901234567890],"input":"h\\u00e9\\/ \u{1F600} \\ud83d\\ude00","unknown":{"b":1,"a":{"model":"gpt5","store":true}} ,\n"store": false, "include":["reasoning.encrypted_content"],
 "mod\\u0065l"  :  "gpt5" ,"metadata":{"n":1E400}, "tools":[ ] }`

  test('of a request reach the upstream identical except for the model', async () => {
    expect((await send(ODD)).status).toBe(200)
    expect(scene.upstream.last().text).toBe(ODD.replace(':  "gpt5"', ':  "gpt-5"'))
  })

  test('of other members stay when the members ordered by the spec are added', async () => {
    const body = '{"input" : "a\\u0062","model":"gpt5","big":12345678901234567890,"z":{ }}'
    await send(body)
    const upstreamBody = withoutMember(
      withoutMember(scene.upstream.last().text, '"store":false'),
      '"include":["reasoning.encrypted_content"]',
    )
    expect(upstreamBody).toBe(body.replace('"gpt5"', '"gpt-5"'))
  })

  test('of unknown items, tools and settings pass unchanged', async () => {
    const body =
      '{"model":"gpt5","store":false,"include":["reasoning.encrypted_content"],"input":[{"type":"unheard_of","x":1}],"tools":[{"type":"namespace","name":"n"},{"type":"web_search"}],"client_metadata":{"a":"b"},"prompt_cache_key":"k","context_management":[]}'
    await send(body)
    expect(scene.upstream.last().text).toBe(body.replace('"gpt5"', '"gpt-5"'))
  })

  test('of a large body pass unchanged', async () => {
    const input = 'x\\n\u{1F600}'.repeat(150_000)
    const body = `{"input":"${input}","store":false,"include":["reasoning.encrypted_content"],"model":"gpt5"}`
    expect((await send(body)).status).toBe(200)
    expect(scene.upstream.last().text === body.replace('"gpt5"', '"gpt-5"')).toBeTrue()
  })

  test('of a JSON answer come back unchanged', async () => {
    const answer = await send({ model: 'gpt5', input: 'hi' })
    expect(answer).toMatchObject({ status: 200, text: RESPONSES_JSON, complete: true })
    expect(answer.headers['content-type']).toStartWith('application/json')
  })

  test('of a stream come back unchanged, unknown events too, and [DONE] ends it', async () => {
    scene.upstream.answer(streamAnswer(RESPONSES_STREAM))
    const answer = await send(STREAM_BODY)
    expect(answer).toMatchObject({ status: 200, complete: true })
    expect(answer.headers['content-type']).toStartWith('text/event-stream')
    expect(answer.text.replace(/data: \[DONE\]\n\n$/, '')).toBe(RESPONSES_STREAM.join(''))
  })

  test('body.stream decides on streaming, never Accept', async () => {
    scene.upstream.answer(streamAnswer(RESPONSES_STREAM))
    const answer = await send(STREAM_BODY, { accept: 'application/json' })
    expect(answer.headers['content-type']).toStartWith('text/event-stream')
    scene.upstream.answer(jsonAnswer(200, RESPONSES_JSON))
    const json = await send({ model: 'gpt5', input: 'hi' }, { accept: 'text/event-stream' })
    expect(json.text).toBe(RESPONSES_JSON)
  })
})

test('response.incomplete is a whole answer', async () => {
  const incomplete = RESPONSES_STREAM.map((event) => event.replaceAll('completed', 'incomplete'))
  scene.upstream.answer(streamAnswer(incomplete))
  const answer = await send(STREAM_BODY)
  expect(answer.complete).toBeTrue()
  expect(answer.text).not.toContain('response.failed')
  expect(await waitForLogRow(scene.gatehouse, answer.headers['x-request-id'])).toMatchObject({
    outcome: 'succeeded',
    usage: RESPONSES_USAGE,
  })
})
