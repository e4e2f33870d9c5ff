/** interface-spec, "Gate": its one row, in every format that names a gate. */
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test'
import { controlPlaneCall } from '../../support/control-plane.ts'
import { DIALECTS, requestBody } from '../../support/dialect-table.ts'
import { readFlatError, readNestedError } from '../../support/envelopes.ts'
import {
  CHAT,
  CHAT_V3,
  FIM,
  openRawScene,
  type RawScene,
  RESPONSES,
} from '../../support/raw-scene.ts'
import { jsonAnswer } from '../../support/scripted-answers.ts'

// A test that outlasts its time has its server killed by the runner, and with it every test that
// follows.
setDefaultTimeout(180_000)

const GATE = 'support'
const messages = [{ role: 'user', content: 'hi' }]

let scene: RawScene
beforeAll(async () => {
  scene = await openRawScene({
    gates: { [GATE]: 'openai/gpt-4o', code: 'mistral/codestral-latest' },
  })
})
afterAll(() => scene.close())
beforeEach(() => {
  scene.upstream.reset()
  scene.upstream.answer(async (exchange) => {
    const row = DIALECTS.find(({ upstreamPath }) => upstreamPath === exchange.request.path)
    await jsonAnswer(200, row?.answer ?? '{}')(exchange)
  })
})

const modelSent = (): unknown =>
  (JSON.parse(scene.upstream.last().text) as { model: unknown }).model

describe('Gate', () => {
  describe('| gate id | string |', () => {
    test.each([
      ['`model` (responses format)', RESPONSES, { model: GATE, input: 'hi' }, 'gpt-4o'],
      [
        '`gate_id` (chat format, /v1/chat/completions)',
        CHAT,
        { gate_id: GATE, messages },
        'gpt-4o',
      ],
      ['`gate_id` (chat format, /v3/chat)', CHAT_V3, { gate_id: GATE, messages }, 'gpt-4o'],
      [
        '`model` (alternate-provider format)',
        FIM,
        { model: 'code', prompt: 'x' },
        'codestral-latest',
      ],
    ])('passed as %s; resolves to the configured provider model', async (_, path, body, model) => {
      const answer = await scene.post(path, body)
      expect(answer.status).toBe(200)
      expect(modelSent()).toBe(model)
      expect(scene.upstream.last().text).not.toContain('gate_id')
    })

    test.each([
      ['model', RESPONSES, { input: 'hi' }],
      ['gate_id', CHAT, { messages }],
      ['gate_id', CHAT_V3, { messages }],
      ['model', FIM, { prompt: 'x' }],
    ])(
      'a `%s` that is not a string is refused with 400 and named (%s)',
      async (field, path, body) => {
        for (const wrong of [7, ['support'], { id: 'support' }, true, '']) {
          const answer = await scene.post(path, { ...body, [field]: wrong })
          expect({ wrong, status: answer.status }).toEqual({ wrong, status: 400 })
          expect(answer.text).toContain(field)
        }
        expect(scene.upstream.requests).toBeEmpty()
      },
    )

    test('is taken as it is written: another case, or a space, is another id', async () => {
      for (const model of ['Support', ' support', 'support ', 'suppor', 'support2']) {
        const answer = await scene.post(RESPONSES, { model, input: 'hi' })
        expect({ model, status: answer.status }).toEqual({ model, status: 404 })
        expect(readNestedError(answer.text).code).toBe('model_not_found')
      }
      const answer = await scene.post(CHAT_V3, { gate_id: 'Support', messages })
      expect({ status: answer.status, error: readFlatError(answer.text).error }).toEqual({
        status: 404,
        error: 'gate_not_found',
      })
    })

    test('resolves to the configured model: from the answer to a change on, to the new one', async () => {
      for (const model of ['gpt-4o-mini', 'gpt-4.1', 'gpt-4o']) {
        const changed = await controlPlaneCall(scene.gatehouse, 'PATCH', `/v1/gates/${GATE}`, {
          targets: [{ model: `openai/${model}` }],
        })
        expect(changed.status).toBe(200)
        await scene.post(RESPONSES, { model: GATE, input: 'hi' })
        expect(modelSent()).toBe(model)
        await scene.post(CHAT, { gate_id: GATE, messages })
        expect(modelSent()).toBe(model)
      }
    })

    test('may be the name of a provider model, and still resolves to the gate’s target', async () => {
      await controlPlaneCall(scene.gatehouse, 'POST', '/v1/gates', {
        id: 'o3',
        targets: [{ model: 'openai/gpt-4.1' }],
      })
      const answer = await scene.post(RESPONSES, { model: 'o3', input: 'hi' })
      expect(answer.headers['x-gatehouse-target']).toBe('openai/gpt-4.1')
      expect(modelSent()).toBe('gpt-4.1')
    })

    test('is needed: a provider model alone routes nothing, in any format', async () => {
      for (const row of DIALECTS) {
        for (const model of [row.target, row.target.slice(row.target.indexOf('/') + 1)]) {
          const answer = await scene.post(row.path, requestBody(row, { model }))
          expect({ path: row.path, model, status: answer.status }).toEqual({
            path: row.path,
            model,
            status: 404,
          })
        }
      }
      expect(scene.upstream.requests).toBeEmpty()
    })
  })
})
