/**
 * When the server of an owned model refuses, a Messages caller gets the error in its own format:
 * such servers often have a single error format for all dialects.
 */
import { expect, test } from 'bun:test'
import { Secret } from '../../src/core/secret.ts'
import { ownedProvider } from '../../src/providers/owned.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { json, type Script } from '../support/scripted-upstream.ts'

async function refusedWith(script: Script) {
  const gateway = new InProcessGateway({
    gates: { gate: ['owned/mine'] },
    ownedModels: [
      {
        slug: 'mine',
        provider: ownedProvider('owned/mine', 'anthropic-messages', 'https://models.test'),
        model: 'm',
        credential: { secret: new Secret('planted-0123456789'), owner: 'account' },
      },
    ],
    upstream: [script],
  })
  const { status, text } = await gateway.ask({
    path: '/v1/messages',
    body: { model: 'gate', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] },
  })
  await gateway.assertNothingIsLeft()
  return { status, text }
}

const LOC = [{ type: 'missing', loc: ['body', 'max_tokens'], msg: 'Field required' }]

test.each<[string, number, unknown, number, string, string]>([
  [
    'vLLM, as it writes all errors',
    400,
    { error: { message: 'bad role', type: 'BadRequestError', param: null, code: 400 } },
    400,
    'invalid_request_error',
    'bad role',
  ],
  [
    'vLLM at its endpoint for Messages',
    404,
    { type: 'error', error: { type: 'NotFoundError', message: 'The model `m` does not exist.' } },
    404,
    'not_found_error',
    'The model `m` does not exist.',
  ],
  [
    'an older vLLM',
    404,
    { object: 'error', message: 'The model `m` does not exist.', type: 'NotFoundError', code: 404 },
    404,
    'not_found_error',
    'The model `m` does not exist.',
  ],
  [
    'llama.cpp',
    503,
    { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } },
    503,
    'overloaded_error',
    'Loading model',
  ],
  [
    'FastAPI in words',
    400,
    { detail: 'no such thing' },
    400,
    'invalid_request_error',
    'no such thing',
  ],
  ['FastAPI in a list', 422, { detail: LOC }, 422, 'invalid_request_error', JSON.stringify(LOC)],
  ['a nested error without words', 500, { error: { code: 7 } }, 502, 'api_error', 'HTTP 500'],
  [
    'half of the right form',
    400,
    { type: 'error', error: { message: 'no type' } },
    400,
    'invalid_request_error',
    'no type',
  ],
])(
  'the error of %s comes in Anthropic’s envelope',
  async (_, sent, body, status, type, message) => {
    const told = await refusedWith(json(sent, body))
    expect(told.status).toBe(status)
    expect(JSON.parse(told.text)).toEqual({
      type: 'error',
      error: { type, message: expect.stringContaining(message) },
    })
  },
)

test('an error that has the envelope already passes byte for byte', async () => {
  const body =
    '{"type":"error", "error":{"type":"invalid_request_error","message":"no","x":1.0},"request_id":"r"}'
  expect(await refusedWith(json(400, body))).toEqual({ status: 400, text: body })
})

test('a prompt that is too long begins as Anthropic’s clients look for it, whatever the server’s form', async () => {
  const said = 'This model has a maximum context length of 8 tokens.'
  const { status, text } = await refusedWith(
    json(400, { error: { message: said, type: 'BadRequestError' } }),
  )
  expect(status).toBe(400)
  expect(JSON.parse(text)).toEqual({
    type: 'error',
    error: { type: 'invalid_request_error', message: `prompt is too long: ${said}` },
  })
})
