/**
 * Rules of single vendors at the border: a request that one of them would refuse is adapted and named, or refused here
 * with the cause, and what is odd in their answers is understood.
 */
import { describe, expect } from 'bun:test'
import { MESSAGES_JSON } from '../support/dialect-samples.ts'
import { json } from '../support/scripted-upstream.ts'
import { chatBody, type ExpectedRequest, GATE, runRows, type StageRow } from '../support/stage-rows.ts'

const MESSAGES = '/v1/messages'
const CONVERSE_ANSWER = json(200, {
  output: { message: { role: 'assistant', content: [{ text: 'ok' }] } },
  stopReason: 'end_turn',
  usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
})
const MESSAGES_ANSWER = json(200, MESSAGES_JSON)

const lacking =
  (member: string): NonNullable<StageRow['check']> =>
  ({ upstream }) =>
    expect(upstream.sent[0]?.body).not.toContain(`"${member}"`)

const messagesBody = (members: object = {}) => chatBody({ max_tokens: 9, ...members })

describe('Claude from 4.5 on is never sent temperature and top_p together', () => {
  const sonnet = 'anthropic/claude-sonnet-4-5'
  const converse = 'bedrock/eu.anthropic.claude-sonnet-4-5-20250929-v1:0'
  const both = { temperature: 0.5, top_p: 0.9 }
  const row = (
    name: string,
    target: string,
    {
      gate = {},
      ...more
    }: Pick<StageRow, 'request'> & {
      gate?: object
      sent: ExpectedRequest[]
      ignored: string | null
      lacks?: string
    },
  ): StageRow => ({
    name,
    gateway: { gates: { [GATE]: { targets: [{ model: target }], ...gate } } },
    ...(more.request === undefined ? {} : { request: more.request }),
    upstream: [target === converse ? CONVERSE_ANSWER : MESSAGES_ANSWER],
    seen: { status: 200, headers: { 'x-gatehouse-ignored': more.ignored } },
    sent: more.sent,
    settled: { outcome: 'succeeded' },
    ...(more.lacks === undefined ? {} : { check: lacking(more.lacks) }),
  })
  const kept = [{ json: { temperature: 0.5 } }]
  runRows([
    row('by a chat caller', sonnet, {
      request: { body: chatBody(both) },
      sent: kept,
      ignored: 'top_p',
      lacks: 'top_p',
    }),
    row('by a chat caller, on Bedrock', converse, {
      request: { body: chatBody(both) },
      sent: [{ json: { inferenceConfig: { temperature: 0.5 } } }],
      ignored: 'top_p',
      lacks: 'topP',
    }),
    row('by a gate that decides both, relayed', sonnet, {
      gate: { defaults: { temperature: 0.5, topP: 0.9 } },
      request: { path: MESSAGES, body: messagesBody() },
      sent: kept,
      ignored: 'top_p',
      lacks: 'top_p',
    }),
    row('by a gate beside its caller’s top_p, relayed', sonnet, {
      gate: { defaults: { temperature: 0.5 } },
      request: { path: MESSAGES, body: messagesBody({ top_p: 0.9 }) },
      sent: kept,
      ignored: 'top_p',
      lacks: 'top_p',
    }),
    row('by a gate that decides top_p beside its caller’s temperature, relayed', sonnet, {
      gate: { defaults: { topP: 0.9 } },
      request: { path: MESSAGES, body: messagesBody({ temperature: 0.5 }) },
      sent: kept,
      ignored: 'top_p',
      lacks: 'top_p',
    }),
    row('by a gate, and a strict call does not fail for it', sonnet, {
      gate: { defaults: { temperature: 0.5 } },
      request: { headers: { 'x-gatehouse-strict': 'true' }, body: chatBody({ top_p: 0.9 }) },
      sent: kept,
      ignored: 'top_p',
      lacks: 'top_p',
    }),
    row('and top_p alone is sent', sonnet, {
      gate: { defaults: { topP: 0.9 } },
      request: { path: MESSAGES, body: messagesBody() },
      sent: [{ json: { top_p: 0.9 } }],
      lacks: 'temperature',
      ignored: null,
    }),
    row('but what its own caller says of both is relayed as it is', sonnet, {
      gate: { defaults: { maxOutputTokens: 5 } },
      request: { path: MESSAGES, body: messagesBody(both) },
      sent: [{ json: both }],
      ignored: 'max_tokens',
    }),
  ])
})
