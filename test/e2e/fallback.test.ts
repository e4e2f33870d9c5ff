/** A gate with several targets: what moves on to the next, and what does not. */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { waitForLogRow } from '../support/control-plane.ts'
import { CHAT, openRawScene } from '../support/raw-scene.ts'
import { jsonAnswer } from '../support/scripted-answers.ts'

const ANSWER = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [],
  usage: { prompt_tokens: 1, completion_tokens: 2 },
}

let scene: Awaited<ReturnType<typeof openRawScene>>
beforeAll(async () => {
  // The raw upstream plays OpenAI; nobody has configured a key for Groq, and xAI's address refuses
  // connections.
  scene = await openRawScene({
    gates: {
      'dead-first': ['xai/grok', 'openai/gpt-4o'],
      'keyless-first': ['groq/llama', 'openai/gpt-4o'],
      keyless: ['groq/llama'],
      'two-tries': ['openai/gpt-4o', 'openai/gpt-4o-mini'],
    },
    environment: { XAI_API_KEY: 'x', XAI_BASE_URL: 'http://127.0.0.1:1/v1' },
  })
})
afterEach(() => scene.upstream.reset())
afterAll(() => scene.close())

const call = (gate: string) => scene.post(CHAT, `{"model":"${gate}","messages":[]}`)

test('an unreachable target is skipped, and the answer names it', async () => {
  scene.upstream.answer(jsonAnswer(200, ANSWER))
  const answer = await call('dead-first')
  expect(answer.status).toBe(200)
  expect(answer.headers).toMatchObject({
    'x-gatehouse-target': 'openai/gpt-4o',
    'x-gatehouse-attempts': '2',
  })
  expect(await waitForLogRow(scene.gatehouse, answer.headers['x-request-id'])).toMatchObject({
    target: 'openai/gpt-4o',
    attempts: 2,
    outcome: 'succeeded',
  })
})

test('a target without a credential is not tried while another has one', async () => {
  scene.upstream.answer(jsonAnswer(200, ANSWER))
  const answer = await call('keyless-first')
  expect(answer.headers).toMatchObject({
    'x-gatehouse-target': 'openai/gpt-4o',
    'x-gatehouse-attempts': '1',
  })
  const refused = await call('keyless')
  expect(refused.status).toBe(502)
  expect(refused.text).toContain('provider_auth_failed')
  expect(refused.text).toContain('Groq')
})

test("an upstream's 500 moves on; a client's own 400 does not", async () => {
  scene.upstream.answerOnce(jsonAnswer(500, { error: { message: 'boom' } }))
  scene.upstream.answer(jsonAnswer(200, ANSWER))
  expect((await call('two-tries')).headers).toMatchObject({
    'x-gatehouse-target': 'openai/gpt-4o-mini',
  })
  scene.upstream.reset()
  scene.upstream.answer(jsonAnswer(400, { error: { message: 'no such field' } }))
  expect((await call('two-tries')).status).toBe(400)
  expect(scene.upstream.requests).toHaveLength(1)
})
