/**
 * A gate's `adapt` on relayed requests: optional members that the target's model refuses are left
 * out after its 400 (`retry`), or at once where the provider's data names them (`on`).
 */
import { describe, expect, test } from 'bun:test'
import type { AdaptMode } from '../../src/core/gate.ts'
import { CallCounters } from '../../src/telemetry/call-counters.ts'
import { CHAT_JSON, MESSAGES_JSON } from '../support/dialect-samples.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { json, type Script } from '../support/scripted-upstream.ts'

const CHAT = '/v1/chat/completions'
const refusal = (param: string, message: string): Script =>
  json(400, {
    error: { message, type: 'invalid_request_error', param, code: 'unsupported_parameter' },
  })
const NO_TEMPERATURE = refusal(
  'temperature',
  "Unsupported value: 'temperature' does not support 0.2 with this model.",
)
const OK = json(200, CHAT_JSON)

function start(adapt: AdaptMode, target: string, upstream: readonly Script[]): InProcessGateway {
  return new InProcessGateway({ gates: { g: { targets: [{ model: target }], adapt } }, upstream })
}

async function ask(gateway: InProcessGateway, members: object, headers = {}, path = CHAT) {
  const messages = [{ role: 'user', content: 'hi' }]
  const seen = await gateway.ask({ path, headers, body: { model: 'g', messages, ...members } })
  return { seen, sent: gateway.upstream.sent.map(({ body }) => JSON.parse(body)) }
}

describe('retry', () => {
  test('sends the request as it is, and after a refusal once more without the member', async () => {
    const gateway = start('retry', 'groq/llama-4', [NO_TEMPERATURE, OK])
    const { seen, sent } = await ask(gateway, { temperature: 0.2, seed: 1 })
    expect(seen.status).toBe(200)
    expect(seen.headers['x-gatehouse-ignored']).toBe('temperature')
    expect(sent).toHaveLength(2)
    expect(sent[0]).toMatchObject({ temperature: 0.2, seed: 1 })
    expect(sent[1]).toMatchObject({ seed: 1 })
    expect(sent[1]).not.toHaveProperty('temperature')
  })

  test('remembers the refusal for the target for an hour', async () => {
    const gateway = start('retry', 'groq/llama-4', [NO_TEMPERATURE, OK, OK, OK])
    await ask(gateway, { temperature: 0.2 })
    const second = await ask(gateway, { temperature: 0.3 })
    expect(second.seen.headers['x-gatehouse-ignored']).toBe('temperature')
    expect(second.sent).toHaveLength(3)
    expect(second.sent[2]).not.toHaveProperty('temperature')
    gateway.clock.pass(3_600_001)
    expect((await ask(gateway, { temperature: 0.4 })).sent[3]).toHaveProperty('temperature')
  })

  test('renames max_tokens, whose loss would change the answer', async () => {
    const refused = refusal(
      'max_tokens',
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    )
    const { seen, sent } = await ask(start('retry', 'openai/o3', [refused, OK]), { max_tokens: 9 })
    expect(seen.status).toBe(200)
    expect(seen.headers['x-gatehouse-adapted']).toBe('max_tokens')
    expect(seen.headers).not.toHaveProperty('x-gatehouse-ignored')
    expect(sent[1]).toMatchObject({ max_completion_tokens: 9 })
    expect(sent[1]).not.toHaveProperty('max_tokens')
  })

  test('reads the member from the message where the vendor names it only there', async () => {
    const refused = json(400, {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: '`temperature` and `top_p` cannot both be specified for this model.',
      },
    })
    const gateway = start('retry', 'anthropic/claude-x', [refused, json(200, MESSAGES_JSON)])
    const members = { max_tokens: 9, temperature: 0.2, top_p: 0.9 }
    const { seen, sent } = await ask(gateway, members, {}, '/v1/messages')
    expect(seen.status).toBe(200)
    expect(sent[1]).toMatchObject({ top_p: 0.9 })
    expect(sent[1]).not.toHaveProperty('temperature')
  })

  test('leaves out several members, which the upstream names one at a time', async () => {
    const noSeed = refusal('seed', "Unsupported parameter: 'seed'.")
    const gateway = start('retry', 'groq/llama-4', [NO_TEMPERATURE, noSeed, OK, OK])
    const { seen, sent } = await ask(gateway, { temperature: 0.2, seed: 1 })
    expect(seen.status).toBe(200)
    expect(seen.headers['x-gatehouse-ignored']).toBe('temperature, seed')
    expect(sent).toHaveLength(3)
    expect(sent[2]).not.toHaveProperty('temperature')
    expect(sent[2]).not.toHaveProperty('seed')
    expect((await ask(gateway, { temperature: 0.2, seed: 1 })).sent).toHaveLength(4)
  })

  test('sends a request at most five times, and remembers every refusal', async () => {
    const members = ['temperature', 'top_p', 'seed', 'user', 'metadata', 'service_tier']
    const refusals = members.map((name) => refusal(name, `Unsupported parameter: '${name}'.`))
    const gateway = start('retry', 'groq/llama-4', [...refusals, OK])
    const body = Object.fromEntries(members.map((name) => [name, 'x']))
    const first = await ask(gateway, body)
    expect(first.seen.status).toBe(400)
    expect(first.sent).toHaveLength(5)
    const second = await ask(gateway, body)
    expect(second.seen.status).toBe(200)
    expect(second.sent).toHaveLength(7)
  })

  test.each([
    ['a member that the request needs', refusal('messages', 'Invalid messages.'), {}],
    ['a member that the request does not have', NO_TEMPERATURE, {}],
    ['stop sequences, whose loss changes answers', refusal('stop', 'No stop.'), { stop: ['a'] }],
    [
      'a value out of bounds',
      json(400, {
        error: {
          message: "Invalid 'temperature': maximum is 2.",
          param: 'temperature',
          code: 'decimal_above_max_value',
        },
      }),
      { temperature: 3 },
    ],
    ['no member', json(400, { error: { message: 'Bad request.' } }), { temperature: 0.2 }],
    ['a limit', json(429, { error: { message: 'temperature' } }), { temperature: 0.2 }],
  ])('passes on a refusal of %s', async (_title, refused, members) => {
    const { seen, sent } = await ask(start('retry', 'groq/llama-4', [refused, OK]), members)
    expect(seen.status).not.toBe(200)
    expect(sent).toHaveLength(1)
  })

  test('is not for strict callers', async () => {
    const gateway = start('retry', 'groq/llama-4', [NO_TEMPERATURE, OK])
    const { seen } = await ask(gateway, { temperature: 0.2 }, { 'x-gatehouse-strict': 'true' })
    expect(seen.status).toBe(400)
    expect(seen.text).toContain('temperature')
  })
})

