/**
 * Members of a chat answer that its server wants back: `reasoning_details`, and `extra_content` of
 * a call. Callers of other dialects return them to their original places.
 */
import { describe, expect, test } from 'bun:test'
import { Secret } from '../../src/core/secret.ts'
import type { Credential } from '../../src/gateway/ports.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { json, stream } from '../support/scripted-upstream.ts'
import { parseEvents } from '../support/server-sent-events.ts'

const CREDENTIAL: Credential = { secret: new Secret('planted-key'), owner: 'account' }
const USER = { role: 'user', content: 'Ulm?' }
const STRICT = { 'x-gatehouse-strict': 'true' }

type Json = Readonly<Record<string, unknown>>

const call = (id: string, members: Json = {}) => ({
  id,
  type: 'function',
  function: { name: 'weather', arguments: '{"city":"Ulm"}' },
  ...members,
})
const text = (members: Json) => ({ type: 'reasoning.text', format: 'f-1', index: 0, ...members })
const encrypted = { type: 'reasoning.encrypted', data: 'ZW5j', id: 'c1', format: 'f-2', index: 1 }
const extra_content = { google: { thought_signature: 'c2ln' } }

interface Turn {
  readonly content: string | null
  readonly reasoning?: string
  readonly reasoning_details?: readonly Json[]
  readonly extra_content?: Json
  readonly tool_calls: readonly Json[]
}

const LATE = new Set(['a signature after its call', 'reasoning after a call'])

const TURNS: Readonly<Record<string, readonly [whole: Turn, deltas: readonly Json[]]>> = {
  'signed reasoning': [
    {
      content: null,
      reasoning: 'One two.',
      reasoning_details: [text({ text: 'One two.', signature: 'c2ln' })],
      tool_calls: [call('c1')],
    },
    [
      { reasoning: 'One ', reasoning_details: [text({ text: 'One ' })] },
      { reasoning: 'two.', reasoning_details: [text({ text: 'two.' })] },
      { reasoning_details: [text({ signature: 'c2ln' })] },
      { tool_calls: [{ index: 0, ...call('c1') }] },
    ],
  ],
  'encrypted reasoning beside a text': [
    {
      content: 'I ask.',
      reasoning: 'Hm.',
      reasoning_details: [text({ text: 'Hm.' }), encrypted],
      tool_calls: [call('c1')],
    },
    [
      { reasoning: 'Hm.', reasoning_details: [text({ text: 'Hm.' })] },
      { content: 'I ask.' },
      { reasoning_details: [encrypted], tool_calls: [{ index: 0, ...call('c1') }] },
    ],
  ],
  'encrypted reasoning alone': [
    { content: null, reasoning_details: [encrypted], tool_calls: [call('c1')] },
    [{ reasoning_details: [encrypted] }, { tool_calls: [{ index: 0, ...call('c1') }] }],
  ],
  'the signature of a call': [
    { content: null, tool_calls: [call('c1', { extra_content }), call('c2')] },
    [
      { tool_calls: [{ index: 0, ...call('c1', { extra_content }) }] },
      { tool_calls: [{ index: 1, ...call('c2') }] },
    ],
  ],
  'the signature of a message': [
    { content: 'I ask.', extra_content, tool_calls: [call('c1')] },
    [
      { content: 'I ' },
      { content: 'ask.', extra_content },
      { tool_calls: [{ index: 0, ...call('c1') }] },
    ],
  ],
  'a signature after its call': [
    { content: null, tool_calls: [call('c1', { extra_content }), call('c2')] },
    [
      { tool_calls: [{ index: 0, ...call('c1'), function: { name: 'weather', arguments: '' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '"Ulm"}' }, extra_content }] },
      { tool_calls: [{ index: 1, ...call('c2') }] },
      { tool_calls: [{ index: 0, extra_content }] },
    ],
  ],
  'reasoning after a call': [
    { content: null, reasoning_details: [encrypted], tool_calls: [call('c1')] },
    [{ tool_calls: [{ index: 0, ...call('c1') }] }, { reasoning_details: [encrypted] }],
  ],
}

