/**
 * Requests that are made to cost much: each is refused by what it is, in the caller's envelope,
 * before it is worked on. What they cost is measured from outside (process/). Here nothing listens.
 */
import { describe, expect, test } from 'bun:test'
import { CHAT_JSON } from '../support/dialect-samples.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { json, stream } from '../support/scripted-upstream.ts'
import { CHAT_ANSWER, chatBody, GATE, runRows, TARGET } from '../support/stage-rows.ts'

const wide = (members: number) =>
  Object.fromEntries(Array.from({ length: members }, (_, index) => [`m${index}`, index]))

describe('a content type', () => {
  const type = (value: string) => ({ headers: { 'content-type': value } })
  const refused = {
    seen: { status: 400, json: { error: { code: 'invalid_content_type', param: 'content-type' } } },
    settled: null,
  }
  runRows([
    {
      name: 'that goes on for ever is refused',
      request: type(`application/json;${' '.repeat(15_000)}x`),
      ...refused,
    },
    {
      name: 'of many parameters is refused',
      request: type(`application/json${';charset=utf-8'.repeat(2)}`),
      ...refused,
    },
    {
      name: 'that only looks like JSON is refused',
      request: type('application/x y+json'),
      ...refused,
    },
    {
      name: 'with space where space may be passes',
      request: type(' application/json ; charset = utf-8 ; '),
      upstream: [CHAT_ANSWER],
      seen: { status: 200 },
      sent: [{}],
      settled: { outcome: 'succeeded' },
    },
  ])
})

describe('an object with very many members', () => {
  runRows([
    {
      name: 'is refused at its first one too many',
      gateway: { bodyLimits: { maxBodyBytes: 1 << 20 } },
      request: { body: chatBody(wide(999)) },
      seen: {
        status: 400,
        json: { error: { code: 'invalid_json' } },
        contains: ['more than 1000 members'],
      },
      settled: null,
    },
    {
      name: 'passes while no request has so many',
      gateway: { bodyLimits: { maxBodyBytes: 1 << 20 } },
      request: { body: chatBody(wide(998)) },
      upstream: [CHAT_ANSWER],
      seen: { status: 200 },
      sent: [{ json: { m997: 997 } }],
      settled: { outcome: 'succeeded' },
    },
  ])
})

describe('objects with very many members together', () => {
  const schemas = (count: number) =>
    chatBody({
      tools: [
        { type: 'function', function: { name: 't', parameters: { properties: wide(count) } } },
      ],
    })
  const gateway = { bodyLimits: { maxBodyBytes: 8 << 20 } }
  runRows([
    {
      name: 'are refused before they are read to be translated',
      gateway: { ...gateway, gates: { [GATE]: ['anthropic/claude-sonnet-4-5'] } },
      request: { body: schemas(200_000) },
      seen: { status: 400, contains: ['more than 200000 members'] },
      settled: null,
    },
    {
      name: 'pass while no request has so many',
      gateway,
      request: { body: schemas(190_000) },
      upstream: [CHAT_ANSWER],
      seen: { status: 200 },
      sent: [{}],
      settled: { outcome: 'succeeded' },
    },
  ])
})

describe('deeply nested lists', () => {
  const deep = '['.repeat(20_000) + ']'.repeat(20_000)
  const call = {
    id: 'call_1',
    type: 'function',
    function: { name: 't', arguments: `{"a":${deep}}` },
  }
  const messages = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', tool_calls: [call] },
    { role: 'tool', tool_call_id: 'call_1', content: 'done' },
  ]
  const bodyLimits = { maxBodyBytes: 1 << 20 }
  runRows([
    {
      name: 'in the arguments of a tool call are translated as text',
      gateway: { gates: { [GATE]: ['anthropic/claude-sonnet-4-5'] }, bodyLimits },
      request: { body: chatBody({ messages }) },
      upstream: [
        json(
          200,
          '{"id":"m","type":"message","role":"assistant","content":[],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}',
        ),
      ],
      seen: { status: 200 },
      sent: [{}],
      settled: { outcome: 'succeeded', status: 200 },
    },
    {
      name: 'in an answer invalidate it',
      upstream: [json(200, CHAT_JSON.replace('"object"', `"x":${deep},"object"`))],
      seen: { status: 502, contains: ['not valid JSON'] },
      sent: [{}],
      settled: { outcome: 'failed', status: 502 },
    },
    {
      name: 'in a translated event invalidate it',
      gateway: { gates: { [GATE]: ['anthropic/claude-sonnet-4-5'] } },
      request: { body: chatBody({ stream: true }) },
      upstream: [stream([`event: message_start\ndata: {"type":"message_start","x":${deep}}\n\n`])],
      seen: { status: 502, contains: ['not valid JSON'] },
      sent: [{}],
      settled: { outcome: 'failed', status: 502 },
    },
  ])
})

describe('variables filled into instructions', () => {
  const ask = (instructions: string, vars: object, maxBodyBytes = 20_000) =>
    new InProcessGateway({
      gates: { [GATE]: ['anthropic/claude-sonnet-4-5', TARGET] },
      bodyLimits: { maxBodyBytes },
    }).ask({
      path: '/v3/chat',
      body: { gate_id: GATE, instructions, vars, messages: [{ role: 'user', content: 'hi' }] },
    })

  test('beyond the largest body are refused before they are filled in', async () => {
    const seen = await ask('{{a}}'.repeat(1_000), { a: 'x'.repeat(10_000) })
    expect({ status: seen.status, json: JSON.parse(seen.text) }).toMatchObject({
      status: 413,
      json: { error: 'payload_too_large' },
    })
  })

  test('in very large numbers are refused, however short they are', async () => {
    const seen = await ask('{{a}}'.repeat(10_001), { a: '' }, 1 << 20)
    expect({ status: seen.status, json: JSON.parse(seen.text) }).toMatchObject({
      status: 400,
      json: {
        error: 'invalid_request',
        message: expect.stringContaining('more than 10000 variables'),
      },
    })
  })
})
