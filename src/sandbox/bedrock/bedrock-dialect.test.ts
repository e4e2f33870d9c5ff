import { afterAll, describe, expect, test } from 'bun:test'
import { EventStreamCodec } from '@smithy/eventstream-codec'
import { startSandbox } from '../start-sandbox.ts'

const sandbox = startSandbox()
afterAll(() => sandbox.stop())

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : new TextDecoder().decode(bytes)),
  (text) => new TextEncoder().encode(text),
)

interface Block {
  text?: string
  toolUse?: { toolUseId: string; name: string; input: object }
  reasoningContent?: { reasoningText: { text: string; signature: string } }
}
interface Converse {
  output: { message: { role: string; content: Block[] } }
  stopReason: string
  usage: Record<string, number>
}

function post(model: string, body: object, method = 'converse', authorization = 'Bearer any') {
  return fetch(`${sandbox.url}/bedrock/model/${encodeURIComponent(model)}/${method}`, {
    method: 'POST',
    headers: { authorization },
    body: JSON.stringify(body),
  })
}

async function ask(model: string, body: object): Promise<Converse> {
  const answer = await post(model, body)
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(text)
  return JSON.parse(text)
}

/** Each frame's type and payload, after checking the checksums. */
async function frames(model: string, body: object) {
  const answer = await post(model, body, 'converse-stream')
  expect(answer.headers.get('content-type')).toBe('application/vnd.amazon.eventstream')
  const bytes = new Uint8Array(await answer.arrayBuffer())
  const read: { kind: unknown; type: unknown; text: string }[] = []
  for (let at = 0; at < bytes.length; ) {
    const length = new DataView(bytes.buffer, at).getUint32(0)
    const { headers, body: payload } = codec.decode(bytes.subarray(at, at + length))
    const type = headers[':event-type'] ?? headers[':exception-type']
    read.push({
      kind: headers[':message-type']?.value,
      type: type?.value,
      text: new TextDecoder().decode(payload),
    })
    at += length
  }
  return read
}

const user = (...content: object[]) => ({ role: 'user', content })
const assistant = (...content: object[]) => ({ role: 'assistant', content })
const hello = { messages: [user({ text: 'Hi' })] }
const spec = (name: string, properties: object = {}) => ({
  toolSpec: { name, inputSchema: { json: { type: 'object', properties } } },
})
const question = user({ text: 'Use get_weather for "Ulm", then now.' })
const toolConfig = { tools: [spec('get_weather', { city: { type: 'string' } }), spec('now')] }
const THINKING = { thinking: { type: 'enabled', budget_tokens: 1024 } }
const loop = { messages: [question], toolConfig, additionalModelRequestFields: THINKING }
const resultsFor = (content: readonly Block[]) =>
  user(
    ...content.flatMap(({ toolUse }) =>
      toolUse === undefined
        ? []
        : [
            {
              toolResult: {
                toolUseId: toolUse.toolUseId,
                content: [{ text: `result of ${toolUse.name}` }],
              },
            },
          ],
    ),
  )

test('an answer, and its stream with the counts after the end', async () => {
  const whole = await ask('echo', hello)
  expect(whole).toMatchObject({
    output: { message: { role: 'assistant', content: [{ text: 'Sandbox echo: Hi' }] } },
    stopReason: 'end_turn',
  })
  const read = await frames('echo', hello)
  expect(read.map(({ kind }) => kind)).toEqual(Array(read.length).fill('event'))
  expect(read.map(({ type }) => type).filter((type, at, all) => type !== all[at - 1])).toEqual([
    'messageStart',
    'contentBlockDelta',
    'contentBlockStop',
    'messageStop',
    'metadata',
  ])
  const payloads = read.map(({ text }) => JSON.parse(text))
  expect(payloads.map((payload) => payload.delta?.text ?? '').join('')).toBe('Sandbox echo: Hi')
  expect(payloads.at(-1).usage).toEqual(whole.usage)
})

