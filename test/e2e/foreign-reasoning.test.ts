/**
 * Sealed reasoning goes back to whom it belongs: a target that cannot read it is passed over, and
 * the answer says so.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { createGate, waitForLogRow } from '../support/control-plane.ts'
import { RESPONSES_JSON } from '../support/dialect-samples.ts'
import { sendRaw } from '../support/raw-client.ts'
import { RESPONSES } from '../support/raw-scene.ts'
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts'
import { jsonAnswer } from '../support/scripted-answers.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

let upstream: RawUpstream
let gatehouse: Gatehouse
beforeAll(async () => {
  upstream = await startRawUpstream()
  gatehouse = await startGatehouse({
    environment: {
      OPENAI_BASE_URL: `${upstream.url}/openai`,
      OPENAI_API_KEY: 'planted-openai',
      AZURE_OPENAI_BASE_URL: `${upstream.url}/azure`,
      AZURE_OPENAI_API_KEY: 'planted-azure',
    },
  })
  await createGate(gatehouse, 'both', ['azure-openai/gpt-5', 'openai/gpt-5'])
  await createGate(gatehouse, 'alone', ['azure-openai/gpt-5'])
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await gatehouse.remove()
  await upstream.stop()
})

const foreign = {
  error: {
    message: 'The encrypted content for item rs_1 could not be verified.',
    type: 'invalid_request_error',
    param: null,
    code: 'invalid_encrypted_content',
  },
}
const ask = (gate: string) =>
  sendRaw(gatehouse.url, {
    path: RESPONSES,
    headers: { authorization: `Bearer ${gatehouse.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: gate,
      input: [
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA' },
        { role: 'user', content: 'Go on.' },
      ],
    }),
  })

test('the target that sealed it answers, and the other is named and not blamed', async () => {
  for (let call = 0; call < 7; call += 1) {
    upstream.answerOnce(jsonAnswer(400, foreign))
    upstream.answerOnce(jsonAnswer(200, RESPONSES_JSON))
    const answer = await ask('both')
    expect(answer.status).toBe(200)
    expect(answer.text).toBe(RESPONSES_JSON)
    expect(answer.headers['x-gatehouse-target']).toBe('openai/gpt-5')
    expect(answer.headers['x-gatehouse-skipped']).toBe('azure-openai/gpt-5')
    expect(upstream.last().text).toContain('"encrypted_content":"gAAAA"')
  }
  expect(upstream.requests.filter(({ path }) => path.startsWith('/azure'))).toHaveLength(7)
})

test('a failure of the sealing target is shown to the caller, with the skipped targets', async () => {
  upstream.answerOnce(jsonAnswer(400, foreign))
  upstream.answerOnce(jsonAnswer(503, { error: { message: 'busy' } }))
  const answer = await ask('both')
  expect(answer.status).toBe(503)
  expect(answer.text).toContain('busy')
  expect(answer.headers['x-gatehouse-skipped']).toBe('azure-openai/gpt-5')
  expect(await waitForLogRow(gatehouse, answer.headers['x-request-id'])).toMatchObject({
    attempts: 2,
  })
})

test('the provider’s own message is the answer if no target can read it', async () => {
  upstream.answer(jsonAnswer(400, foreign))
  const answer = await ask('alone')
  expect(answer.status).toBe(400)
  expect(JSON.parse(answer.text)).toEqual(foreign)
})
