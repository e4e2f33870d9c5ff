/** Calls that are refused before admission: what is stored of such calls. */
import { describe, expect, test } from 'bun:test'
import type { CallRecord } from '../../src/core/call.ts'
import { GatewayError, invalidRequest } from '../../src/core/errors.ts'
import {
  CALLER,
  CALLER_KEY,
  type ClientRequest,
  type GatewayScript,
  InProcessGateway,
} from '../support/in-process-gateway.ts'
import { json, type Script, UNREACHABLE } from '../support/scripted-upstream.ts'
import { CHAT, CHAT_ANSWER, chatBody, GATE, TARGET } from '../support/stage-rows.ts'

async function refusedBy(script: Partial<GatewayScript>, request: Partial<ClientRequest> = {}) {
  const noted: CallRecord[] = []
  const gateway = new InProcessGateway({
    gates: { [GATE]: [TARGET] },
    refusals: { note: (call) => void noted.push(call) },
    ...script,
  })
  const seen = await gateway.ask({ path: CHAT, body: chatBody({ stream: true }), ...request })
  expect(gateway.ledger.records).toEqual([])
  await gateway.assertNothingIsLeft()
  return { seen, noted }
}

const limitedBy = (error: GatewayError) => ({
  limits: {
    admit() {
      throw error
    },
  },
})

describe('is noted under the id that its caller got', () => {
  const { accountId, keyId } = CALLER
  const usual = {
    ...{
      accountId,
      keyId,
      dialect: 'openai-chat',
      outcome: 'failed' as const,
      target: null,
      attempts: 0,
    },
    ...{
      usage: null,
      credential: null,
      refusals: 1,
      cost: { nanoUsd: 0, status: 'exact' as const, source: 'free' as const },
    },
  }
  test.each<[string, Partial<GatewayScript>, Partial<ClientRequest>, Partial<CallRecord>]>([
    [
      'a 429',
      limitedBy(new GatewayError('rate_limited', 'Too many.')),
      {},
      { status: 429, errorKind: 'rate_limited', gateId: GATE as never, stream: true },
    ],
    [
      'a budget that is used up',
      limitedBy(new GatewayError('quota_exceeded', 'Used up.', { limit: 'bud_1' })),
      {},
      {
        ...{ status: 429, errorKind: 'quota_exceeded', refusedBy: 'bud_1' },
        ...{ gateId: GATE as never, sentGateId: undefined },
      },
    ],
    [
      'a 400 of a field',
      {},
      { body: chatBody({ stream: 'x' }) },
      { status: 400, errorKind: 'invalid_request', gateId: '(unknown)' as never, stream: false },
    ],
    ['a 400 of invalid JSON', {}, { body: '{' }, { status: 400, gateId: '(unknown)' as never }],
    [
      'an unknown gate, on top of its limit',
      limitedBy(new GatewayError('rate_limited', 'Too many.')),
      { body: chatBody({ model: 'nobody' }) },
      { status: 429, gateId: '(unknown)' as never, sentGateId: 'nobody' },
    ],
    [
      'a key in place of a gate, on top of its limit',
      limitedBy(new GatewayError('rate_limited', 'Too many.')),
      { body: chatBody({ model: CALLER_KEY }) },
      { status: 429, gateId: '(unknown)' as never, sentGateId: '(looks like a key)' },
    ],
  ])('%s', async (_, script, request, expected) => {
    const { seen, noted } = await refusedBy(script, request)
    expect(seen.status).toBe(expected.status as number)
    expect(noted).toMatchObject([{ ...usual, ...expected, id: seen.headers['x-request-id'] }])
  })
})

describe('is not noted', () => {
  test('a call of a key that is not known', async () => {
    const { seen, noted } = await refusedBy(
      {},
      { headers: { authorization: 'Bearer sk-svc-nobody' } },
    )
    expect([seen.status, noted]).toEqual([401, []])
  })

  test.each([
    [500, 'internal_error'],
    [503, 'unavailable'],
  ] as const)('a failure of the gateway itself: %i', async (status, kind) => {
    const { seen, noted } = await refusedBy(limitedBy(new GatewayError(kind, 'Nobody can say.')))
    expect([seen.status, noted]).toEqual([status, []])
  })
})

describe('the code of a refusal by the gateway is in the record', () => {
  const codeOf = async (script: Partial<GatewayScript>, request: Partial<ClientRequest> = {}) => {
    const noted: CallRecord[] = []
    const gateway = new InProcessGateway({
      gates: { [GATE]: [TARGET] },
      refusals: { note: (call) => void noted.push(call) },
      ...script,
    })
    await gateway.ask({ path: CHAT, body: chatBody(), ...request })
    await gateway.assertNothingIsLeft()
    return [...noted, ...gateway.ledger.records].map(({ refusalCode }) => refusalCode)
  }
  const budget = { budget: 'the budget b', plan: undefined }

  test.each<[string, Partial<GatewayScript>, Partial<ClientRequest>, string]>([
    ['of a body that is no JSON', {}, { body: '{' }, 'invalid_json'],
    ['of a wrong type', {}, { body: chatBody({ stream: 'x' }) }, 'invalid_type'],
    ['of an unknown gate', {}, { body: chatBody({ model: 'nobody' }) }, 'model_not_found'],
    [
      'of a limit',
      limitedBy(new GatewayError('rate_limited', 'Too many.')),
      {},
      'rate_limit_exceeded',
    ],
    [
      'of a limit in money',
      { gates: { [GATE]: ['groq/unpriced'] }, limits: { priceDemand: budget } },
      {},
      'price_unknown',
    ],
    [
      'of a provider without a key',
      { credentials: { openai: 'none' } },
      {},
      'provider_auth_failed',
    ],
    [
      'of a target that cannot take all of a strict request',
      { gates: { [GATE]: ['anthropic/claude-opus-5'] } },
      { body: chatBody({ n: 2 }), headers: { 'x-gatehouse-strict': 'true' } },
      'unsupported_parameter',
    ],
  ])('%s', async (_, script, request, code) => {
    expect(await codeOf(script, request)).toEqual([code])
  })

  test.each<[string, readonly Script[]]>([
    ['a refusal of the upstream', [json(400, { error: { message: 'No.' } })]],
    ['an upstream that cannot be reached', [UNREACHABLE]],
    ['an answer', [CHAT_ANSWER]],
  ])('%s has none', async (_, upstream) => {
    expect(await codeOf({ upstream })).toEqual([undefined])
  })
})

test('a call that was admitted and then refused is settled, and not noted', async () => {
  const noted: CallRecord[] = []
  const gateway = new InProcessGateway({
    gates: { [GATE]: [TARGET] },
    refusals: { note: (call) => void noted.push(call) },
    limits: { reserveQuota: () => invalidRequest('No.') },
  })
  await gateway.ask({ path: CHAT, body: chatBody({ model: 'nobody' }) })
  expect(gateway.ledger.records).toHaveLength(1)
  expect(noted).toEqual([])
})
