/** The headers that may pass the gateway, in either direction. */
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test'
import { DIALECT_GATES, DIALECTS, requestBody } from '../support/dialect-table.ts'
import { openRawScene, type RawScene } from '../support/raw-scene.ts'
import { jsonAnswer, streamAnswer } from '../support/scripted-answers.ts'

// A test that outlasts its time has its server killed by the runner, and with it every test that
// follows.
setDefaultTimeout(180_000)

let scene: RawScene
beforeAll(async () => {
  scene = await openRawScene({ gates: DIALECT_GATES })
})
afterAll(() => scene.close())
beforeEach(() => scene.upstream.reset())

const MARK = 'must-not-pass'
/** It passes under a separate name, and never as the id of the call. */
const VENDORS_ID = 'req_vendors-own'

/** Headers that a caller may send and an upstream must not see. */
const FROM_THE_CALLER = {
  cookie: `session=${MARK}`,
  'x-api-key': MARK,
  'api-key': MARK,
  'x-goog-api-key': MARK,
  'x-auth-token': MARK,
  'x-amz-security-token': MARK,
  'x-csrf-token': MARK,
  'x-client-secret': MARK,
  'proxy-authorization': `Basic ${MARK}`,
  'x-hop': MARK,
  connection: 'keep-alive, x-hop',
  'keep-alive': `timeout=5, ${MARK}=1`,
  te: `trailers, ${MARK}`,
  trailer: MARK,
  'proxy-connection': MARK,
}

/** Headers that an upstream may send and a caller must not see. */
const FROM_THE_UPSTREAM = {
  'set-cookie': `__cf_bm=${MARK}; HttpOnly`,
  'set-cookie2': MARK,
  authorization: MARK,
  'www-authenticate': `Bearer realm=${MARK}`,
  'proxy-authenticate': MARK,
  'x-api-key': MARK,
  'api-key': MARK,
  'x-auth-token': MARK,
  'x-hop': MARK,
  connection: 'keep-alive, x-hop',
  'keep-alive': `timeout=5, ${MARK}=1`,
  trailer: MARK,
  'x-request-id': VENDORS_ID,
  'x-gatehouse-target': MARK,
  'x-gatehouse-ignored': MARK,
  'x-gatehouse-adapted': MARK,
  'x-ratelimit-limit-requests': MARK,
}

describe.each(DIALECTS.map((row) => [row.dialect, row] as const))('%s', (_, row) => {
  test("the caller's credentials, cookies and hop-by-hop headers do not reach the upstream", async () => {
    scene.upstream.answer(jsonAnswer(200, row.answer))
    expect((await scene.post(row.path, requestBody(row), FROM_THE_CALLER)).status).toBe(200)
    const { head, headers } = scene.upstream.last()
    expect(head).not.toContain(MARK)
    expect(head).not.toContain(scene.gatehouse.key)
    expect(headers.host).toBe(new URL(scene.upstream.url).host)
    expect(headers['content-type']).toStartWith('application/json')
    expect(Number(headers['content-length'])).toBe(scene.upstream.last().body.length)
  })

  test.each([false, true])(
    "the upstream's cookies, keys and hop-by-hop headers do not reach the caller (stream: %p)",
    async (stream) => {
      scene.upstream.answer(
        stream
          ? streamAnswer(row.stream, {
              headers: { 'content-type': 'text/event-stream', ...FROM_THE_UPSTREAM },
            })
          : jsonAnswer(200, row.answer, FROM_THE_UPSTREAM),
      )
      const answer = await scene.post(row.path, requestBody(row, { stream }))
      expect(answer.status).toBe(200)
      expect(answer.head).not.toContain(MARK)
      expect(answer.headers['x-gatehouse-target']).toBe(row.target)
      expect(answer.headers['x-request-id']).toMatch(/^req_[0-9a-f]{32}$/)
      expect(answer.headers['x-gatehouse-upstream-request-id']).toBe(VENDORS_ID)
      expect(answer.head.split(VENDORS_ID)).toHaveLength(2)
    },
  )

  test('the upstream’s do not reach the caller with an error', async () => {
    scene.upstream.answer(
      jsonAnswer(
        400,
        { error: { message: 'no', type: 't', param: null, code: null } },
        FROM_THE_UPSTREAM,
      ),
    )
    const answer = await scene.post(row.path, requestBody(row))
    expect(answer.status).toBe(400)
    expect(answer.head).not.toContain(MARK)
    expect(answer.headers['x-request-id']).toMatch(/^req_[0-9a-f]{32}$/)
  })

  test('a request id of the caller does not become the id of the call', async () => {
    scene.upstream.answer(jsonAnswer(200, row.answer))
    const answer = await scene.post(row.path, requestBody(row), { 'x-request-id': 'mine' })
    expect(answer.headers['x-request-id']).toMatch(/^req_/)
  })
})

test("the caller's provider account is hidden upstream, and the operator's from the caller", async () => {
  const [row] = DIALECTS
  if (row === undefined) throw new Error('no dialects')
  const account = { 'openai-organization': MARK, 'openai-project': MARK }
  scene.upstream.answer(jsonAnswer(200, row.answer, account))
  const answer = await scene.post(row.path, requestBody(row), account)
  expect(scene.upstream.last().head).not.toContain(MARK)
  expect(answer.head).not.toContain(MARK)
})