const chunk = (delta: Json, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'r', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
const answer = (message: object, finish_reason: string) =>
  json(200, { id: 'r', choices: [{ message: { role: 'assistant', ...message }, finish_reason }] })

const CALLERS = {
  '/v1/messages': {
    body: {
      ...{ model: 'g', max_tokens: 99 },
      tools: [{ name: 'weather', input_schema: { type: 'object' } }],
    },
    ofWhole: (body: string) => ({ role: 'assistant', content: JSON.parse(body).content }),
    ofStream(body: string) {
      const blocks: Record<string, unknown>[] = []
      for (const { data } of parseEvents(body)) {
        const { type, index, content_block, delta } = JSON.parse(data)
        if (type === 'content_block_start') blocks[index] = { ...content_block }
        const block = blocks[index] ?? {}
        if (delta?.type === 'text_delta') block.text = `${block.text}${delta.text}`
        if (delta?.type === 'thinking_delta') block.thinking = `${block.thinking}${delta.thinking}`
        if (delta?.type === 'signature_delta') block.signature = delta.signature
        if (delta?.type === 'input_json_delta')
          block.json = `${block.json ?? ''}${delta.partial_json}`
      }
      for (const block of blocks) {
        if (block.json !== undefined) block.input = JSON.parse(String(block.json))
        delete block.json
      }
      return { role: 'assistant', content: blocks }
    },
    results: ({ content = [] }: Json) => [
      {
        role: 'user',
        content: (content as readonly Json[])
          .filter(({ type }) => type === 'tool_use')
          .map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'rain' })),
      },
    ],
  },
  '/v3/chat': {
    body: { gate_id: 'g', tools: [{ name: 'weather', parameters: { type: 'object' } }] },
    ofWhole: (body: string) => toTurn(JSON.parse(body)),
    ofStream: (body: string) => toTurn(JSON.parse(parseEvents(body).at(-1)?.data ?? '')),
    results: ({ tool_calls = [] }: Json) =>
      (tool_calls as readonly Json[]).map(({ id }) => ({
        ...{ role: 'tool', tool_call_id: id, content: 'rain' },
      })),
  },
} as const

function toTurn({ content, tool_calls }: Json): Json {
  return { role: 'assistant', content, tool_calls }
}

describe.each(Object.entries(CALLERS))('%s', (path, { body, ofWhole, ofStream, results }) => {
  describe.each(Object.entries(TURNS))('%s', (kind, [whole, deltas]) => {
    test.each([false, true])('comes back strictly, streamed: %p', async (isStream) => {
      const gateway = new InProcessGateway({
        gates: { g: ['openrouter/some/model'] },
        credentials: { openrouter: CREDENTIAL },
      })
      gateway.upstream.script(
        isStream
          ? stream([
              ...deltas.map((delta) => chunk(delta)),
              chunk({}, 'tool_calls'),
              'data: [DONE]\n\n',
            ])
          : answer(whole, 'tool_calls'),
      )
      const first = await gateway.ask({
        path,
        body: { ...body, messages: [USER], stream: isStream },
      })
      expect(first.status).toBe(200)
      if (isStream && path === '/v3/chat' && LATE.has(kind)) {
        expect(first.text).toContain(': x-gatehouse-ignored: answer.signature\n\n')
        return
      }
      const turn: Json = isStream ? ofStream(first.text) : ofWhole(first.text)
      gateway.upstream.script(answer({ content: 'Rain.' }, 'stop'))
      const second = await gateway.ask({
        path,
        headers: STRICT,
        body: { ...body, messages: [USER, turn, ...results(turn)] },
      })
      expect([second.status, second.headers['x-gatehouse-ignored']]).toEqual([200, undefined])
      const sent = JSON.parse(gateway.upstream.sent.at(-1)?.body ?? '')
      expect(sent.messages[1]).toEqual({ role: 'assistant', ...whole })
      expect(sent.messages.at(-1)).toMatchObject({ role: 'tool', content: 'rain' })
    })
  })
})
