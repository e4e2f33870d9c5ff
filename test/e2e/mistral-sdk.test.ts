/** The Mistral SDK as published, unmodified but for its server address, against the sandbox. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { Mistral } from '@mistralai/mistralai'
import { createGate } from '../support/control-plane.ts'
import { readMistralError } from '../support/envelopes.ts'
import { MISTRAL_SCENARIOS } from '../support/mistral-scenarios.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

// A test that outlasts its time has its server killed by the runner, and with it every test that
// follows.
setDefaultTimeout(180_000)

let gatehouse: Gatehouse
beforeAll(async () => {
  gatehouse = await startGatehouse({ sandbox: true })
  await createGate(gatehouse, 'codestral', 'sandbox/codestral')
  await createGate(gatehouse, 'chat', 'sandbox/echo')
  await createGate(gatehouse, 'not-fim', 'openai/gpt-4o')
  for (const fault of [
    '429',
    '500',
    '422',
    '401',
    'cut-mid-stream',
    'error-mid-stream',
    'half-event',
  ]) {
    await createGate(gatehouse, `fault-${fault}`, `sandbox/${fault}`)
  }
})
afterAll(() => gatehouse.remove())

const connect = (apiKey = gatehouse.key, serverURL = `${gatehouse.url}/alt`): Mistral =>
  new Mistral({ apiKey, serverURL })

const FIM = { prompt: 'def add(a, b):', suffix: 'return result' }

async function caught(call: Promise<unknown>): Promise<unknown> {
  try {
    await call
  } catch (error) {
    return error
  }
  throw new Error('the call did not fail')
}

test.each(MISTRAL_SCENARIOS)('%s', async (_name, scenario) => {
  await scenario({ client: connect(), fimGate: 'codestral', chatGate: 'chat' })
})

test('a slash at the end of serverURL changes nothing', async () => {
  const client = connect(gatehouse.key, `${gatehouse.url}/alt/`)
  const completion = await client.fim.complete({ model: 'codestral', ...FIM })
  expect(completion.choices?.[0]?.message?.content).toBeTruthy()
})

test('a serverURL without its /alt is named with the right address', async () => {
  const error = await caught(connect('any', gatehouse.url).fim.complete({ model: 'any', ...FIM }))
  expect(error).toMatchObject({
    statusCode: 404,
    message: expect.stringContaining('This endpoint is at /alt/v1/fim/completions'),
  })
})

test('models.list names the gates, and which of them fill in the middle', async () => {
  const { data = [] } = await connect().models.list()
  const found = new Map(data.map((model) => [(model as { id: string }).id, model]))
  expect(found.get('codestral')).toMatchObject({ capabilities: { completionFim: true } })
  expect(found.get('not-fim')).toMatchObject({ capabilities: { completionFim: false } })
})

test('a model has its context, its abilities and its other names, and is found by an alias', async () => {
  await createGate(gatehouse, 'described', 'sandbox/echo', {
    aliases: ['mistral/large:3'],
    facts: { contextTokens: 64_000, inputModalities: ['text', 'image'], reasoningEfforts: [] },
  })
  const model = await connect().models.retrieve({ modelId: 'mistral/large:3' })
  expect(model).toMatchObject({
    id: 'mistral/large:3',
    maxContextLength: 64_000,
    aliases: ['described'],
    capabilities: { vision: true, audio: false, reasoning: false },
  })
  const answer = await connect().chat.complete({
    model: 'mistral/large:3',
    messages: [{ role: 'user', content: 'hi' }],
  })
  expect(answer.choices[0]?.message?.content).toBe('Sandbox echo: hi')
})

describe('errors carry the status and the flat envelope', () => {
  test.each([
    ['a wrong key', 401, 'unauthorized', () => connect(`sk-svc-${'0'.repeat(64)}`), 'codestral'],
    ['an unknown gate', 404, 'gate_not_found', connect, 'nobody'],
    ['a gate without fill-in-the-middle', 400, 'invalid_request', connect, 'not-fim'],
    ['an upstream 429', 429, 'upstream_error', connect, 'fault-429'],
    ['an upstream 500', 502, 'upstream_error', connect, 'fault-500'],
    ['an upstream 401', 502, 'provider_auth_failed', connect, 'fault-401'],
    ['an upstream 422', 400, 'upstream_error', connect, 'fault-422'],
  ] as const)('%s', async (_name, status, code, client, model) => {
    for (const call of [
      () => client().fim.complete({ model, ...FIM }),
      () => client().fim.stream({ model, ...FIM }),
    ]) {
      const error = await caught(call())
      expect(error).toMatchObject({ statusCode: status })
      const body = readMistralError((error as { body: string }).body)
      expect(body.error).toBe(code)
    }
  })
})

describe.each(['cut-mid-stream', 'error-mid-stream', 'half-event'])(
  'a stream that breaks (%s) raises',
  (fault) => {
    const model = `fault-${fault}`

    test('from fim.stream', async () => {
      const read = async (): Promise<void> => {
        for await (const event of await connect().fim.stream({ model, prompt: 'repeat 50 words' }))
          void event
      }
      expect(await caught(read())).toBeInstanceOf(Error)
    })

    test('from chat.stream', async () => {
      const read = async (): Promise<void> => {
        const messages = [{ role: 'user' as const, content: 'repeat 50 words' }]
        for await (const event of await connect().chat.stream({ model, messages })) void event
      }
      expect(await caught(read())).toBeInstanceOf(Error)
    })
  },
)
