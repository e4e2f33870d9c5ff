/**
 * A gate's decisions for its callers, seen from both ends: the request upstream, and the caller's
 * answer.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { controlPlaneCall, createGate } from '../support/control-plane.ts'
import { RESPONSES_JSON } from '../support/dialect-samples.ts'
import { ALT_CHAT, CHAT, FIM, MESSAGES, openRawScene, RESPONSES } from '../support/raw-scene.ts'
import { jsonAnswer } from '../support/scripted-answers.ts'

const CHAT_ANSWER = { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [] }
const MESSAGES_ANSWER = {
  id: 'm',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'OK' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
}
const ANSWERS: Readonly<Record<string, object>> = {
  [MESSAGES]: MESSAGES_ANSWER,
  [RESPONSES]: JSON.parse(RESPONSES_JSON),
}
const DEFAULTS = {
  instructions: 'Be "brief".',
  temperature: 0.25,
  topP: 0.5,
  maxOutputTokens: 77,
  reasoningEffort: 'low',
}

let scene: Awaited<ReturnType<typeof openRawScene>>
beforeAll(async () => {
  scene = await openRawScene({ gates: {} })
})
afterEach(() => scene.upstream.reset())
afterAll(() => scene.close())

let made = 0
async function gateOf(models: string | readonly string[], settings: object): Promise<string> {
  made += 1
  return await createGate(scene.gatehouse, `gate-${made}`, models, { ...settings })
}

/** @param rest of the body, behind the member that names the gate */
async function ask(path: string, gate: string, rest: string, headers: Record<string, string> = {}) {
  scene.upstream.answer(jsonAnswer(200, ANSWERS[path] ?? CHAT_ANSWER))
  const answer = await scene.post(path, `{"model":"${gate}",${rest}}`, headers)
  return {
    status: answer.status,
    ignored: answer.headers['x-gatehouse-ignored'],
    error: answer.status === 200 ? undefined : JSON.parse(answer.text),
    sent: scene.upstream.requests.at(-1)?.text ?? '',
  }
}

