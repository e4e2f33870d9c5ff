/** Upstreams that answer with anything but what was asked for. */
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test'
import { gzipSync } from 'node:zlib'
import { DIALECT_GATES, DIALECTS, requestBody } from '../support/dialect-table.ts'
import { expectUpstreamError } from '../support/envelopes.ts'
import { createExpectedRows } from '../support/expected-rows.ts'
import { openRawScene, type RawScene } from '../support/raw-scene.ts'
import type { Script } from '../support/raw-upstream.ts'
import { startRawUpstream } from '../support/raw-upstream.ts'
import {
  bodyAnswer,
  jsonAnswer,
  resetBeforeAnswer,
  streamAnswer,
} from '../support/scripted-answers.ts'

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

const raw =
  (text: string): Script =>
  async (exchange) => {
    await exchange.write(text)
    exchange.end()
  }

/** Answers that are none, whatever was asked for. */
const useless: readonly (readonly [string, Script])[] = [
  ['HTML with 200', bodyAnswer(200, '<html>proxy login</html>', { 'content-type': 'text/html' })],
  ['HTML with 502', bodyAnswer(502, '<html>bad gateway</html>', { 'content-type': 'text/html' })],
  ['an empty body that says JSON', bodyAnswer(200, '', { 'content-type': 'application/json' })],
  [
    'an empty body that says event stream',
    bodyAnswer(200, '', { 'content-type': 'text/event-stream' }),
  ],
  ['204 No Content', raw('HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n')],
  ['304 Not Modified', raw('HTTP/1.1 304 Not Modified\r\nconnection: close\r\n\r\n')],
  [
    'a picture',
    bodyAnswer(200, Buffer.from('89504e470d0a1a0a', 'hex'), { 'content-type': 'image/png' }),
  ],
  ['no content type and no JSON', bodyAnswer(200, 'hello')],
  ['a reset before the answer', resetBeforeAnswer],
  ['a close before the answer', (exchange) => exchange.end()],
  ['no HTTP at all', raw('SSH-2.0-OpenSSH_9.2\r\n\r\n')],
  ['half a head', raw('HTTP/1.1 200 OK\r\ncontent-ty')],
  [
    'a head of 300 KB',
    bodyAnswer(200, '{}', { 'content-type': 'application/json', 'x-long': 'x'.repeat(300_000) }),
  ],
  [
    'a head without a body',
    raw('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n'),
  ],
  [
    'a broken gzip',
    bodyAnswer(200, 'no gzip', { 'content-type': 'application/json', 'content-encoding': 'gzip' }),
  ],
]

describe.each(DIALECTS.map((row) => [row.dialect, row] as const))('%s', (_, row) => {
  const failsWith502 = async (script: Script, stream: boolean): Promise<void> => {
    scene.upstream.answer(script)
    const answer = await scene.post(row.path, requestBody(row, { stream }))
    expect(answer.status).toBe(502)
    expectUpstreamError(row.envelope, answer.text)
    expect(answer.headers['content-type']).toStartWith('application/json')
    expect(answer.text).not.toContain('<html>')
    rows.expectRow(answer, {
      outcome: 'failed',
      status: 502,
      errorKind: 'upstream_error',
      usage: null,
    })
  }

  describe.each([
    ['JSON', false],
    ['stream', true],
  ] as const)('asked for %s', (_kind, stream) => {
    test.each(useless)('%s is 502 in its own envelope', async (_name, script) => {
      await failsWith502(script, stream)
    })

    test('a redirect is not followed', async () => {
      const elsewhere = await startRawUpstream()
      elsewhere.answer(jsonAnswer(200, row.answer))
      for (const status of [301, 302, 307, 308]) {
        await failsWith502(
          bodyAnswer(status, '', { location: `${elsewhere.url}/v1/stolen` }),
          stream,
        )
      }
      expect(elsewhere.requests).toBeEmpty()
      await elsewhere.stop()
    })
  })

  test.each([
    ['bad JSON', '{"id": nonsense}'],
    ['half a JSON text', row.answer.slice(0, 100)],
    ['JSON that is not an object', '[1,2]'],
    ['JSON with text after it', `${row.answer.trim()} {}`],
  ])('%s is 502', async (_name, body) => {
    await failsWith502(jsonAnswer(200, body), false)
  })

  test('an event stream for a call without streaming is 502', async () => {
    await failsWith502(streamAnswer(row.stream), false)
  })

  test('JSON for a call with streaming is 502', async () => {
    await failsWith502(jsonAnswer(200, row.answer), true)
  })

  test('an answer that breaks off is never shown as a whole one', async () => {
    scene.upstream.answer(
      raw(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(row.answer) + 100}\r\n\r\n${row.answer}`,
      ),
    )
    const answer = await scene.post(row.path, requestBody(row))
    if (answer.status === 200) expect(answer.complete).toBeFalse()
    else expect(answer.status).toBe(502)
    rows.expectRow(answer, {
      outcome: 'failed',
    })
  })

  test('a chunk per byte gives the same bytes, JSON and stream', async () => {
    const bytes = (text: string): Uint8Array[] =>
      Array.from(Buffer.from(text), (byte) => Uint8Array.of(byte))
    scene.upstream.answer(
      streamAnswer(bytes(row.answer), {
        headers: { 'content-type': 'application/json; charset=utf-8' },
      }),
    )
    expect((await scene.post(row.path, requestBody(row))).text).toBe(row.answer)
    scene.upstream.answer(streamAnswer(bytes(row.stream.join(''))))
    const answer = await scene.post(row.path, requestBody(row, { stream: true }))
    expect(answer.text).toStartWith(row.stream.join(''))
    expect(answer.complete).toBeTrue()
  })

  test('a JSON answer without a length or chunks, ended by the close, is whole', async () => {
    scene.upstream.answer(
      raw(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n${row.answer}`),
    )
    const answer = await scene.post(row.path, requestBody(row))
    expect(answer).toMatchObject({ status: 200, text: row.answer, complete: true })
  })

  test('an unrequested compressed answer is refused', async () => {
    scene.upstream.answer(
      bodyAnswer(200, gzipSync(row.answer), {
        'content-type': 'application/json',
        'content-encoding': 'gzip',
      }),
    )
    const answer = await scene.post(row.path, requestBody(row), { 'accept-encoding': 'gzip' })
    expect(scene.upstream.last().headers['accept-encoding']).toBe('identity')
    expect(answer.status).toBe(502)
    expectUpstreamError(row.envelope, answer.text)
    expect(answer.text).toContain('compressed its answer (gzip)')
  })

  test('an address without a server is 502', async () => {
    const gone = await startRawUpstream()
    await gone.stop()
    const other = await openRawScene({
      gates: { [row.gate]: row.target },
      environment: { OPENAI_BASE_URL: `${gone.url}/v1`, MISTRAL_BASE_URL: `${gone.url}/v1` },
    })
    try {
      const answer = await other.post(row.path, requestBody(row))
      expect(answer.status).toBe(502)
      expectUpstreamError(row.envelope, answer.text)
      expect(answer.text).not.toContain('127.0.0.1')
    } finally {
      await other.close()
    }
  })
})

test('every one of these calls has its row in the ledger', async () => {
  await rows.check(scene.gatehouse)
})
