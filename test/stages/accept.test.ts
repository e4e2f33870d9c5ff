/** Stage 2: which requests are valid, how large they may be, and how long they may take. */
import { describe, expect, test } from 'bun:test'
import { readErrorCode } from '../support/envelopes.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import {
  CHAT,
  CHAT_ANSWER,
  chatBody,
  GATE,
  runRow,
  runRows,
  TARGET,
} from '../support/stage-rows.ts'

const TEXT = JSON.stringify(chatBody())
const LIMITS = { maxBodyBytes: Buffer.byteLength(TEXT), bodyTimeoutMs: 1_000 }

function arriving(
  pieces: readonly string[],
  end: 'whole' | 'silence' | Error = 'whole',
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const left = pieces.map((piece) => new TextEncoder().encode(piece))
  return new ReadableStream({
    pull(controller) {
      const next = left.shift()
      if (next !== undefined) controller.enqueue(next)
      else if (end === 'whole') controller.close()
      else if (end === 'silence') return new Promise(() => {})
      else controller.error(end)
      return undefined
    },
  })
}

const refused = (status: number, error: object) => ({
  seen: {
    status,
    json: { error },
    headers: { 'x-gatehouse-target': null, 'cache-control': 'no-store' },
  },
  settled: null,
})

describe('an unusable request', () => {
  const invalid = (code: string | null, message: string, param: string | null = null) =>
    refused(400, {
      type: 'invalid_request_error',
      code,
      param,
      message: expect.stringContaining(message),
    })
  runRows([
    { name: 'nothing', request: { body: undefined }, ...invalid('invalid_json', 'is empty') },
    {
      name: 'nothing, with its length',
      request: { body: '' },
      ...invalid('invalid_json', 'is empty'),
    },
    {
      name: 'nothing, in pieces',
      request: { body: arriving([]) },
      ...invalid('invalid_json', 'is empty'),
    },
    {
      name: 'half a JSON text',
      request: { body: TEXT.slice(0, -1) },
      ...invalid('invalid_json', 'not usable'),
    },
    { name: 'an array', request: { body: '[]' }, ...invalid('invalid_json', 'not usable') },
    {
      name: 'text after it',
      request: { body: `${TEXT} {}` },
      ...invalid('invalid_json', 'not usable'),
    },
    {
      name: 'two members of one name',
      request: { body: `{"model":"${GATE}","model":"b","messages":[]}` },
      ...invalid('invalid_json', 'not usable'),
    },
    {
      name: 'bytes of invalid UTF-8',
      request: {
        body: Buffer.concat([Buffer.from('{"model":"'), Buffer.from([0xff]), Buffer.from('"}')]),
      },
      ...invalid('invalid_json', 'not usable'),
    },
    {
      name: 'no gate',
      request: { body: { messages: [] } },
      ...invalid('missing_required_parameter', "'model' is required", 'model'),
    },
    {
      name: 'an empty gate',
      request: { body: chatBody({ model: '' }) },
      ...invalid('invalid_value', 'must not be empty', 'model'),
    },
    {
      name: 'a gate that is a number',
      request: { body: chatBody({ model: 1 }) },
      ...invalid('invalid_type', 'must be a string', 'model'),
    },
    {
      name: 'no messages',
      request: { body: { model: GATE } },
      ...invalid('missing_required_parameter', "'messages' is required", 'messages'),
    },
    ...[
      'Model',
      'MODEL',
      'mo\u0044el',
      '\u017ftream',
      'Stream_Options',
      'stor\u0045',
      'Gate_ID',
    ].map((member) => ({
      name: `a member ${member}, which some servers read as that in small letters`,
      request: { body: chatBody({ [member]: 'x' }) },
      ...invalid('invalid_value', 'only in case', member),
    })),
    {
      name: 'a member of the wrong type',
      request: { body: chatBody({ stream: 'yes' }) },
      ...invalid('invalid_type', "'stream' must be a boolean", 'stream'),
    },
  ])

  test.each([
    [
      '/v1/responses',
      { model: GATE, input: 'x', store: true },
      'nested',
      'unsupported_parameter',
      'store',
    ],
    ['/v1/embeddings', { model: GATE }, 'nested', 'missing_required_parameter', 'input'],
    ['/v1/messages', chatBody(), 'messages', 'invalid_request_error', 'max_tokens'],
    ['/v1/messages/count_tokens', { model: GATE }, 'messages', 'invalid_request_error', 'messages'],
    ['/v3/chat', { gate_id: GATE, messages: [], odd: 1 }, 'flat', 'invalid_request', 'odd'],
    ['/alt/v1/fim/completions', { model: GATE }, 'flat', 'invalid_request', 'prompt'],
    ['/alt/v1/chat/completions', { model: GATE }, 'flat', 'invalid_request', 'messages'],
  ] as const)(
    '%s names the wrong member, in its own envelope',
    (path, body, envelope, code, member) =>
      runRow({
        request: { path, body },
        seen: { status: 400, contains: [`'${member}'`] },
        settled: null,
        check: (_, { text }) => expect(readErrorCode(envelope, text)).toBe(code),
      }),
  )
})

