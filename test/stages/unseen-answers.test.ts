/**
 * Answers that an upstream worked on and nobody has seen, because the gateway's own side ended the
 * call: what is counted of them, whichever way an account would have had them for nothing.
 */
import { describe, expect, test } from 'bun:test'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import {
  head,
  json,
  piece,
  type Script,
  SILENCE,
  UNREACHABLE,
} from '../support/scripted-upstream.ts'
import { CHAT, chatBody, GATE, runRows, TARGET } from '../support/stage-rows.ts'

const JSON_HEAD = head(200, { 'content-type': 'application/json' })
const timed = (timeoutMs: number, members: object = {}) => ({
  gates: { [GATE]: { targets: [{ model: TARGET }], timeoutMs, ...members } },
})
/** A small chat call is 63 bytes, which is 16 tokens. */
const INPUT = { inputTokens: 16, outputTokens: 0 }

describe('an answer that the gate’s time has cut off is paid for', () => {
  const timedOut = { outcome: 'failed', status: 504, errorKind: 'upstream_timeout' } as const
  runRows([
    {
      name: 'before its head',
      gateway: timed(900),
      upstream: [[SILENCE]],
      seen: { status: 504 },
      sent: [{ state: 'total_timeout' }],
      settled: {
        ...timedOut,
        usage: expect.objectContaining(INPUT) as never,
        cost: { microUsd: 16, status: 'estimated', source: 'scripted' },
      },
      spent: { tokens: 16 },
    },
    {
      name: 'in the middle of a whole answer',
      gateway: timed(900),
      upstream: [[JSON_HEAD, piece('{"choices":['), SILENCE]],
      seen: { status: 504 },
      sent: [{ state: 'total_timeout' }],
      settled: { ...timedOut, usage: expect.objectContaining(INPUT) as never },
      spent: { tokens: 16 },
    },
    {
      name: 'once, where a retry was under way',
      gateway: timed(900, { maxRetries: 1 }),
      upstream: [json(429, {}), [SILENCE]],
      seen: { status: 504 },
      sent: [{}, { state: 'total_timeout' }],
      settled: { ...timedOut, attempts: 2, usage: expect.objectContaining(INPUT) as never },
      spent: { tokens: 16 },
    },
    {
      name: 'but not where the upstream was never reached',
      gateway: timed(900),
      upstream: [[...UNREACHABLE]],
      seen: { status: 502 },
      sent: [{}],
      settled: { outcome: 'failed', usage: null },
      spent: { tokens: 0 },
    },
    {
      name: 'but not where the upstream itself fell silent',
      gateway: { timeouts: { firstByteMs: 500 } },
      upstream: [[SILENCE]],
      seen: { status: 504 },
      sent: [{ state: 'first_byte_timeout' }],
      settled: { ...timedOut, usage: null },
      spent: { tokens: 0 },
    },
  ])
})

describe('an answer whose key was deleted meanwhile is paid for', () => {
  test.each([
    ['before its head', [SILENCE]],
    ['in its middle', [JSON_HEAD, piece('{"choices":['), SILENCE]],
  ] as readonly (readonly [string, Script])[])('%s', async (_, script) => {
    const gateway = new InProcessGateway({ gates: { [GATE]: [TARGET] }, upstream: [script] })
    const { seen } = gateway.begin({ path: CHAT, body: chatBody() })
    await gateway.clock.advance(500)
    gateway.deleteKey()
    expect((await gateway.clock.finish(seen)).status).toBe(401)
    const [record] = gateway.ledger.records
    expect(record).toMatchObject({ errorKind: 'unauthorized', usage: { inputTokens: 16 } })
    expect(record?.cost?.status).toBe('estimated')
    await gateway.assertNothingIsLeft()
  })
})