test('a loop of parallel calls with reasoning', async () => {
  const first = await ask('echo', loop)
  const { content } = first.output.message
  expect(first.stopReason).toBe('tool_use')
  expect(content.map(({ toolUse }) => toolUse?.input)).toEqual([undefined, { city: 'Ulm' }, {}])
  const second = await ask('echo', {
    ...loop,
    messages: [question, assistant(...content), resultsFor(content)],
  })
  expect(second.output.message.content.at(-1)).toEqual({
    text: 'Sandbox echo of tool outputs: result of get_weather; result of now',
  })
})

test('the same calls in a stream: only tools have a start, and a tool without arguments has one empty piece', async () => {
  const payloads = (await frames('echo', loop)).map(({ text }) => JSON.parse(text))
  const starts = payloads.filter(({ start }) => start !== undefined)
  expect(
    starts.map(({ contentBlockIndex, start }) => [contentBlockIndex, start.toolUse.name]),
  ).toEqual([
    [1, 'get_weather'],
    [2, 'now'],
  ])
  const inputs = [1, 2].map((index) =>
    payloads
      .filter(({ contentBlockIndex }) => contentBlockIndex === index)
      .map(({ delta }) => delta?.toolUse.input ?? '')
      .join(''),
  )
  expect(inputs).toEqual(['{"city":"Ulm"}', ''])
  expect(
    payloads.filter(({ delta }) => delta?.reasoningContent?.signature !== undefined),
  ).toHaveLength(1)
})

async function refusalOf(body: object, model = 'echo'): Promise<string> {
  const answer = await post(model, body)
  expect([answer.status, answer.headers.get('x-amzn-errortype')]).toEqual([
    400,
    'ValidationException',
  ])
  return ((await answer.json()) as { message: string }).message
}

describe('changed reasoning is refused', async () => {
  const { content } = (await ask('echo', loop)).output.message
  const [thought, ...calls] = content
  const { text = '', signature = '' } = thought?.reasoningContent?.reasoningText ?? {}
  const going = (...blocks: object[]) => ({
    ...loop,
    messages: [question, assistant(...blocks), resultsFor(content)],
  })
  test.each<[string, object[], string]>([
    ['missing', [], 'Expected `thinking` or `redacted_thinking`, but found `tool_use`'],
    [
      'altered',
      [{ reasoningContent: { reasoningText: { text: `${text}!`, signature } } }],
      'cannot be modified',
    ],
    ['unsigned', [{ reasoningContent: { reasoningText: { text } } }], 'Invalid `signature`'],
  ])('%s', async (_, blocks, message) => {
    const refusal = await refusalOf(going(...blocks, ...calls))
    expect(refusal).toStartWith('The model returned the following errors: messages.1.content.0')
    expect(refusal).toContain(message)
  })
})

const use = { toolUse: { toolUseId: 'a', name: 'now', input: {} } }
const result = { toolResult: { toolUseId: 'a', content: [{ text: 'noon' }] } }

test.each<[string, object, string]>([
  ['no messages', {}, 'must start with a user message'],
  [
    'an assistant first',
    { messages: [assistant({ text: 'x' })] },
    'must start with a user message',
  ],
  [
    'two of one role',
    { messages: [question, question] },
    'must alternate between user and assistant',
  ],
  ['a blank text', { messages: [user({ text: ' ' })] }, 'messages.0.content.0 is blank'],
  [
    'a block in another vendor’s shape',
    { messages: [user({ type: 'text', text: 'x' })] },
    'exactly one member',
  ],
  [
    'tool blocks without toolConfig',
    { messages: [question, assistant(use), user(result)] },
    'toolConfig field must be defined',
  ],
  [
    'a call without its result',
    { toolConfig, messages: [question, assistant(use), question] },
    'for the following Ids: a',
  ],
  [
    'a result without its call',
    { toolConfig, messages: [question, assistant({ text: 'x' }), user(result)] },
    'exceeds the number of toolUse',
  ],
  [
    'arguments as text',
    {
      toolConfig,
      messages: [question, assistant({ toolUse: { ...use.toolUse, input: '{}' } }), user(result)],
    },
    'Provide a json object',
  ],
  [
    'an id with a dot',
    {
      toolConfig,
      messages: [question, assistant({ toolUse: { ...use.toolUse, toolUseId: 'a.b' } })],
    },
    '[a-zA-Z0-9_-]+',
  ],
  ['an unknown member', { ...hello, model: 'x' }, 'extraneous key [model]'],
  ['an unknown setting', { ...hello, inferenceConfig: { topK: 1 } }, 'extraneous key [topK]'],
  ['too hot', { ...hello, inferenceConfig: { temperature: 2 } }, 'less than or equal to 1'],
  ['no tools in toolConfig', { ...hello, toolConfig: { tools: [] } }, 'greater than or equal to 1'],
])('%s is refused', async (_, body, message) => {
  expect(await refusalOf(body)).toContain(message)
})