describe('headers of the body', () => {
  const wrong = (code: string, param: string) => refused(400, { code, param })
  const type = (value: string | null) => ({ headers: { 'content-type': value } })
  const passed = {
    upstream: [CHAT_ANSWER],
    seen: { status: 200 },
    sent: [{ headers: { 'content-type': 'application/json', 'content-encoding': null } }],
    settled: { outcome: 'succeeded' as const },
  }
  runRows([
    ...[
      'application/json; charset=utf-8',
      'APPLICATION/JSON;charset="UTF8"',
      'application/x.y+json',
    ].map((value) => ({ name: `${value} passes`, request: type(value), ...passed })),
    { name: 'no content type passes', request: { ...type(null), body: TEXT }, ...passed },
    {
      name: 'a body that says it is not compressed passes',
      request: { headers: { 'content-encoding': 'Identity' } },
      ...passed,
    },
    ...['text/plain', 'application/json; charset=latin1', 'application/x-www-form-urlencoded'].map(
      (value) => ({
        name: `${value} is refused`,
        request: type(value),
        ...wrong('invalid_content_type', 'content-type'),
      }),
    ),
    {
      name: 'a compressed body is refused',
      request: { headers: { 'content-encoding': 'gzip' } },
      ...wrong('unsupported_content_encoding', 'content-encoding'),
    },
  ])
})

describe('size', () => {
  const gateway = { bodyLimits: LIMITS }
  const tooLarge = refused(413, {
    code: 'payload_too_large',
    message: `The request body is larger than ${LIMITS.maxBodyBytes} bytes.`,
  })
  const passed = {
    gateway,
    upstream: [CHAT_ANSWER],
    seen: { status: 200 },
    sent: [{ json: { model: 'gpt-4o' } }],
    settled: { outcome: 'succeeded' as const },
  }
  const half = [TEXT.slice(0, 20), TEXT.slice(20)]
  runRows([
    { name: 'as large as it may be, with its length', request: { body: TEXT }, ...passed },
    { name: 'as large as it may be, in pieces', request: { body: arriving(half) }, ...passed },
    { name: 'a byte more, with its length', gateway, request: { body: `${TEXT} ` }, ...tooLarge },
    {
      name: 'a byte more, in pieces',
      gateway,
      request: { body: arriving([...half, ' ']) },
      ...tooLarge,
    },
    {
      name: 'without an end, in pieces: it is refused before that',
      gateway,
      request: { body: arriving([TEXT, ' '], 'silence') },
      ...tooLarge,
      tookMs: 0,
    },
  ])
})

describe('time', () => {
  const gateway = { bodyLimits: { bodyTimeoutMs: 1_000 } }
  const late = refused(408, {
    code: 'request_timeout',
    message: 'The request body did not arrive in time.',
  })
  runRows([
    {
      name: 'a body that stops coming is given up',
      gateway,
      request: { body: arriving([TEXT.slice(0, 20)], 'silence') },
      ...late,
      tookMs: 1_000,
    },
    {
      name: 'a body that breaks off is refused at once',
      gateway,
      request: { body: arriving([TEXT.slice(0, 20)], new Error('the connection went')) },
      ...refused(400, { message: 'The request body could not be read to its end.', code: null }),
      tookMs: 0,
    },
  ])

  test('a body that goes on after its time is not held', async () => {
    const scene = new InProcessGateway({ gates: { [GATE]: [TARGET] }, ...gateway, upstream: [] })
    const late = Promise.withResolvers<void>()
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      async start(controller) {
        controller.enqueue(new TextEncoder().encode(TEXT.slice(0, 20)))
        await late.promise
        controller.enqueue(new TextEncoder().encode(TEXT.slice(20)))
      },
    })
    const { seen } = scene.begin({ path: CHAT, body })
    await scene.clock.advance(1_100)
    expect((await scene.clock.finish(seen)).status).toBe(408)
    late.resolve()
    await scene.clock.idle()
    await scene.assertNothingIsLeft()
  })

  test('a body that arrives in time waits for nothing and leaves no deadline behind', async () => {
    const scene = new InProcessGateway({
      gates: { [GATE]: [TARGET] },
      ...gateway,
      upstream: [CHAT_ANSWER],
    })
    const seen = await scene.ask({ path: CHAT, body: arriving([TEXT]) })
    expect({ status: seen.status, pending: scene.deadlines.size }).toEqual({
      status: 200,
      pending: 0,
    })
    expect(scene.clock.passedMs).toBe(0)
  })
})
