/**
 * Requests that no endpoint may take: each is refused with the right status and envelope, and
 * nothing leaks.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { BROKEN_HTTP } from '../support/broken-http.ts'
import { readErrorCode } from '../support/envelopes.ts'
import { isRunning } from '../support/is-running.ts'
import { MALFORMED_CALLS } from '../support/malformed-calls.ts'
import { MALFORMED_CONTROL_REQUESTS } from '../support/malformed-control-requests.ts'
import type { MalformedRequest } from '../support/malformed-request.ts'
import { connectRaw, finishedAnswer, type RawAnswer, sendRaw } from '../support/raw-client.ts'
import { PLANTED_MISTRAL_KEY, PLANTED_OPENAI_KEY, RESPONSES } from '../support/raw-scene.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

// A test that outlasts its time has its server killed by the runner, and with it every test that
// follows.
setDefaultTimeout(180_000)

let gatehouse: Gatehouse
const answers: RawAnswer[] = []

beforeAll(async () => {
  gatehouse = await startGatehouse({
    sandbox: true,
    environment: { OPENAI_API_KEY: PLANTED_OPENAI_KEY, MISTRAL_API_KEY: PLANTED_MISTRAL_KEY },
  })
})
afterAll(() => gatehouse.remove())

async function send(row: MalformedRequest): Promise<RawAnswer> {
  const headers = Object.entries({
    authorization: `Bearer ${gatehouse.key}`,
    'content-type': 'application/json',
    ...row.headers,
  }).filter(([, value]) => value !== '')
  const answer = await sendRaw(gatehouse.url, {
    method: row.method ?? 'POST',
    path: row.path,
    headers: Object.fromEntries(headers),
    ...(row.body === undefined ? {} : { body: row.body }),
  })
  answers.push(answer)
  return answer
}

async function expectRefused(row: MalformedRequest): Promise<void> {
  const answer = await send(row)
  expect({ status: answer.status, body: answer.status === row.status ? '' : answer.text }).toEqual({
    status: row.status,
    body: '',
  })
  expect(answer.headers['x-request-id']).toMatch(/^req_/)
  if (row.status === 405) expect(answer.headers.allow ?? '').not.toBe('')
  if (row.envelope === 'none') return
  expect(answer.headers['content-type']).toStartWith('application/json')
  readErrorCode(row.envelope, answer.text)
  if (row.contains !== undefined) expect(answer.text).toContain(row.contains)
}

const toCase = (row: MalformedRequest) =>
  [row.method ?? 'POST', row.path.slice(0, 60), row.name, row] as const

describe('the data plane refuses', () => {
  test.each(MALFORMED_CALLS.map(toCase))('%s %s: %s', async (_method, _path, _name, row) => {
    await expectRefused(row)
  })
})

describe('the control plane refuses', () => {
  test.each(MALFORMED_CONTROL_REQUESTS.map(toCase))(
    '%s %s: %s',
    async (_method, _path, _name, row) => {
      await expectRefused(row)
    },
  )
})

describe('broken HTTP is neither a success nor a failure of the server', () => {
  test.each(BROKEN_HTTP)('%s', async (_name, bytes) => {
    const connection = await connectRaw(gatehouse.url)
    connection.send(Buffer.from(bytes, 'latin1'))
    // Some of these wait for more; half-closing says that no more comes.
    await Bun.sleep(20)
    if (connection.received().length === 0) connection.socket.end()
    const answer = await finishedAnswer(connection)
    connection.destroy()
    answers.push(answer)
    expect(
      answer.status === 0 ||
        (answer.status >= 400 && answer.status < 500) ||
        answer.status === 501 ||
        answer.status === 505,
    ).toBeTrue()
  })

  test('a body that breaks off', async () => {
    for (const framing of [
      'content-length: 100\r\n\r\n{"model":',
      'transfer-encoding: chunked\r\n\r\n9\r\n{"model":\r\n',
    ]) {
      const connection = await connectRaw(gatehouse.url)
      connection.send(
        `POST ${RESPONSES} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gatehouse.key}\r\n${framing}`,
      )
      await Bun.sleep(50)
      connection.destroy()
    }
  })

  test('a second request hidden in the body of the first is not served', async () => {
    const hidden = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n'
    const answer = await sendRaw(
      gatehouse.url,
      `POST ${RESPONSES} HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
    )
    expect(answer.status).not.toBe(200)
    expect(answer.text).not.toContain('HTTP/1.1 200')
  })
})

describe('sizes', () => {
  test('a body with an enormous declared length is refused before it is sent', async () => {
    for (const path of [
      RESPONSES,
      '/v1/chat/completions',
      '/alt/v1/fim/completions',
      '/v1/gates',
    ]) {
      const connection = await connectRaw(gatehouse.url)
      connection.send(
        `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gatehouse.key}\r\ncontent-type: application/json\r\ncontent-length: 10000000000\r\n\r\n{`,
      )
      const answer = await finishedAnswer(connection)
      connection.destroy()
      answers.push(answer)
      expect(answer.status).toBe(413)
    }
  })

  test('an endless chunked body is refused when it has grown too large', async () => {
    const connection = await connectRaw(gatehouse.url)
    connection.send(
      `POST /v1/gates HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gatehouse.key}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
    )
    const piece = `10000\r\n${' '.repeat(65_536)}\r\n`
    for (
      let sent = 0;
      sent < 400 && connection.received().length === 0 && !connection.closed;
      sent++
    ) {
      connection.send(piece)
      await Bun.sleep(1)
    }
    const answer = await finishedAnswer(connection)
    connection.destroy()
    expect(answer.status).toBe(413)
    readErrorCode('flat', answer.text)
  })
})

describe('afterwards', () => {
  test('the table had enough rows', () => {
    expect(
      MALFORMED_CALLS.length + MALFORMED_CONTROL_REQUESTS.length + BROKEN_HTTP.length,
    ).toBeGreaterThanOrEqual(150)
  })

  test('the same process runs and serves', async () => {
    const answer = await sendRaw(gatehouse.url, {
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${gatehouse.key}`, 'content-type': 'application/json' },
      body: '{"gate_id":"demo","messages":[{"role":"user","content":"hi"}]}',
    })
    expect(answer.status).toBe(200)
    expect(isRunning(gatehouse.pid)).toBeTrue()
  })

  test('no answer was a 500', () => {
    expect(
      answers.filter(
        (answer) => answer.status >= 500 && answer.status !== 501 && answer.status !== 505,
      ),
    ).toEqual([])
  })

  test('no planted key is in any answer or output of the process', () => {
    const shown = [...answers.map((answer) => answer.head + answer.text), gatehouse.output()].join(
      '\n',
    )
    for (const secret of [PLANTED_OPENAI_KEY, PLANTED_MISTRAL_KEY, gatehouse.key]) {
      expect(shown.includes(secret)).toBeFalse()
    }
  })
})
