/**
 * The last block of a translated Messages answer. Clients show its text as the result, so no
 * encrypted reasoning follows the text.
 */
import { describe, expect, test } from 'bun:test'
import { Secret } from '../../src/core/secret.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { json, stream } from '../support/scripted-upstream.ts'
import { parseEvents } from '../support/server-sent-events.ts'

const TARGET = 'gemini/gemini-3-pro'
const USER = { role: 'user', content: 'Ulm?' }
const TOOLS = [{ name: 'weather', input_schema: { type: 'object' } }]
const THOUGHT = { text: 'Hm.', thought: true }
const CALL = {
  functionCall: { name: 'weather', args: { city: 'Ulm' } },
  thoughtSignature: 'c2lnMg==',
}

type Part = Readonly<Record<string, unknown>>
type Block = Readonly<Record<string, string>>

const toAnswer = (parts: readonly Part[], members: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, ...members }],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2 },
})
const toStream = (parts: readonly Part[]) =>
  stream([
    ...parts.map((part) => `data: ${JSON.stringify(toAnswer([part]))}\r\n\r\n`),
    `data: ${JSON.stringify(toAnswer([], { finishReason: 'STOP' }))}\r\n\r\n`,
  ])
const toWhole = (parts: readonly Part[]) => json(200, toAnswer(parts, { finishReason: 'STOP' }))

function collect(text: string): Block[] {
  const blocks: Record<string, string>[] = []
  for (const { data } of parseEvents(text)) {
    const { type, index, content_block, delta } = JSON.parse(data)
    if (type === 'content_block_start') blocks[index] = { ...content_block }
    const block = blocks[index] ?? {}
    if (delta?.type === 'text_delta') block.text += delta.text
    if (delta?.type === 'thinking_delta') block.thinking += delta.thinking
    if (delta?.type === 'signature_delta') block.signature = delta.signature
    if (delta?.type === 'input_json_delta') block.json = (block.json ?? '') + delta.partial_json
  }
  return blocks.map(({ json: input, ...block }) =>
    input === undefined ? block : { ...block, input: JSON.parse(input) },
  )
}

async function ask(parts: readonly Part[], isStream: boolean) {
  const gateway = new InProcessGateway({
    gates: { g: [TARGET] },
    credentials: { gemini: { secret: new Secret('planted-gemini'), owner: 'account' } },
  })
  const body = { model: 'g', max_tokens: 99, tools: TOOLS }
  const path = '/v1/messages'
  gateway.upstream.script(isStream ? toStream(parts) : toWhole(parts))
  const first = await gateway.ask({ path, body: { ...body, messages: [USER], stream: isStream } })
  expect(first.status).toBe(200)
  const content: Block[] = isStream ? collect(first.text) : JSON.parse(first.text).content
  const id = content.at(-1)?.id
  const next =
    id === undefined
      ? { role: 'user', content: 'And?' }
      : { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'rain' }] }
  gateway.upstream.script(toWhole([{ text: 'Rain.' }]))
  const messages = [USER, { role: 'assistant', content }, next]
  expect((await gateway.ask({ path, body: { ...body, messages } })).status).toBe(200)
  const sent = JSON.parse(gateway.upstream.sent.at(-1)?.body ?? '').contents[1].parts
  return { types: content.map(({ type }) => type), last: content.at(-1), sent }
}

describe.each([false, true])('streamed: %p', (isStream) => {
  test.each([
    ['on the text', [THOUGHT, { text: 'Hello.', thoughtSignature: 'c2lnMQ==' }]],
    [
      'on an empty text at the end',
      [{ text: 'Hello.' }, { text: '', thoughtSignature: 'c2lnMQ==' }],
    ],
  ])('a signature %s does not end the message', async (_, parts) => {
    const { last, sent } = await ask(parts, isStream)
    expect(last).toEqual({ type: 'text', text: 'Hello.' })
    // The signature of a text is optional, because a stream sends the text before the signature is
    // known.
    expect(sent).toEqual([
      { text: 'Hello.' },
      ...(isStream ? [] : [{ text: '', thoughtSignature: 'c2lnMQ==' }]),
    ])
  })

  test('a signature between text and call stays there', async () => {
    const text = { text: 'Let me see.', thoughtSignature: 'c2lnMQ==' }
    const { types, sent } = await ask([text, CALL], isStream)
    expect(types).toEqual(['text', 'redacted_thinking', 'tool_use'])
    expect(sent).toEqual([
      { text: 'Let me see.' },
      { text: '', thoughtSignature: 'c2lnMQ==' },
      CALL,
    ])
  })

  test('a signature without any text is told', async () => {
    const { types, sent } = await ask([{ text: '', thoughtSignature: 'c2lnMQ==' }], isStream)
    expect(types).toEqual(['redacted_thinking'])
    expect(sent).toEqual([{ text: '', thoughtSignature: 'c2lnMQ==' }])
  })
})
