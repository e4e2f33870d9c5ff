/**
 * Silence and delay on either side: every wait has an end, and the client is told in its own
 * dialect.
 */
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test'
import { createGate } from '../support/control-plane.ts'
import { DIALECT_GATES, DIALECTS, type DialectRow, requestBody } from '../support/dialect-table.ts'
import { expectUpstreamError, readErrorCode } from '../support/envelopes.ts'
import { createExpectedRows, type ExpectedRows } from '../support/expected-rows.ts'
import { chunk, composeRequest, LAST_CHUNK } from '../support/http-bytes.ts'
import { pollUntil, within } from '../support/poll-until.ts'
import { connectRaw, finishedAnswer } from '../support/raw-client.ts'
import { openRawScene, type RawScene } from '../support/raw-scene.ts'
import type { Exchange } from '../support/raw-upstream.ts'
import { beginStream, silence, streamAnswer } from '../support/scripted-answers.ts'

// A test that outlasts its time has its server killed by the runner, and with it every test that
// follows.
setDefaultTimeout(180_000)

const scenes: RawScene[] = []
afterAll(async () => {
  for (const scene of scenes) await scene.close()
})

/**
 * A server with one deadline that is short: those that a test is not about must not be reached on a
 * machine that is busy. Its rows are compared when all its tests are done.
 */
function describeWith(
  environment: Readonly<Record<string, string>>,
  describeTests: (
    row: DialectRow,
    post: RawScene['post'],
    scene: () => RawScene,
    rows: ExpectedRows,
  ) => void,
): void {
  const [name] = Object.entries(environment).map(([variable, value]) => `${variable}=${value}`)
  describe(`with ${name}`, () => {
    const rows = createExpectedRows()
    let opened: RawScene
    beforeAll(async () => {
      opened = await openRawScene({ gates: DIALECT_GATES, environment })
      scenes.push(opened)
    })
    beforeEach(() => opened.upstream.reset())
    describe.each(TRIED.map((row) => [row.dialect, row] as const))('%s', (_, row) => {
      describeTests(
        row,
        (...parameters) => opened.post(...parameters),
        () => opened,
        rows,
      )
    })
    test('every one of these calls has its row in the ledger', async () => {
      await rows.check(opened.gatehouse)
    })
  })
}

const withoutComments = (text: string): string => text.replaceAll(/^:[^\n]*\n\n/gm, '')

/**
 * One of each envelope: waiting is what takes time here, and the dialects share the code that
 * waits.
 */
const TRIED = DIALECTS.filter((row) => ['openai-responses', 'mistral-fim'].includes(row.dialect))

describeWith(
  { GATEHOUSE_FIRST_BYTE_TIMEOUT_MS: '200', GATEHOUSE_CONNECT_TIMEOUT_MS: '400' },
  (row, post, scene, rows) => {
    test.each([false, true])(
      'an upstream that never begins is a 504 (stream: %p)',
      async (stream) => {
        const exchange = Promise.withResolvers<Exchange>()
        scene().upstream.answer((upstreamSide) => {
          exchange.resolve(upstreamSide)
          return silence(upstreamSide)
        })
        const answer = await post(row.path, requestBody(row, { stream }))
        expect(answer.status).toBe(504)
        expectTimeout(row, answer.text)
        await within(30_000, 'end of the upstream connection', (await exchange.promise).whenClosed)
        rows.expectRow(answer, {
          outcome: 'failed',
          status: 504,
          errorKind: 'upstream_timeout',
          usage: null,
        })
      },
    )
  },
)

describeWith({ GATEHOUSE_IDLE_TIMEOUT_MS: '400' }, (row, post, scene, rows) => {
  test('an upstream that falls silent in a stream is an error in the stream, without a clean end', async () => {
    scene().upstream.answer(streamAnswer(row.stream.slice(0, 2), { ending: 'hang' }))
    const answer = await post(row.path, requestBody(row, { stream: true }))
    expect(answer.status).toBe(200)
    expect(withoutComments(answer.text)).toStartWith(row.stream.slice(0, 2).join(''))
    expect(answer.text).toContain('"error"')
    expect(answer.complete).toBeFalse()
    rows.expectRow(answer, { outcome: 'failed', status: 200, errorKind: 'upstream_timeout' })
  })
})