describe('defaults go to an upstream of the same dialect under its own names, and all other bytes stay', () => {
  test.each([
    [
      'Chat',
      CHAT,
      'openai/gpt-4o',
      '"messages": [ {"role":"user","content":"Hi"}], "x":1.0e2',
      '{"temperature":0.25,"top_p":0.5,"max_completion_tokens":77,"model":"gpt-4o","messages": [{"role":"system","content":"Be \\"brief\\"."}, {"role":"user","content":"Hi"}], "x":1.0e2}',
      'reasoning_effort',
    ],
    [
      'Chat to a reasoning model',
      CHAT,
      'openai/gpt-5',
      '"messages":[]',
      '{"max_completion_tokens":77,"reasoning_effort":"low","model":"gpt-5","messages":[{"role":"system","content":"Be \\"brief\\"."}]}',
      'temperature, top_p',
    ],
    [
      'Responses',
      RESPONSES,
      'openai/gpt-5',
      '"input":"Hi","instructions":"\\u0053ay","reasoning":{"summary":"auto"},"store":false,"include":["reasoning.encrypted_content"]',
      '{"max_output_tokens":77,"model":"gpt-5","input":"Hi","instructions":"Be \\"brief\\".\\n\\n\\u0053ay","reasoning":{"effort":"low","summary":"auto"},"store":false,"include":["reasoning.encrypted_content"]}',
      'temperature, top_p',
    ],
    [
      'Messages',
      MESSAGES,
      'anthropic/claude-3-5-haiku',
      '"max_tokens":77,"messages":[],"system":[{"type":"text","text":"Sing"}]',
      '{"temperature":0.25,"top_p":0.5,"model":"claude-3-5-haiku","max_tokens":77,"messages":[],"system":[{"type":"text","text":"Be \\"brief\\"."},{"type":"text","text":"Sing"}]}',
      'output_config.effort',
    ],
    [
      'Messages to a model that decides how much to think',
      MESSAGES,
      'anthropic/claude-opus-5',
      '"max_tokens":77,"messages":[],"system":"Sing"',
      '{"output_config":{"effort":"low"},"model":"claude-opus-5","max_tokens":77,"messages":[],"system":"Be \\"brief\\".\\n\\nSing"}',
      'temperature, top_p',
    ],
    [
      "Mistral's chat",
      ALT_CHAT,
      'mistral/codestral',
      '"messages":[{"role":"user","content":"Hi"}]',
      '{"temperature":0.25,"top_p":0.5,"max_tokens":77,"model":"codestral","messages":[{"role":"system","content":"Be \\"brief\\"."},{"role":"user","content":"Hi"}]}',
      'reasoning_effort',
    ],
    [
      'FIM',
      FIM,
      'mistral/codestral',
      '"prompt":"a"',
      '{"temperature":0.25,"top_p":0.5,"max_tokens":77,"model":"codestral","prompt":"a"}',
      'instructions, reasoning_effort',
    ],
  ])('%s', async (_name, path, target, rest, wanted, ignored) => {
    const gate = await gateOf(target, { defaults: DEFAULTS })
    const answer = await ask(path, gate, rest)
    expect(answer).toMatchObject({ status: 200, ignored })
    expect(answer.sent).toBe(wanted)
  })

  test('a gate without defaults passes bytes on unchanged', async () => {
    const gate = await gateOf('openai/gpt-4o', { defaults: {}, overrides: 'allow' })
    const rest = '"temperature":1.50,"messages": [ ]'
    expect((await ask(CHAT, gate, rest)).sent).toBe(`{"model":"gpt-4o",${rest}}`)
  })

  test('a changed gate applies from the next call on', async () => {
    const gate = await gateOf('openai/gpt-4o', { defaults: { temperature: 1 } })
    expect((await ask(CHAT, gate, '"messages":[]')).sent).toContain('"temperature":1')
    await controlPlaneCall(scene.gatehouse, 'PATCH', `/v1/gates/${gate}`, { defaults: {} })
    expect((await ask(CHAT, gate, '"messages":[]')).sent).not.toContain('temperature')
  })

  test('a fault in the member that a default goes into is reported under the caller’s name for it', async () => {
    const gate = await gateOf('openai/gpt-4o', { defaults: DEFAULTS })
    const answer = await ask(RESPONSES, gate, '"input":"a","instructions":7')
    expect(answer).toMatchObject({ status: 400, error: { error: { param: 'instructions' } } })
  })
})

describe('translated defaults apply too', () => {
  test('for a chat caller of an Anthropic model', async () => {
    const gate = await gateOf('anthropic/claude-3-5-haiku', { defaults: DEFAULTS })
    scene.upstream.answer(jsonAnswer(200, MESSAGES_ANSWER))
    const answer = await scene.post(CHAT, {
      model: gate,
      temperature: 1,
      max_tokens: 5,
      messages: [
        { role: 'system', content: 'Sing' },
        { role: 'user', content: 'Hi' },
      ],
    })
    expect(answer.status).toBe(200)
    expect(JSON.parse(scene.upstream.last().text)).toMatchObject({
      max_tokens: 77,
      temperature: 0.25,
      top_p: 0.5,
      system: [
        { type: 'text', text: 'Be "brief".' },
        { type: 'text', text: 'Sing' },
      ],
    })
    expect(answer.headers['x-gatehouse-ignored']).toBe('temperature, max_tokens, reasoning_effort')
  })

  test('a strict caller is not refused for a default that the target does not support', async () => {
    const gate = await gateOf('anthropic/claude-3-5-haiku', {
      defaults: { reasoningEffort: 'low' },
    })
    scene.upstream.answer(jsonAnswer(200, MESSAGES_ANSWER))
    const body = { model: gate, messages: [{ role: 'user', content: 'Hi' }] }
    const strict = { 'x-gatehouse-strict': 'true' }
    expect((await scene.post(CHAT, body, strict)).status).toBe(200)
    expect((await scene.post(CHAT, { ...body, seed: 1 }, strict)).status).toBe(400)
  })
})

