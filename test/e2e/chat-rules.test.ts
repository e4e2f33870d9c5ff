/**
 * The rules of the chat endpoints, seen from both sides of the gateway: what the upstream is sent
 * and what the client gets.
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
import { waitForLogRow } from '../support/control-plane.ts'
import {
  CHAT_JSON,
  CHAT_STREAM,
  CHAT_STREAM_WITH_USAGE,
  FIM_STREAM,
  FIM_USAGE,
  RESPONSES_USAGE,
} from '../support/dialect-samples.ts'
import { readFlatError, readNestedError } from '../support/envelopes.ts'
import { ALT_CHAT, CHAT, openRawScene, type RawScene, withoutMember } from '../support/raw-scene.ts'
import { jsonAnswer, streamAnswer } from '../support/scripted-answers.ts'

// A test that outlasts its time has its server killed by the runner, and with it every test that
// follows.
setDefaultTimeout(180_000)

let scene: RawScene
beforeAll(async () => {
  scene = await openRawScene({
    gates: {
      support: 'openai/gpt-4o',
      'gpt-4o': 'openai/gpt-4o-mini',
      large: 'mistral/mistral-large-latest',
    },
  })
})
afterAll(() => scene.close())
beforeEach(() => {
  scene.upstream.reset()
  scene.upstream.answer(jsonAnswer(200, CHAT_JSON))
})

const MESSAGES = '"messages":[{"role":"user","content":"hi"}]'
const STREAM_BODY = `{"gate_id":"support","stream":true,${MESSAGES}}`

function sent(): Record<string, unknown> {
  return JSON.parse(scene.upstream.last().text) as Record<string, unknown>
}

describe('gate_id and model', () => {
  test('gate_id routes, and is not sent upstream', async () => {
    const answer = await scene.post(CHAT, `{"gate_id":"support",${MESSAGES}}`)
    expect(answer.status).toBe(200)
    expect(sent()).toEqual({ model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }] })
    expect(answer.headers).not.toHaveProperty('x-gatehouse-ignored')
  })

  test('model routes without a gate_id', async () => {
    await scene.post(CHAT, `{"model":"support",${MESSAGES}}`)
    expect(sent().model).toBe('gpt-4o')
  })

  test('gate_id overrides model, and the ignored model is named', async () => {
    const answer = await scene.post(CHAT, `{"model":"gpt-4o","gate_id":"support",${MESSAGES}}`)
    expect(answer.headers['x-gatehouse-ignored']).toBe('model')
    expect(sent()).toEqual({ model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }] })
    expect(await waitForLogRow(scene.gatehouse, answer.headers['x-request-id'])).toMatchObject({
      gateId: 'support',
    })
  })

  test('a model equal to gate_id is not named', async () => {
    const answer = await scene.post(CHAT, `{"model":"support","gate_id":"support",${MESSAGES}}`)
    expect(answer.headers).not.toHaveProperty('x-gatehouse-ignored')
    expect(sent()).not.toHaveProperty('gate_id')
  })

  test('an escaped gate_id key routes too', async () => {
    await scene.post(CHAT, `{"g\\u0061te_id":"support",${MESSAGES}}`)
    expect(sent()).toEqual({ model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }] })
  })

  test('gate ids are case-sensitive', async () => {
    expect((await scene.post(CHAT, `{"gate_id":"Support",${MESSAGES}}`)).status).toBe(404)
  })

  test('both missing is a 400 that names model', async () => {
    const answer = await scene.post(CHAT, `{${MESSAGES}}`)
    expect(answer.status).toBe(400)
    expect(readNestedError(answer.text).param).toBe('model')
  })

  test('a gate without a target of the alternate format is a 400 under /alt', async () => {
    const answer = await scene.post(ALT_CHAT, `{"model":"support",${MESSAGES}}`)
    expect(answer.status).toBe(400)
    expect(readFlatError(answer.text).error).toBe('invalid_request')
    expect(scene.upstream.requests).toBeEmpty()
  })
})

describe('bytes', () => {
  test('of a request reach the upstream identical except for the model', async () => {
    const body = `{ "zeta" :\t[1.0e+2, -0, 12345678901234567890],"messages":[{"role":"user","content":"h\\u00e9\\/ \u{1F600} \\ud83d\\ude00"}],"unknown":{"b":1,"a":{"model":"x","gate_id":"y"}} ,\n "mod\\u0065l"  :  "support" , "n":1.50 }`
    expect((await scene.post(CHAT, body)).status).toBe(200)
    expect(scene.upstream.last().text).toBe(body.replace(':  "support"', ':  "gpt-4o"'))
  })

  test('with store: true pass, as storing is the provider’s matter here', async () => {
    await scene.post(CHAT, `{"model":"support","store":true,${MESSAGES}}`)
    expect(sent().store).toBe(true)
  })
})

describe('usage of a stream', () => {
  test('is requested upstream, counted, and hidden from a client that did not ask', async () => {
    scene.upstream.answer(streamAnswer(CHAT_STREAM_WITH_USAGE))
    const answer = await scene.post(CHAT, STREAM_BODY)
    expect(sent().stream_options).toEqual({ include_usage: true })
    expect(answer.text).not.toContain('usage')
    expect(answer.text).toBe(CHAT_STREAM.join(''))
    expect(answer.complete).toBeTrue()
    expect(await waitForLogRow(scene.gatehouse, answer.headers['x-request-id'])).toMatchObject({
      outcome: 'succeeded',
      usage: RESPONSES_USAGE,
    })
  })

  test.each([
    ['false', '{"include_usage":false}', { include_usage: true }],
    ['null', 'null', { include_usage: true }],
    [
      'beside other options',
      '{"include_obfuscation":false}',
      { include_obfuscation: false, include_usage: true },
    ],
  ])('is hidden with stream_options %s, which pass otherwise', async (_, options, expected) => {
    scene.upstream.answer(streamAnswer(CHAT_STREAM_WITH_USAGE))
    const answer = await scene.post(
      CHAT,
      `{"model":"support","stream":true,"stream_options":${options},${MESSAGES}}`,
    )
    expect(sent().stream_options).toEqual(expected)
    expect(answer.text).toBe(CHAT_STREAM.join(''))
  })

  test('is shown byte for byte to a client that asked', async () => {
    scene.upstream.answer(streamAnswer(CHAT_STREAM_WITH_USAGE))
    const body = `{"model":"support","stream":true,"stream_options":{ "include_usage" : true },${MESSAGES}}`
    const answer = await scene.post(CHAT, body)
    expect(scene.upstream.last().text).toBe(body.replace('"support"', '"gpt-4o"'))
    expect(answer.text).toBe(CHAT_STREAM_WITH_USAGE.join(''))
    expect(await waitForLogRow(scene.gatehouse, answer.headers['x-request-id'])).toMatchObject({
      usage: RESPONSES_USAGE,
    })
  })

  test('is requested without any other change of the body', async () => {
    scene.upstream.answer(streamAnswer(CHAT_STREAM_WITH_USAGE))
    const body = `{"z" : 1.0,"model":"support","stream":true,${MESSAGES}}`
    await scene.post(CHAT, body)
    expect(
      withoutMember(scene.upstream.last().text, '"stream_options":{"include_usage":true}'),
    ).toBe(body.replace('"support"', '"gpt-4o"'))
  })

  test('is hidden however the stream is cut into packets', async () => {
    const bytes = Buffer.from(CHAT_STREAM_WITH_USAGE.join(''))
    scene.upstream.answer(streamAnswer(Array.from(bytes, (byte) => Uint8Array.of(byte))))
    const answer = await scene.post(CHAT, STREAM_BODY)
    expect(answer.text).toBe(CHAT_STREAM.join(''))
  })

  test('in a chunk with choices is counted and removed, and the chunk stays', async () => {
    const last = 'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]'
    const usage = ',"usage":{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18}'
    scene.upstream.answer(streamAnswer([`${last}${usage}}\n\n`, 'data: [DONE]\n\n']))
    const answer = await scene.post(CHAT, STREAM_BODY)
    expect(answer.text).toBe(`${last}}\n\ndata: [DONE]\n\n`)
    expect(await waitForLogRow(scene.gatehouse, answer.headers['x-request-id'])).toMatchObject({
      usage: { inputTokens: 11, outputTokens: 7 },
    })
  })

  test('is not removed from text that contains the word', async () => {
    const event =
      'data: {"id":"c","choices":[{"index":0,"delta":{"content":"\\"usage\\":null"},"finish_reason":null}]}\n\n'
    scene.upstream.answer(streamAnswer([event, ...CHAT_STREAM_WITH_USAGE]))
    const answer = await scene.post(CHAT, STREAM_BODY)
    expect(answer.text).toBe(event + CHAT_STREAM.join(''))
  })

  test('is not requested for a call without streaming', async () => {
    await scene.post(CHAT, `{"model":"support","stream":false,${MESSAGES}}`)
    expect(sent()).not.toHaveProperty('stream_options')
  })

  test('comes unasked in the alternate chat format, and is shown', async () => {
    scene.upstream.answer(streamAnswer(FIM_STREAM))
    const answer = await scene.post(ALT_CHAT, `{"model":"large","stream":true,${MESSAGES}}`)
    expect(sent()).not.toHaveProperty('stream_options')
    expect(answer.text).toBe(FIM_STREAM.join(''))
    expect(await waitForLogRow(scene.gatehouse, answer.headers['x-request-id'])).toMatchObject({
      usage: FIM_USAGE,
    })
  })
})

describe('streams', () => {
  test('comments and odd line ends pass', async () => {
    const stream = `: ping\n\n${CHAT_STREAM.join('').replaceAll('\n', '\r\n')}`
    scene.upstream.answer(streamAnswer([stream]))
    const body = `{"model":"support","stream":true,"stream_options":{"include_usage":true},${MESSAGES}}`
    expect((await scene.post(CHAT, body)).text).toBe(stream)
  })

  test("an upstream's error event passes through, and the call has failed", async () => {
    const pieces = [
      ...CHAT_STREAM.slice(0, 2),
      'data: {"error":{"message":"boom","type":"server_error","code":null}}\n\n',
    ]
    scene.upstream.answer(streamAnswer([...pieces, 'data: [DONE]\n\n']))
    const answer = await scene.post(CHAT, STREAM_BODY)
    expect(answer.text).toStartWith(pieces.join(''))
    expect(await waitForLogRow(scene.gatehouse, answer.headers['x-request-id'])).toMatchObject({
      outcome: 'failed',
    })
  })
})