test('off passes the refusal on', async () => {
  const { seen, sent } = await ask(start('off', 'groq/llama-4', [NO_TEMPERATURE, OK]), {
    temperature: 0.2,
  })
  expect(seen.status).toBe(400)
  expect(sent).toHaveLength(1)
})

describe('on', () => {
  test('leaves out at once what the model is known to refuse', async () => {
    const members = { temperature: 0, top_p: 1, presence_penalty: 0, max_tokens: 9, seed: 7 }
    const { seen, sent } = await ask(start('on', 'openai/gpt-5', [OK]), members)
    expect(seen.status).toBe(200)
    expect(seen.headers['x-gatehouse-ignored']).toBe('temperature, top_p, presence_penalty')
    expect(seen.headers['x-gatehouse-adapted']).toBe('max_tokens')
    expect(sent[0]).toEqual({
      model: 'gpt-5',
      messages: [{ role: 'user', content: 'hi' }],
      seed: 7,
      max_completion_tokens: 9,
    })
  })

  test.each([
    ['openai/gpt-5', 'xhigh', 'high'],
    ['openai/o3', 'minimal', 'low'],
    ['openai/gpt-5.1', 'minimal', 'none'],
  ])('sends the effort nearest to one that %s lacks: %s as %s', async (target, asked, nearest) => {
    const members = { reasoning_effort: asked }
    const { seen, sent } = await ask(start('on', target, [OK]), members)
    expect(seen.headers['x-gatehouse-ignored']).toBe('reasoning_effort')
    expect(sent[0]).toHaveProperty('reasoning_effort', nearest)
    const retried = await ask(start('retry', target, [OK]), members)
    expect(retried.sent[0]).toHaveProperty('reasoning_effort', asked)
  })

  test.each([['high'], [null], ['own-word']])(
    'leaves other efforts as they are: %p',
    async (word) => {
      const { seen, sent } = await ask(start('on', 'openai/gpt-5', [OK]), {
        reasoning_effort: word,
      })
      expect(seen.headers).not.toHaveProperty('x-gatehouse-ignored')
      expect(sent[0]).toHaveProperty('reasoning_effort', word)
    },
  )

  test('changes no byte for a model without such data', async () => {
    const gateway = start('on', 'groq/llama-4', [OK])
    const body = '{ "model":"g",  "temperature": 0.20,"messages":[{"role":"user","content":"hi"}] }'
    await gateway.ask({ path: CHAT, body })
    expect(gateway.upstream.sent[0]?.body).toBe(body.replace('"g"', '"llama-4"'))
  })
})

