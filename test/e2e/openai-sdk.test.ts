/**
 * The OpenAI SDK as published, versions 6 and 7, unmodified but for its base address, against the
 * sandbox.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type OpenAI from 'openai'
import { controlPlaneCall, createGate } from '../support/control-plane.ts'
import {
  alteredReplay,
  OPENAI_SCENARIOS,
  OPENAI_VERSIONS,
  type OpenAiScene,
} from '../support/openai-scenarios.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { toldFailure } from '../support/told-failure.ts'

// A test that outlasts its time has its server killed by the runner, and with it every test that
// follows.
setDefaultTimeout(180_000)

let gatehouse: Gatehouse
beforeAll(async () => {
  gatehouse = await startGatehouse({ sandbox: true })
  await createGate(gatehouse, 'plain', 'sandbox/echo')
  await createGate(gatehouse, 'thinker', 'sandbox/echo-reasoning')
  for (const fault of [
    '429',
    '500',
    '401',
    'cut-mid-stream',
    'error-mid-stream',
    'half-event',
    'html',
  ]) {
    await createGate(gatehouse, `fault-${fault}`, `sandbox/${fault}`)
  }
  await createGate(gatehouse, 'code', 'mistral/codestral-latest')
})
afterAll(() => gatehouse.remove())

async function caught(call: Promise<unknown>): Promise<unknown> {
  try {
    await call
  } catch (error) {
    return error
  }
  throw new Error('the call did not fail')
}

describe.each(OPENAI_VERSIONS)('%s', (_, Sdk) => {
  const connect = (apiKey: string): OpenAI =>
    new Sdk({ baseURL: `${gatehouse.url}/v1`, apiKey, maxRetries: 0 })
  const open = (): OpenAiScene => ({
    // maxRetries left at its default: an application does not set it either.
    client: new Sdk({ baseURL: `${gatehouse.url}/v1`, apiKey: gatehouse.key }),
    gate: 'plain',
    reasoningGate: 'thinker',
  })

  test.each(OPENAI_SCENARIOS)('%s', async (_name, scenario) => {
    await scenario(open())
  })

  test('responses.create on the gate that comes with the sandbox', async () => {
    const response = await open().client.responses.create({ model: 'demo', input: 'hello there' })
    expect(response.output_text).toBe('Sandbox echo: hello there')
  })

  test('the gate that comes with the sandbox takes the settings of any kind of model', async () => {
    const { client } = open()
    const ask = { model: 'demo', input: 'hello there' }
    const cooled = await client.responses.create({ ...ask, temperature: 0 })
    // Codex always asks for it.
    const sealed = await client.responses.create({
      ...ask,
      reasoning: { effort: 'low' },
      include: ['reasoning.encrypted_content'],
    })
    for (const { output_text } of [cooled, sealed])
      expect(output_text).toBe('Sandbox echo: hello there')
  })

  test('models.list names the gates', async () => {
    const ids: string[] = []
    for await (const model of open().client.models.list()) ids.push(model.id)
    expect(ids).toContain('plain')
    expect(ids).toContain('demo')
  })

  test('models.retrieve finds a gate by an alias with a slash, and so does a call', async () => {
    const body = { aliases: ['openai/gpt-4.1'], facts: { contextTokens: 5_000 } }
    await controlPlaneCall(gatehouse, 'PATCH', '/v1/gates/demo', body)
    const { client } = open()
    expect(await client.models.retrieve('openai/gpt-4.1')).toMatchObject({
      id: 'openai/gpt-4.1',
      context_length: 5_000,
    })
    const { output_text } = await client.responses.create({ model: 'openai/gpt-4.1', input: 'hi' })
    expect(output_text).toBe('Sandbox echo: hi')
  })

  test('an altered ciphertext is refused', async () => {
    expect(await caught(alteredReplay(open()))).toMatchObject({
      status: 400,
      code: 'invalid_encrypted_content',
    })
  })

  test('a model that does not reason gets no request for encrypted reasoning', async () => {
    const response = await open().client.responses.create({ model: 'plain', input: 'hi' })
    expect(response.output.map((item) => item.type)).toEqual(['message'])
  })

  test('401 is an AuthenticationError', async () => {
    const client = connect(`sk-svc-${'0'.repeat(64)}`)
    const error = await caught(client.responses.create({ model: 'plain', input: 'hi' }))
    expect(error).toBeInstanceOf(Sdk.AuthenticationError)
    expect(error).toMatchObject({
      status: 401,
      code: 'invalid_api_key',
      type: 'invalid_request_error',
    })
  })

  test.each([
    ['store', { store: true }],
    ['previous_response_id', { previous_response_id: 'resp_1' }],
    ['background', { background: true }],
    ['conversation', { conversation: 'conv_1' }],
  ])('400 is a BadRequestError with its param (%s)', async (param, extra) => {
    const error = await caught(
      connect(gatehouse.key).responses.create({ model: 'plain', input: 'hi', ...extra }),
    )
    expect(error).toBeInstanceOf(Sdk.BadRequestError)
    expect(error).toMatchObject({ status: 400, param, requestID: expect.stringMatching(/^req_/) })
  })

  test('an item_reference is a BadRequestError that names the remedy', async () => {
    const error = await caught(
      connect(gatehouse.key).responses.create({
        model: 'plain',
        input: [
          { type: 'item_reference', id: 'msg_1' },
          { role: 'user', content: 'hi' },
        ],
      }),
    )
    expect(error).toBeInstanceOf(Sdk.BadRequestError)
    expect(String(error)).toContain('providerOptions.openai.store')
  })

  test('a gate of another provider is a BadRequestError on responses', async () => {
    const error = await caught(
      connect(gatehouse.key).responses.create({ model: 'code', input: 'hi' }),
    )
    expect(error).toBeInstanceOf(Sdk.BadRequestError)
  })

  test('an unknown gate is a NotFoundError', async () => {
    const messages = [{ role: 'user' as const, content: 'hi' }]
    for (const call of [
      () => connect(gatehouse.key).responses.create({ model: 'nobody', input: 'hi' }),
      () => connect(gatehouse.key).chat.completions.create({ model: 'nobody', messages }),
    ]) {
      const error = await caught(call())
      expect(error).toBeInstanceOf(Sdk.NotFoundError)
      expect(error).toMatchObject({ code: 'model_not_found' })
    }
  })

  test.each<[string, (client: OpenAI) => Promise<unknown>]>([
    ['images.generate', (client) => client.images.generate({ prompt: 'x' })],
    [
      'audio.speech',
      (client) => client.audio.speech.create({ model: 'm', voice: 'alloy', input: 'x' }),
    ],
    ['moderations', (client) => client.moderations.create({ input: 'x' })],
    ['files', async (client) => await client.files.list()],
    ['batches', async (client) => await client.batches.list()],
    ['vector stores', async (client) => await client.vectorStores.list()],
    ['fine-tuning', async (client) => await client.fineTuning.jobs.list()],
    ['completions', (client) => client.completions.create({ model: 'plain', prompt: 'x' })],
    ['conversations', (client) => client.conversations.create({})],
  ])('%s, which is not offered, is a NotFoundError in words', async (_name, call) => {
    const error = await caught(call(connect(gatehouse.key)))
    expect(error).toBeInstanceOf(Sdk.NotFoundError)
    expect(error).toMatchObject({
      code: 'not_found',
      type: 'invalid_request_error',
      message: expect.stringContaining('This endpoint is not supported, and the gateway stores no'),
    })
  })

  test.each([
    ['', '/v1/chat/completions'],
    ['/openai/v1', '/v1/chat/completions'],
    ['/v1/v1', '/v1/chat/completions'],
    ['/v1/chat/completions', '/v1/chat/completions'],
  ])('a base address that ends in %p is named with the right one', async (base, endpoint) => {
    const client = new Sdk({ apiKey: 'any', baseURL: `${gatehouse.url}${base}`, maxRetries: 0 })
    const error = await caught(client.chat.completions.create({ model: 'plain', messages: [] }))
    expect(error).toBeInstanceOf(Sdk.NotFoundError)
    expect(error).toMatchObject({
      code: 'not_found',
      message: expect.stringContaining(`This endpoint is at ${endpoint}`),
    })
  })

  test.each([
    ['a key that is not known', 'plain', `sk-svc-${'0'.repeat(64)}`, 401],
    ['a credential that the provider refuses', 'fault-401', undefined, 502],
    ['a provider without a credential', 'code', undefined, 502],
  ])('%s is asked for once', async (_case, gate, key, status) => {
    let requests = 0
    const client = new Sdk({
      baseURL: `${gatehouse.url}/v1`,
      apiKey: key ?? gatehouse.key,
      fetch: (...request) => {
        requests += 1
        return fetch(...request)
      },
    })
    const question = { model: gate, messages: [{ role: 'user' as const, content: 'Hi' }] }
    expect(await caught(client.chat.completions.create(question))).toMatchObject({ status })
    expect(requests).toBe(1)
  })

  test('429 is a RateLimitError, a failed upstream an InternalServerError', async () => {
    const client = connect(gatehouse.key)
    const limited = await caught(client.responses.create({ model: 'fault-429', input: 'hi' }))
    expect(limited).toBeInstanceOf(Sdk.RateLimitError)
    for (const model of ['fault-500', 'fault-html', 'fault-401']) {
      const failed = await caught(client.responses.create({ model, input: 'hi' }))
      expect(failed).toBeInstanceOf(Sdk.InternalServerError)
      expect(failed).toMatchObject({ status: 502 })
    }
  })

  describe.each(['cut-mid-stream', 'error-mid-stream', 'half-event'])(
    'a stream that breaks (%s)',
    (fault) => {
      const gate = `fault-${fault}`
      const input = 'repeat 50 words'

      test('raises from raw responses events', async () => {
        const seen: string[] = []
        const read = async (): Promise<void> => {
          for await (const event of await connect(gatehouse.key).responses.create({
            model: gate,
            input,
            stream: true,
          })) {
            seen.push(event.type)
          }
        }
        expect(await toldFailure(read)).toBeInstanceOf(Sdk.APIError)
        expect(seen).not.toContain('response.completed')
      })

      test('raises from the responses.stream helper', async () => {
        expect(
          await caught(
            connect(gatehouse.key).responses.stream({ model: gate, input }).finalResponse(),
          ),
        ).toBeInstanceOf(Error)
      })

      test('raises from raw chat chunks', async () => {
        const read = async (): Promise<void> => {
          const stream = await connect(gatehouse.key).chat.completions.create({
            model: gate,
            messages: [{ role: 'user', content: input }],
            stream: true,
          })
          for await (const chunk of stream) expect(chunk).not.toHaveProperty('usage')
        }
        expect(await toldFailure(read)).toBeInstanceOf(Sdk.APIError)
      })
    },
  )

  test('an aborted stream just ends', async () => {
    const stream = await open().client.responses.create({
      model: 'demo',
      input: 'repeat 5000 words',
      stream: true,
    })
    let events = 0
    for await (const _event of stream) {
      events++
      if (events === 3) break
    }
    expect(events).toBe(3)
  })
})
