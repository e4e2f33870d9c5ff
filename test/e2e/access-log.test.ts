/** The access log: one line for each finished request, and never anything of what was in it. */
import { expect, test } from 'bun:test'
import { controlPlaneCall } from '../support/control-plane.ts'
import { CHAT_JSON, CHAT_STREAM_WITH_USAGE } from '../support/dialect-samples.ts'
import { CHAT, openRawScene, plantedKeyOf } from '../support/raw-scene.ts'
import { jsonAnswer, streamAnswer } from '../support/scripted-answers.ts'

const CANARIES = {
  prompt: 'canary-prompt-55d1',
  header: 'canary-header-55d2',
  path: 'canary-path-55d3',
  query: 'canary-query-55d4',
  name: 'canary-name-55d5',
}

interface Line {
  readonly msg: string
  readonly path?: string | null
  readonly status: number
  readonly outcome?: string
}

test('a line for each call and control-plane request, with figures and ids only', async () => {
  const scene = await openRawScene({
    gates: { one: 'openai/gpt-4o' },
    environment: { GATEHOUSE_ACCESS_LOG: 'on', GATEHOUSE_LOG_LEVEL: 'silent' },
  })
  const { gatehouse, upstream } = scene
  try {
    const body = (more = '') =>
      `{"model":"one","messages":[{"role":"user","content":"${CANARIES.prompt}"}]${more}}`
    upstream.answer(jsonAnswer(200, CHAT_JSON))
    const whole = await scene.post(CHAT, body(), { 'x-canary': CANARIES.header })
    upstream.answer(streamAnswer(CHAT_STREAM_WITH_USAGE))
    await scene.post(CHAT, body(',"stream":true'))
    await scene.post(CHAT, body(), { authorization: `Bearer ${CANARIES.header}` })
    await scene.post(CHAT, `{"model":"${CANARIES.name}","messages":[]}`)
    await controlPlaneCall(gatehouse, 'POST', '/v1/keys', { name: CANARIES.name })
    await controlPlaneCall(gatehouse, 'GET', `/v1/gates/one?x=${CANARIES.query}`)
    await controlPlaneCall(gatehouse, 'GET', `/v1/gates/${CANARIES.path}`)
    await controlPlaneCall(gatehouse, 'GET', `/v1/${CANARIES.path}`)
    await controlPlaneCall(
      { ...gatehouse, key: CANARIES.header },
      'DELETE',
      `/v1/keys/${CANARIES.path}`,
    )
    expect(await gatehouse.stop()).toBe(0)

    const lines = gatehouse
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Line)
    const calls = lines.filter(({ msg }) => msg === 'call')
    expect(calls.map(({ status, outcome }) => [status, outcome])).toEqual([
      [200, 'succeeded'],
      [200, 'succeeded'],
      [401, 'refused'],
      [404, 'failed'],
    ])
    expect(calls[0]).toMatchObject({
      requestId: whole.headers['x-request-id'],
      gate: 'one',
      target: 'openai/gpt-4o',
      dialect: 'openai-chat',
      stream: false,
      errorKind: null,
      attempts: 1,
      usage: { inputTokens: 11, outputTokens: 7, cachedInputTokens: 3, reasoningTokens: 2 },
      keyId: expect.stringMatching(/^key_/),
      durationMs: expect.any(Number),
      firstByteMs: expect.any(Number),
    })
    const requests = lines.filter(({ msg }) => msg === 'control request')
    expect(requests.map((line) => [line.path, line.status])).toEqual([
      ['/v1/gates', 201],
      ['/v1/keys', 201],
      ['/v1/gates/:id', 400],
      ['/v1/gates/:id', 404],
      [null, 404],
      ['/v1/keys/:id', 401],
    ])
    expect(requests[0]).toMatchObject({ method: 'POST', actor: expect.stringMatching(/^key_/) })
    expect(requests.at(-1)).toMatchObject({ method: 'DELETE', actor: null })
    for (const canary of [
      ...Object.values(CANARIES),
      'café',
      gatehouse.key,
      plantedKeyOf('openai/x'),
    ])
      expect(gatehouse.output()).not.toContain(canary)
  } finally {
    await scene.close()
  }
})

test('nothing about calls is written by default', async () => {
  const scene = await openRawScene({ gates: { one: 'openai/gpt-4o' } })
  try {
    scene.upstream.answer(jsonAnswer(200, CHAT_JSON))
    const answer = await scene.post(CHAT, '{"model":"one","messages":[]}')
    expect(await scene.gatehouse.stop()).toBe(0)
    expect(scene.gatehouse.output()).not.toContain(answer.headers['x-request-id'] ?? 'an id')
  } finally {
    await scene.close()
  }
})
