import { expect, test } from 'bun:test'
import type { CallRecord } from '../../core/call.ts'
import type { Cost } from '../../core/cost.ts'
import type { AccountId, CallId, KeyId } from '../../core/ids.ts'
import type { Usage } from '../../core/usage.ts'
import { scanJsonObject } from '../../wire/json-splice.ts'
import { openaiChat } from '../../wire/openai-chat/index.ts'
import { type AdmittedCall, BodyBudget } from '../call.ts'
import type { Prices, Spent } from '../ports.ts'
import { type CallResult, settle } from './settle.ts'

function admittedCall(spent: Spent[]): AdmittedCall {
  const limits = { requestsPerMinute: 60, tokensPerMinute: 1000, concurrentCalls: 1 }
  return {
    id: 'call_1' as CallId,
    startedAt: 1_000,
    begunAt: 400,
    dialect: openaiChat,
    request: new Request('http://gateway.test'),
    trace: undefined,
    headers: {},
    caller: { accountId: 'acct_1' as AccountId, keyId: 'key_1' as KeyId, limits },
    accepted: openaiChat.accept(scanJsonObject(Buffer.from('{"model":"nobody","messages":[]}'))),
    body: new BodyBudget(Number.POSITIVE_INFINITY).open(),
    gate: undefined,
    attribution: undefined,
    fused: undefined,
    admission: {
      ticket: {
        headers: {},
        spend: undefined,
        reserveQuota: () => undefined,
        settle: (used) => void spent.push(used),
      },
      dimensions: { gateId: 'gate' },
      prices: undefined,
      inputTokens: 8,
      outputTokens: 0,
      outputCap: undefined,
      teaches: undefined,
      tools: [],
      otherPrices: [],
      estimateAs: undefined,
    },
    attempts: { list: [], target: null, credential: null, firstByteAt: 401, skipped: [] },
    turn: undefined,
    steeredBy: undefined,
    record: undefined,
    settled: undefined,
  }
}

const usage = { inputTokens: 3, outputTokens: 4, cachedInputTokens: 0, reasoningTokens: 0 }

// Usage is counted after recording. Otherwise a killed process could report usage to other nodes
// that no ledger knows.
test('usage of a call counts once it is recorded, before its waiter goes on', async () => {
  const spent: Spent[] = []
  const writing = Promise.withResolvers<void>()
  const ledger = { record: () => writing.promise, assertWritable: () => {} }
  const ports = { ledger, clock: { elapsed: () => 500 } }
  const succeeded = { outcome: 'succeeded', status: 200, usage } as const
  const settled = settle(ports, admittedCall(spent), succeeded).then(() => spent.length)
  await Bun.sleep(1)
  expect(spent).toEqual([])
  writing.resolve()
  expect(await settled).toBe(1)
  expect(spent).toMatchObject([{ tokens: 7 }])
})

test('a call that cannot be recorded gives its place back', async () => {
  const spent: Spent[] = []
  const ledger = { record: () => Promise.reject(new Error('disk full')), assertWritable: () => {} }
  const ports = { ledger, clock: { elapsed: () => 500 } }
  const succeeded = { outcome: 'succeeded', status: 200, usage } as const
  expect(settle(ports, admittedCall(spent), succeeded)).rejects.toThrow('disk full')
  await Bun.sleep(1)
  expect(spent).toHaveLength(1)
})

// A cost that is an estimate for its price alone becomes exact with a known price.
test.each<[string, Partial<Usage>, Partial<CallResult>, Cost['status'], boolean | undefined]>([
  ['an exact cost', {}, {}, 'exact', undefined],
  ['an estimated price', {}, {}, 'estimated', false],
  ['an unknown price', {}, {}, 'unknown', false],
  ['text that nobody counted', {}, { unreportedBytes: 40 }, 'estimated', true],
  ['reduced parts', { hasCutParts: true }, {}, 'estimated', true],
  ['audio', { audio: { input: 1, cachedInput: 0, output: 0 } }, {}, 'estimated', true],
  ['tokens cached for an hour', { cacheWriteHourTokens: 1 }, {}, 'estimated', true],
  ['a report of money', { billing: { isUnsure: true } }, {}, 'unknown', true],
  ['an unusual tier', { served: { tier: 'priority' } }, {}, 'unknown', true],
  ['the usual tier', { served: { tier: 'standard' } }, {}, 'estimated', false],
])('%s: the record says whether its usage is estimated', async (...row) => {
  const [, members, result, status, isUsageEstimated] = row
  const records: CallRecord[] = []
  const ledger = {
    record: async (call: CallRecord) => void records.push(call),
    assertWritable() {},
  }
  const call = admittedCall([])
  const prices = { priceOf: () => ({ nanoUsd: null, status, source: 's' }) } as unknown as Prices
  await settle(
    { ledger, clock: { elapsed: () => 500 } },
    { ...call, admission: { ...call.admission, prices } },
    { outcome: 'succeeded', status: 200, usage: { ...usage, ...members }, ...result },
  )
  expect(records).toMatchObject([{ cost: { status } }])
  expect(records[0]?.isUsageEstimated).toBe(isUsageEstimated)
})