describe('a parameter that has a default', () => {
  const SAID = '"messages":[],"temperature":1,"max_tokens":5,"top_p":0.9'
  const defaults = { temperature: 0.25, maxOutputTokens: 77 }

  test('ignore: the gate’s value holds, and the caller’s is named as written', async () => {
    const answer = await ask(
      CHAT,
      await gateOf('openai/gpt-4o', { defaults, overrides: 'ignore' }),
      SAID,
    )
    expect(answer.ignored).toBe('temperature, max_tokens')
    expect(answer.sent).toBe(
      '{"max_completion_tokens":77,"model":"gpt-4o","messages":[],"temperature":0.25,"top_p":0.9}',
    )
  })

  test('reject: 400 that names the field', async () => {
    const gate = await gateOf('openai/gpt-4o', { defaults, overrides: 'reject' })
    expect(await ask(CHAT, gate, SAID)).toMatchObject({
      status: 400,
      sent: '',
      error: { error: { param: 'temperature', code: 'overrides_rejected' } },
    })
    expect(await ask(CHAT, gate, '"messages":[],"max_tokens":5')).toMatchObject({
      status: 400,
      error: { error: { param: 'max_tokens' } },
    })
    // An equal or absent value is no contradiction.
    expect(
      await ask(CHAT, gate, '"messages":[],"max_tokens":null,"temperature":0.25'),
    ).toMatchObject({
      status: 200,
      ignored: undefined,
    })
  })

  test('allow: the caller’s value holds, and nothing is named', async () => {
    const answer = await ask(
      CHAT,
      await gateOf('openai/gpt-4o', { defaults, overrides: 'allow' }),
      SAID,
    )
    expect(answer).toMatchObject({ status: 200, ignored: undefined })
    expect(answer.sent).toBe(`{"model":"gpt-4o",${SAID}}`)
  })

  test('null counts as absent: the default is written in its place', async () => {
    const gate = await gateOf('openai/gpt-4o', { defaults, overrides: 'allow' })
    expect(
      (await ask(CHAT, gate, '"messages":[],"temperature": null,"max_completion_tokens":null'))
        .sent,
    ).toBe('{"model":"gpt-4o","messages":[],"temperature": 0.25,"max_completion_tokens":77}')
  })

  test('a caller of Messages sets the effort with `thinking` too', async () => {
    const defaults = { reasoningEffort: 'high' }
    const rest = '"max_tokens":5,"messages":[],"thinking":{"type":"disabled"}'
    const ignoring = await gateOf('anthropic/claude-opus-5', { defaults })
    expect(await ask(MESSAGES, ignoring, rest)).toMatchObject({
      ignored: 'thinking',
      sent: '{"output_config":{"effort":"high"},"model":"claude-opus-5","max_tokens":5,"messages":[],"thinking":{"type":"adaptive"}}',
    })
    const allowing = await gateOf('anthropic/claude-opus-5', { defaults, overrides: 'allow' })
    expect((await ask(MESSAGES, allowing, rest)).sent).toBe(`{"model":"claude-opus-5",${rest}}`)
  })
})