describeWith({ GATEHOUSE_TOTAL_TIMEOUT_MS: '800' }, (row, post, scene, rows) => {
  test('an endless upstream is stopped in the end', async () => {
    scene().upstream.answer(async (exchange) => {
      await beginStream(exchange)
      while (!exchange.closed) {
        await exchange.write(chunk(row.stream[1] ?? ''))
        await Bun.sleep(50)
      }
    })
    const answer = await post(row.path, requestBody(row, { stream: true }))
    expect(answer.complete).toBeFalse()
    expect(answer.text).toContain('"error"')
    rows.expectRow(answer, { outcome: 'failed', errorKind: 'upstream_timeout' })
  })
})

describeWith({ GATEHOUSE_KEEP_ALIVE_MS: '100' }, (row, post, scene, rows) => {
  test("a gate's own time is kept", async () => {
    const { gatehouse, upstream } = scene()
    await createGate(gatehouse, `${row.gate}-hasty`, row.target, { timeoutMs: 200 })
    upstream.answer(silence)
    const answer = await post(row.path, requestBody(row, { model: `${row.gate}-hasty` }))
    expect(answer.status).toBe(504)
    expectTimeout(row, answer.text)
    rows.expectRow(answer, { outcome: 'failed', status: 504, errorKind: 'upstream_timeout' })
  })

  test('a silence in a stream is filled with comments, but not within an event', async () => {
    const { gatehouse, upstream } = scene()
    const bytes = Buffer.from(row.stream.join(''))
    const border = (row.stream[0]?.length ?? 0) + 30
    const connection = await connectRaw(gatehouse.url)
    upstream.answer(async (exchange) => {
      await beginStream(exchange)
      await exchange.write(chunk(row.stream[0] ?? ''))
      await pollUntil('a comment', () => connection.received().includes(': keep-alive\n\n'))
      await exchange.write(chunk(bytes.subarray(row.stream[0]?.length ?? 0, border)))
      // Time for what must not come.
      await Bun.sleep(350)
      await exchange.write(chunk(bytes.subarray(border)))
      await exchange.write(LAST_CHUNK)
    })
    connection.send(
      composeRequest({
        path: row.path,
        headers: { authorization: `Bearer ${gatehouse.key}`, 'content-type': 'application/json' },
        body: requestBody(row, { stream: true }),
      }),
    )
    const answer = await finishedAnswer(connection)
    connection.destroy()
    expect(answer.text).toContain(': keep-alive\n\n')
    expect(answer.text).not.toContain(': ping')
    expect(withoutComments(answer.text)).toStartWith(bytes.toString())
    expect(answer.complete).toBeTrue()
  })
})

describe('a request body that never arrives is a 408', () => {
  let scene: RawScene
  beforeAll(async () => {
    scene = await openRawScene({ gates: {}, environment: { GATEHOUSE_BODY_TIMEOUT_MS: '400' } })
    scenes.push(scene)
  })

  test.each(TRIED.map((row) => [row.dialect, row] as const))('%s', async (_, row) => {
    const connection = await connectRaw(scene.gatehouse.url)
    connection.send(
      `POST ${row.path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${scene.gatehouse.key}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`,
    )
    const answer = await finishedAnswer(connection)
    connection.destroy()
    expect(answer.status).toBe(408)
    expect(readErrorCode(row.envelope, answer.text)).toBe('request_timeout')
  })
})

function expectTimeout(row: DialectRow, text: string): void {
  if (row.envelope === 'nested') expectUpstreamError('nested', text)
  else expect(readErrorCode('flat', text)).toBe('upstream_timeout')
}
