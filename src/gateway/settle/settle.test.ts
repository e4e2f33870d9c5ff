import { expect, test } from 'bun:test'
import type { AccountId, CallId, KeyId } from '../../core/ids.ts'
import { scanJsonObject } from '../../wire/json-splice.ts'
import { openaiChat } from '../../wire/openai-chat/index.ts'
import { type AdmittedCall, BodyBudget } from '../call.ts'
import type { Spent } from '../ports.ts'
import { settle } from './settle.ts'

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
      outputCap: undefined,
      teaches: undefined,
      tools: [],
      otherPrices: [],
      estimateAs: undefined,
    },
    attempts: { list: [], target: null, credential: null, firstByteAt: 401, skipped: [] },
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