describe('a model beside gate_id', () => {
  const askBeside = async (overrides: string, model: string, path = CHAT) => {
    const gate = await gateOf(['openai/gate-1', 'openai/gate-2'], { overrides })
    const answer = await scene.post(path, { gate_id: gate, model, messages: [] })
    const asked = scene.upstream.requests.map(({ text }) => JSON.parse(text).model)
    return { status: answer.status, text: answer.text, headers: answer.headers, asked }
  }

  test('ignore: is named', async () => {
    scene.upstream.answer(jsonAnswer(200, CHAT_ANSWER))
    expect(await askBeside('ignore', 'openai/other')).toMatchObject({
      status: 200,
      asked: ['gate-1'],
      headers: { 'x-gatehouse-ignored': 'model' },
    })
  })

  test('reject: 400', async () => {
    const answer = await askBeside('reject', 'openai/other')
    expect(answer).toMatchObject({ status: 400, asked: [] })
    expect(JSON.parse(answer.text).error).toMatchObject({
      param: 'model',
      code: 'overrides_rejected',
    })
  })

  test("allow: is tried first, and the gate's own targets follow", async () => {
    scene.upstream.answer((exchange) =>
      (exchange.request.text.includes('gate-2')
        ? jsonAnswer(200, CHAT_ANSWER)
        : jsonAnswer(500, { error: { message: 'boom' } }))(exchange),
    )
    const answer = await askBeside('allow', 'openai/other')
    expect(answer).toMatchObject({ status: 200, asked: ['other', 'gate-1', 'gate-2'] })
    expect(answer.headers['x-gatehouse-ignored']).toBeUndefined()
    expect(answer.headers['x-gatehouse-target']).toBe('openai/gate-2')
  })

  test('allow: one of the gate’s own targets only changes places', async () => {
    scene.upstream.answer(jsonAnswer(500, { error: { message: 'boom' } }))
    expect(await askBeside('allow', 'openai/gate-2')).toMatchObject({ asked: ['gate-2', 'gate-1'] })
  })

  test.each([
    ['that is not a provider/model', 'gpt-4o'],
    ['of an unknown provider', 'nobody/gpt-4o'],
    ['of a provider without a model', 'openai/'],
    ['with a control character', 'openai/a\n'],
  ])('allow: one %s is a 400 that names it', async (_name, model) => {
    const answer = await askBeside('allow', model)
    expect(answer).toMatchObject({ status: 400, asked: [] })
    expect(JSON.parse(answer.text).error.param).toBe('model')
  })

  test('allow: one that does not speak the format of the endpoint is a 400 that names it', async () => {
    const gate = await gateOf('mistral/codestral', { overrides: 'allow' })
    const answer = await scene.post(FIM, { gate_id: gate, model: 'openai/gpt-4o', prompt: 'a' })
    expect(answer.status).toBe(400)
    expect(JSON.parse(answer.text)).toMatchObject({ message: expect.stringContaining("'model'") })
    expect(scene.upstream.requests).toHaveLength(0)
  })

  test('allow: one without a credential leaves the answer to the gate, and is named', async () => {
    scene.upstream.answer(jsonAnswer(200, CHAT_ANSWER))
    expect(await askBeside('allow', 'groq/llama')).toMatchObject({
      status: 200,
      asked: ['gate-1'],
      headers: { 'x-gatehouse-ignored': 'model' },
    })
  })
})

describe('on /v3/chat', () => {
  const body = (gate: string, rest: object = {}) => ({
    gate_id: gate,
    messages: [{ role: 'user', content: 'Hi' }],
    ...rest,
  })
  const answer = {
    ...CHAT_ANSWER,
    choices: [{ message: { content: 'OK' }, finish_reason: 'stop' }],
  }

  test('defaults apply, and the gate’s instructions are a template for the caller’s variables', async () => {
    const defaults = { instructions: 'Be {{tone}} to {{name}}.', temperature: 0.25 }
    const gate = await gateOf('openai/gpt-4o', { defaults })
    scene.upstream.answer(jsonAnswer(200, answer))
    const asked = body(gate, {
      vars: { tone: 'kind', name: '{{tone}}' },
      instructions: 'Now.',
      temperature: 1,
    })
    const answered = await scene.post('/v3/chat', asked)
    expect(answered.status).toBe(200)
    expect(answered.headers['x-gatehouse-ignored']).toBe('temperature')
    expect(JSON.parse(scene.upstream.last().text)).toMatchObject({
      temperature: 0.25,
      messages: [
        { role: 'system', content: 'Be kind to {{tone}}.' },
        { role: 'system', content: 'Now.' },
        { role: 'user', content: 'Hi' },
      ],
    })
  })

  test('a variable that the gate’s instructions need and the caller lacks is named', async () => {
    const gate = await gateOf('openai/gpt-4o', { defaults: { instructions: 'Be {{tone}}.' } })
    const answered = await scene.post('/v3/chat', body(gate))
    expect(answered.status).toBe(400)
    expect(JSON.parse(answered.text)).toMatchObject({ details: { field: 'vars.tone' } })
    expect(scene.upstream.requests).toHaveLength(0)
  })
})
