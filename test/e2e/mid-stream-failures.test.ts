/** The error that a client gets for a broken stream, in each dialect (design §4). */
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test'
import { RESPONSES_STREAM } from '../support/dialect-samples.ts'
import { DIALECT_GATES, DIALECTS, requestBody } from '../support/dialect-table.ts'
import { createExpectedRows } from '../support/expected-rows.ts'
import { openRawScene, type RawScene } from '../support/raw-scene.ts'
import { streamAnswer } from '../support/scripted-answers.ts'
import { parseEvents } from '../support/server-sent-events.ts'

// A test that outlasts its time has its server killed by the runner, and with it every test that
// follows.
setDefaultTimeout(180_000)

const rows = createExpectedRows()
let scene: RawScene
beforeAll(async () => {
  scene = await openRawScene({ gates: DIALECT_GATES })
})
afterAll(() => scene.close())
beforeEach(() => scene.upstream.reset())

/**
 * How an upstream breaks off: the connection ends, is reset, or the body ends as if all were well
 * but without a last event.
 */
const ENDINGS = ['close', 'reset', 'end'] as const

describe.each(DIALECTS.map((row) => [row.dialect, row] as const))('%s', (dialect, row) => {
  describe.each(ENDINGS)('upstream: %s', (ending) => {
    test('a failure is an error in the stream, without a clean end', async () => {
      const pieces = row.stream.slice(0, 2)
      scene.upstream.answer(streamAnswer(pieces, { ending }))
      const answer = await scene.post(row.path, requestBody(row, { stream: true }))
      expect(answer.status).toBe(200)
      expect(answer.text).toStartWith(pieces.join(''))
      const told = parseEvents(answer.text.slice(pieces.join('').length))
      expectFailure(dialect, told)
      expect(answer.complete).toBeFalse()
      rows.expectRow(answer, {
        outcome: 'failed',
        errorKind: 'upstream_error',
        status: 200,
      })
    })

    test('half an event is not passed on as a whole one', async () => {
      const pieces = [...row.stream.slice(0, 2), 'data: {"half":']
      scene.upstream.answer(streamAnswer(pieces, { ending }))
      const answer = await scene.post(row.path, requestBody(row, { stream: true }))
      const told = parseEvents(answer.text)
      for (const event of told) if (event.data !== '[DONE]') JSON.parse(event.data)
      expectFailure(dialect, told.slice(2))
      expect(answer.complete).toBeFalse()
    })
  })
})

function expectFailure(
  dialect: string,
  told: readonly { event: string | undefined; data: string }[],
): void {
  if (dialect === 'openai-responses') {
    expect(told.map((event) => event.event ?? event.data)).toEqual([
      'error',
      'response.failed',
      '[DONE]',
    ])
    return
  }
  const [error] = told
  const reported = JSON.parse(error?.data ?? '{}') as { error?: unknown; message?: string }
  expect(reported.error).toBeDefined()
  if (dialect === 'openai-chat') {
    expect(reported.error).toMatchObject({ message: expect.any(String), type: 'upstream_error' })
  } else {
    expect(JSON.stringify(reported)).toContain(
      dialect === 'anthropic-messages' ? 'api_error' : 'upstream_error',
    )
    expect(told).toHaveLength(1)
  }
}

describe('responses', () => {
  const body = JSON.stringify({ model: 'responses-gate', input: 'hi', stream: true })

  test('error is flat and nested, response.failed holds a whole response, and their numbers go on', async () => {
    scene.upstream.answer(streamAnswer(RESPONSES_STREAM.slice(0, 3), { ending: 'close' }))
    const answer = await scene.post('/v1/responses', body)
    const [error, failed] = parseEvents(answer.text)
      .slice(3, 5)
      .map((event) => JSON.parse(event.data) as unknown)
    expect(error).toMatchObject({
      type: 'error',
      sequence_number: 3,
      code: expect.any(String),
      message: expect.any(String),
      param: null,
      error: {
        type: 'upstream_error',
        code: expect.any(String),
        message: expect.any(String),
        param: null,
      },
    })
    expect(failed).toMatchObject({
      type: 'response.failed',
      sequence_number: 4,
      response: {
        id: 'resp_1',
        object: 'response',
        status: 'failed',
        created_at: expect.any(Number),
        model: expect.any(String),
        output: expect.any(Array),
        error: { code: expect.any(String), message: expect.any(String) },
      },
    })
  })

  test("the upstream's own error event passes through, and no second one follows", async () => {
    const pieces = [
      ...RESPONSES_STREAM.slice(0, 3),
      'event: error\ndata: {"type":"error","sequence_number":3,"error":{"type":"server_error","code":"server_error","message":"boom","param":null}}\n\n',
      'event: response.failed\ndata: {"type":"response.failed","sequence_number":4,"response":{"id":"resp_1","object":"response","created_at":1,"model":"gpt-5","status":"failed","error":{"code":"server_error","message":"boom"},"output":[],"usage":null}}\n\n',
    ]
    scene.upstream.answer(streamAnswer(pieces))
    const answer = await scene.post('/v1/responses', body)
    expect(answer.text).toStartWith(pieces.join(''))
    expect(answer.text.match(/event: response\.failed/g)).toHaveLength(1)
    rows.expectRow(answer, {
      outcome: 'failed',
    })
  })
})

test('the final error event arrives every time', async () => {
  const [row] = DIALECTS
  if (row === undefined) throw new Error('no dialects')
  scene.upstream.answer(streamAnswer(row.stream.slice(0, 2), { ending: 'reset' }))
  const asked = Array.from({ length: 20 }, () =>
    scene.post(row.path, requestBody(row, { stream: true })),
  )
  for (const answer of await Promise.all(asked)) {
    expect(answer.complete).toBeFalse()
    expectFailure(row.dialect, parseEvents(answer.text).slice(2))
    rows.expectRow(answer, { outcome: 'failed', errorKind: 'upstream_error', status: 200 })
  }
})

test('half an event before any whole one is a real HTTP status', async () => {
  for (const row of DIALECTS) {
    scene.upstream.answer(streamAnswer(['data: {"half":'], { ending: 'close' }))
    expect((await scene.post(row.path, requestBody(row, { stream: true }))).status).toBe(502)
  }
})

test('every one of these calls has its row in the ledger', async () => {
  await rows.check(scene.gatehouse)
})
