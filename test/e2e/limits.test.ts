/** Limits per key, refused in the dialect of the caller. */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { controlPlaneCall, createKey } from '../support/control-plane.ts'
import { DIALECT_GATES, DIALECTS, type DialectRow, requestBody } from '../support/dialect-table.ts'
import { readErrorCode, readNestedError } from '../support/envelopes.ts'
import { composeRequest } from '../support/http-bytes.ts'
import { pollUntil } from '../support/poll-until.ts'
import { connectRaw, type RawAnswer, type RawConnection } from '../support/raw-client.ts'
import { openRawScene, type RawScene } from '../support/raw-scene.ts'
import { jsonAnswer, resetBeforeAnswer, silence } from '../support/scripted-answers.ts'

// A test that outlasts its time has its server killed by the runner, and with it every test that
// follows.
setDefaultTimeout(180_000)

/** OpenAI's way to write a time span: `120ms`, `1s`, `6m0s`. */
const DURATION = /^(?:\d+h)?(?:\d+m(?!s))?(?:\d+(?:\.\d+)?s)?(?:\d+ms)?$/

function expectRefusal(row: DialectRow, answer: RawAnswer): void {
  expect(answer.status).toBe(429)
  expect(readErrorCode(row.envelope, answer.text)).toBe(
    row.envelope === 'messages' ? 'rate_limit_error' : 'rate_limit_exceeded',
  )
  if (row.envelope === 'nested') expect(readNestedError(answer.text).type).toBe('rate_limit_error')
  expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1)
  expect(answer.headers['x-request-id']).toMatch(/^req_/)
}

describe('requests per minute', () => {
  let scene: RawScene
  beforeAll(async () => {
    scene = await openRawScene({
      gates: DIALECT_GATES,
      environment: { GATEHOUSE_REQUESTS_PER_MINUTE: '3', GATEHOUSE_CONCURRENT_CALLS: '100' },
    })
  })
  afterAll(() => scene.close())

  test.each(DIALECTS.map((row) => [row.dialect, row] as const))(
    'are counted per key and refused in the call’s own dialect (%s)',
    async (_, row) => {
      scene.upstream.reset()
      scene.upstream.answer(jsonAnswer(200, row.answer))
      const { key } = await createKey(scene.gatehouse, row.dialect)
      const authorization = `Bearer ${key}`
      const answers: RawAnswer[] = []
      for (let call = 0; call < 4; call++)
        answers.push(await scene.post(row.path, requestBody(row), { authorization }))
      expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 429])
      expect(answers.map((answer) => answer.headers['x-ratelimit-limit-requests'])).toEqual([
        '3',
        '3',
        '3',
        '3',
      ])
      expect(answers.map((answer) => answer.headers['x-ratelimit-remaining-requests'])).toEqual([
        '2',
        '1',
        '0',
        '0',
      ])
      for (const answer of answers)
        expect(answer.headers['x-ratelimit-reset-requests']).toMatch(DURATION)
      const refusal = answers[3]
      if (refusal === undefined) throw new Error('no fourth answer')
      expectRefusal(row, refusal)
      // One in twenty seconds comes back at three a minute.
      expect(Number(refusal.headers['retry-after'])).toBeLessThanOrEqual(20)
      expect(scene.upstream.requests).toHaveLength(3)
    },
  )

  test('do not stop the control plane', async () => {
    for (let call = 0; call < 6; call++) {
      expect((await controlPlaneCall(scene.gatehouse, 'GET', '/v1/gates')).status).toBe(200)
    }
  })

  test('are not used by calls without a valid key', async () => {
    const [row] = DIALECTS
    if (row === undefined) throw new Error('no dialects')
    scene.upstream.answer(jsonAnswer(200, row.answer))
    const { key } = await createKey(scene.gatehouse, 'patient')
    for (let call = 0; call < 5; call++)
      await scene.post(row.path, requestBody(row), { authorization: `Bearer ${key}0` })
    const answer = await scene.post(row.path, requestBody(row), { authorization: `Bearer ${key}` })
    expect(answer.status).toBe(200)
    expect(answer.headers['x-ratelimit-remaining-requests']).toBe('2')
  })
})

describe('concurrent calls', () => {
  let scene: RawScene
  const open: RawConnection[] = []
  beforeAll(async () => {
    scene = await openRawScene({
      gates: DIALECT_GATES,
      environment: { GATEHOUSE_REQUESTS_PER_MINUTE: '100000', GATEHOUSE_CONCURRENT_CALLS: '2' },
    })
  })
  afterEach(() => {
    for (const connection of open.splice(0)) connection.destroy()
  })
  afterAll(() => scene.close())

  async function occupy(row: DialectRow, key: string): Promise<RawConnection> {
    const asked = scene.upstream.requests.length
    scene.upstream.answerOnce(silence)
    const connection = await connectRaw(scene.gatehouse.url)
    open.push(connection)
    connection.send(
      composeRequest({
        path: row.path,
        headers: { authorization: `Bearer ${key}` },
        body: requestBody(row),
      }),
    )
    await pollUntil('the call at the upstream', () => scene.upstream.requests.length > asked)
    return connection
  }

  test.each(DIALECTS.map((row) => [row.dialect, row] as const))(
    'are counted per key, refused in the call’s own dialect, and free again when one ends (%s)',
    async (_, row) => {
      scene.upstream.reset()
      const { key } = await createKey(scene.gatehouse, row.dialect)
      const authorization = `Bearer ${key}`
      const first = await occupy(row, key)
      await occupy(row, key)
      expectRefusal(row, await scene.post(row.path, requestBody(row), { authorization }))

      scene.upstream.answer(jsonAnswer(200, row.answer))
      expect((await scene.post(row.path, requestBody(row))).status).toBe(200)

      first.destroy()
      await pollUntil('a free place', async () => {
        const { status } = await scene.post(row.path, requestBody(row), { authorization })
        return status === 200
      })
    },
  )

  test('are given back by calls that fail', async () => {
    const { key } = await createKey(scene.gatehouse, 'failing')
    const authorization = `Bearer ${key}`
    for (const row of DIALECTS) {
      for (const script of [resetBeforeAnswer, jsonAnswer(400, {}), jsonAnswer(500, {})]) {
        scene.upstream.reset()
        scene.upstream.answer(script)
        const { status } = await scene.post(row.path, requestBody(row), { authorization })
        expect(status).not.toBe(429)
        const refused = await scene.post(row.path, '{"broken', { authorization })
        expect(refused.status).toBe(400)
      }
    }
  })
})