test('the member that an upstream refuses is counted, whatever the gate does with it', async () => {
  const counters = new CallCounters()
  const odd = refusal('tools[0].made_up', 'Unsupported.')
  const own = refusal('made_up', 'Unsupported.')
  const gateway = new InProcessGateway({
    gates: { g: { targets: [{ model: 'groq/llama-4' }], adapt: 'off' } },
    upstream: [NO_TEMPERATURE, odd, own, json(400, { error: { message: 'Bad.' } })],
    observer: counters,
  })
  for (let call = 0; call < 4; call += 1) await ask(gateway, { temperature: 0.2 })
  expect([...counters.refusedMembers.values()]).toEqual([
    { labels: ['groq/llama-4', 'temperature'], count: 1 },
    { labels: ['groq/llama-4', 'tools'], count: 1 },
    { labels: ['groq/llama-4', 'other'], count: 1 },
  ])
})

describe('store: true on chat', () => {
  const startStoring = (target: string, ignoreStore: boolean, answer: Script) =>
    new InProcessGateway({
      gates: { g: { targets: [{ model: target }], adapt: 'off', ignoreStore } },
      upstream: [answer],
    })

  test('goes as false where the gate says so, and is named', async () => {
    const gateway = startStoring('openai/gpt-4o', true, OK)
    const body = '{"model":"g", "store" : true,"messages":[{"role":"user","content":"hi"}]}'
    const seen = await gateway.ask({ path: CHAT, body })
    expect(seen.status).toBe(200)
    expect(seen.headers['x-gatehouse-ignored']).toBe('store')
    const sent = body.replace('"g"', '"gpt-4o"').replace('true', 'false')
    expect(gateway.upstream.sent[0]?.body).toBe(sent)
  })

  test('is refused for strict callers of such a gate', async () => {
    const gateway = startStoring('openai/gpt-4o', true, OK)
    const { seen, sent } = await ask(gateway, { store: true }, { 'x-gatehouse-strict': 'true' })
    expect(seen.status).toBe(400)
    expect(seen.text).toContain('store')
    expect(sent).toHaveLength(0)
  })

  test.each([{ store: false }, { store: null }, {}])(
    'changes nothing else: %p',
    async (members) => {
      const gateway = startStoring('openai/gpt-4o', true, OK)
      const { seen, sent } = await ask(gateway, members, { 'x-gatehouse-strict': 'true' })
      expect(seen.headers).not.toHaveProperty('x-gatehouse-ignored')
      expect(sent[0]).toEqual({
        model: 'gpt-4o',
        messages: [{ role: 'user', content: 'hi' }],
        ...members,
      })
    },
  )

  test('passes at other gates', async () => {
    const { seen, sent } = await ask(startStoring('openai/gpt-4o', false, OK), { store: true })
    expect(seen.headers).not.toHaveProperty('x-gatehouse-ignored')
    expect(sent[0]).toHaveProperty('store', true)
  })

  test('is lost by translation at either gate', async () => {
    for (const ignoreStore of [true, false]) {
      const gateway = startStoring('anthropic/claude-x', ignoreStore, json(200, MESSAGES_JSON))
      const { seen, sent } = await ask(gateway, { store: true })
      expect(seen.headers['x-gatehouse-ignored']).toBe('store')
      expect(sent[0]).not.toHaveProperty('store')
    }
  })

  test('on /v1/responses is a 400 at every gate', async () => {
    const gateway = startStoring('openai/gpt-5', true, OK)
    const seen = await gateway.ask({
      path: '/v1/responses',
      body: { model: 'g', input: 'hi', store: true },
    })
    expect(seen.status).toBe(400)
    expect(seen.text).toContain('store')
  })
})