test('limits, stop texts, JSON and choices are obeyed', async () => {
  const one = (inferenceConfig: object) => ask('echo', { ...hello, inferenceConfig })
  expect((await one({ maxTokens: 2 })).stopReason).toBe('max_tokens')
  expect((await one({ stopSequences: [' echo'] })).stopReason).toBe('stop_sequence')
  const schema = JSON.stringify({ type: 'object', properties: { a: { type: 'integer' } } })
  const textFormat = { type: 'json_schema', structure: { jsonSchema: { name: 'x', schema } } }
  expect(
    (await ask('echo', { ...hello, outputConfig: { textFormat } })).output.message.content,
  ).toEqual([{ text: '{"a":1}' }])
  const toolChoice = { tool: { name: 'now' } }
  const forced = await ask('echo', { ...hello, toolConfig: { ...toolConfig, toolChoice } })
  expect(forced.output.message.content[0]?.toolUse?.name).toBe('now')
})

test('an exception is a separate kind of frame, and a broken payload has valid checksums', async () => {
  const failed = await frames('error-mid-stream', hello)
  expect(failed.at(-1)).toMatchObject({ kind: 'exception', type: 'internalServerException' })
  const broken = (await frames('bad-json', hello)).filter(({ text }) => !text.endsWith('}'))
  expect(broken).toHaveLength(1)
})

test('faults strike at the border of a frame, or within one', async () => {
  const stream = async (fault: string) =>
    Buffer.from(await (await post(fault, hello, 'converse-stream')).arrayBuffer())
  const whole = await stream('echo')
  const cut = await stream('clean-cut-2')
  const half = await stream('half-event-2')
  expect(whole.subarray(0, cut.length)).toEqual(cut)
  expect(whole.subarray(0, half.length)).toEqual(half)
  expect(half.length).toBeGreaterThan(cut.length)
  expect(await stream('drip')).toEqual(whole)
  expect(stream('cut-mid-stream')).rejects.toThrow()
})

test('errors have Amazon’s types', async () => {
  for (const [model, status, type] of [
    ['429', 429, 'ThrottlingException'],
    ['500', 500, 'InternalServerException'],
    ['overloaded', 503, 'ServiceUnavailableException'],
    ['anthropic.claude-v2:1', 404, 'ResourceNotFoundException'],
    ['403', 403, 'AccessDeniedException'],
  ] as const) {
    const answer = await post(model, hello)
    expect([answer.status, answer.headers.get('x-amzn-errortype')]).toEqual([status, type])
  }
})

test('an AWS signature counts as a key if it is well-formed', async () => {
  const scope = 'AKIAEXAMPLE/20260101/us-east-1/bedrock/aws4_request'
  const signed = (names: string, signature: string) =>
    `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=${names}, Signature=${signature}`
  const send = async (authorization: string) => {
    const headers = { authorization, 'x-amz-date': '20260101T000000Z' }
    const url = `${sandbox.url}/bedrock/model/echo/converse`
    return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(hello) })).status
  }
  expect(await send(signed('host;x-amz-date', 'a'.repeat(64)))).toBe(200)
  expect(await send(signed('host', 'a'.repeat(64)))).toBe(403)
  expect(await send(signed('host;x-amz-date', 'abc'))).toBe(403)
  expect((await post('echo', hello, 'converse', '')).status).toBe(403)
  const refused = await post('echo', hello, 'converse', 'Bearer sandbox-bad-key')
  expect([refused.status, refused.headers.get('x-amzn-errortype')]).toEqual([
    403,
    'UnrecognizedClientException',
  ])
})
